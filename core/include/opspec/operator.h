#ifndef OPSPEC_OPERATOR_H
#define OPSPEC_OPERATOR_H

// All that a kernel may see. An operator is one row (op_row), the same for built-ins and for everybody's own.
//
// Life of a row's functions, for one node of a model:
//   infer    at check, at load, and again whenever shapes are not known before the node runs
//   create   once per node: attributes into a state
//   plan     once per set of input shapes: scratch, aliases, in-place, packed constants
//   compute  each run. Control flow has enter and after instead.
//   destroy  once
// No function keeps a pointer that a context gave it, but into its own state and packed constants.

#include <opspec/status.h>
#include <opspec/str.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// ---- Elements, dims, types --------------------------------------------------------------------------------

typedef enum op_elem {
  OP_NONE = 0,
#define OPSPEC_ELEMENT(name, number, onnx, js, bits, kind) OP_##name = number,
#include <opspec/element_types.def>
#undef OPSPEC_ELEMENT
  OP_ELEM_COUNT = 27
} op_elem;

// Bytes of one element inside a run: sub-byte types take one, a string takes sizeof(os_str). 0 for OP_NONE.
size_t op_elem_size(op_elem elem);
// Name as in type expressions ("float"), never NULL.
const char *op_elem_name(op_elem elem);

// A dimension, or an integer that travels with shapes (op_infer_small): a number above INT64_MIN / 2 is itself - a known
// dimension is >= 0, a travelling integer may be negative, like the -1 of Reshape. Below it are ids of expressions of the
// context (op_infer); OP_DIM_UNKNOWN = nothing is known.
typedef int64_t op_dim;
#define OP_DIM_UNKNOWN INT64_MIN
static inline bool op_dim_is_number(op_dim dim) { return dim > INT64_MIN / 2; }
enum { OP_MAX_RANK = 16 };

// Interned type: 0 unknown; 1..26 = tensor of that element type; others sequences, optionals, maps, sparse tensors.
typedef uint32_t op_type;
static inline op_type op_type_tensor(op_elem elem) { return (op_type)elem; }

// ---- Values -----------------------------------------------------------------------------------------------

// A dense, row-major tensor. dims and data belong to the value that holds it.
typedef struct op_tensor {
  op_elem elem;
  int32_t rank;
  const int64_t *dims;
  int64_t count; // product of dims; 1 for rank 0
  void *data;    // count * op_elem_size(elem) bytes, 16-byte aligned; os_str per element for OP_STRING
} op_tensor;

typedef enum op_kind { OP_TENSOR = 1, OP_SPARSE, OP_SEQUENCE, OP_MAP, OP_OPTIONAL } op_kind;

// A reference-counted value of any kind.
typedef struct os_value op_value;

op_kind op_value_kind(const op_value *value);
op_type op_value_type(const op_value *value);
// NULL when it is no tensor.
const op_tensor *op_value_tensor(const op_value *value);
op_value *op_value_retain(op_value *value);
void op_value_release(op_value *value); // accepts NULL
// Sequences. The answered element is borrowed.
size_t op_sequence_count(const op_value *sequence);
op_value *op_sequence_at(const op_value *sequence, size_t index);
// Optionals: NULL when empty. Borrowed.
op_value *op_optional_value(const op_value *optional);
// Sparse tensors: element type and shape of the dense one (no data); values, rank 1; their places, linear (rank 1) or one
// row of coordinates each (rank 2).
const op_tensor *op_sparse_shape(const op_value *sparse);
const op_tensor *op_sparse_values(const op_value *sparse);
const op_tensor *op_sparse_indices(const op_value *sparse);
// Maps: the keys, a tensor of rank 1 of integers or strings, ascending (strings by their bytes), each once; and the value
// of each. Borrowed.
const op_tensor *op_map_keys(const op_value *map);
op_value *op_map_at(const op_value *map, size_t index);

// ---- Attributes -------------------------------------------------------------------------------------------

// A node: operator, attributes with the schema's defaults applied, and names for messages.
typedef struct op_node op_node;

os_str op_node_type(const op_node *node);
int op_node_since(const op_node *node);  // since_version of the schema that applies
void *op_node_user(const op_node *node); // the row's `user`
bool op_attr_has(const op_node *node, const char *name);
// The attribute's value or, where neither the node nor the schema gives one, the fallback.
int64_t op_attr_int(const op_node *node, const char *name, int64_t fallback);
double op_attr_float(const op_node *node, const char *name, double fallback);
os_str op_attr_string(const op_node *node, const char *name, const char *fallback);
// Lists: NULL with *count 0 when absent. Borrowed, as long as the node lives.
const int64_t *op_attr_ints(const op_node *node, const char *name, size_t *count);
const float *op_attr_floats(const op_node *node, const char *name, size_t *count);
const os_str *op_attr_strings(const op_node *node, const char *name, size_t *count);
// NULL when absent.
const op_tensor *op_attr_tensor(const op_node *node, const char *name);
const op_value *op_attr_sparse(const op_node *node, const char *name);
op_type op_attr_type(const op_node *node, const char *name);
typedef struct os_graph op_graph;
const op_graph *op_attr_graph(const op_node *node, const char *name);
size_t op_graph_input_count(const op_graph *graph);
size_t op_graph_output_count(const op_graph *graph);

// ---- Inference: types, shapes and small values in one call ------------------------------------------------

typedef struct op_infer op_infer;

const op_node *op_infer_node(const op_infer *ctx);
uint32_t op_infer_input_count(const op_infer *ctx);  // as written, trailing absent ones cut
uint32_t op_infer_output_count(const op_infer *ctx); // as written
bool op_infer_has_input(const op_infer *ctx, uint32_t input);
bool op_infer_has_output(const op_infer *ctx, uint32_t output);
op_type op_infer_type(const op_infer *ctx, uint32_t input); // 0 unknown
op_elem op_infer_elem(const op_infer *ctx, uint32_t input); // OP_NONE unknown or no tensor
int32_t op_infer_rank(const op_infer *ctx, uint32_t input); // -1 unknown
op_dim op_infer_dim(const op_infer *ctx, uint32_t input, int32_t axis);
// Dims of a known rank; NULL with *rank -1 when unknown. Borrowed.
const op_dim *op_infer_dims(const op_infer *ctx, uint32_t input, int32_t *rank);
// The whole value where it is constant or already computed, else NULL.
const op_tensor *op_infer_value(const op_infer *ctx, uint32_t input);
// An integer or bool tensor of rank 0 or 1 as dims, single elements perhaps symbolic or unknown: constants and what travels
// from Shape through arithmetic. NULL when nothing is known. Borrowed.
const op_dim *op_infer_small(const op_infer *ctx, uint32_t input, size_t *count);

void op_infer_set_type(op_infer *ctx, uint32_t output, op_type type);
static inline void op_infer_set_elem(op_infer *ctx, uint32_t output, op_elem elem) {
  op_infer_set_type(ctx, output, op_type_tensor(elem));
}
// Sets the rank and answers the output's dims to fill, all unknown at first; NULL when memory ran out or rank is over
// OP_MAX_RANK (the executor reports it; returning OS_OK is fine).
op_dim *op_infer_set_rank(op_infer *ctx, uint32_t output, int32_t rank);
void op_infer_set_shape(op_infer *ctx, uint32_t output, int32_t rank, const op_dim *dims);
// Type and shape of an input to an output.
void op_infer_copy(op_infer *ctx, uint32_t output, uint32_t input);
// Says what a small integer output holds (copied). scalar = rank 0 with count 1.
void op_infer_set_small(op_infer *ctx, uint32_t output, const op_dim *values, size_t count, bool scalar);

// The output is this constant (of an attribute, say): type, shape and value in one. Borrowed: it must live as long as the node.
void op_infer_set_value(op_infer *ctx, uint32_t output, const op_tensor *value);

// Multidirectional broadcast of the shapes of inputs first..last into `dims` (room for OP_MAX_RANK); *rank -1 where a
// rank is unknown. A contradiction fails with a finding.
os_status op_infer_broadcast(op_infer *ctx, uint32_t first, uint32_t last, op_dim *dims, int32_t *rank);
// Axis of a tensor of this rank: negative counts from the end; out of range fails with a finding naming `what`. With an
// unknown rank (-1) it stays as it is.
os_status op_infer_axis(op_infer *ctx, int64_t axis, int32_t rank, const char *what, int32_t *out);
// Both describe one dim: the better known one into *out (may be NULL); two different known ones fail with a finding.
os_status op_infer_merge_dim(op_infer *ctx, op_dim a, op_dim b, const char *what, op_dim *out);

// Exact arithmetic on dims, symbolic where it must be. Division by a known zero and overflow give OP_DIM_UNKNOWN.
op_dim op_dim_add(op_infer *ctx, op_dim a, op_dim b);
op_dim op_dim_sub(op_infer *ctx, op_dim a, op_dim b);
op_dim op_dim_mul(op_infer *ctx, op_dim a, op_dim b);
op_dim op_dim_floordiv(op_infer *ctx, op_dim a, op_dim b);
op_dim op_dim_ceildiv(op_infer *ctx, op_dim a, op_dim b);
op_dim op_dim_min(op_infer *ctx, op_dim a, op_dim b);
op_dim op_dim_max(op_infer *ctx, op_dim a, op_dim b);

op_type op_infer_sequence_of(op_infer *ctx, op_type element);
op_type op_infer_optional_of(op_infer *ctx, op_type element);
op_type op_infer_map_of(op_infer *ctx, op_elem key, op_type value); // of scalars: op_type_tensor
op_type op_infer_sparse_of(op_infer *ctx, op_elem elem);
op_type op_infer_element_of(const op_infer *ctx, op_type type); // of a sequence or optional, else 0

// What is known of an input, output or body value, to be handed on as a whole.
typedef struct os_fact op_fact;
const op_fact *op_infer_input(const op_infer *ctx, uint32_t input);
// Sets all that is known of an output.
void op_infer_set_fact(op_infer *ctx, uint32_t output, const op_fact *fact);
// Both could be the value: type must agree (else a finding; of an optional and its content nothing is known), differing
// dims become unknown.
os_status op_infer_union(op_infer *ctx, const op_fact *a, const op_fact *b, const op_fact **out);
// A fact made from scratch; rank -1 = unknown shape. NULL when memory ran out.
const op_fact *op_infer_make(op_infer *ctx, op_type type, int32_t rank, const op_dim *dims);
op_type op_fact_type(const op_fact *fact);
int32_t op_fact_rank(const op_fact *fact);
const op_dim *op_fact_dims(const op_fact *fact);
// What is known of every element of a sequence, or of what an optional holds; NULL = nothing.
const op_fact *op_fact_element(const op_fact *fact);
void op_infer_set_element(op_infer *ctx, uint32_t output, const op_fact *element);
// Infers a body with these inputs; *outputs = facts of its outputs, borrowed as long as the context.
os_status op_infer_body(op_infer *ctx, const op_graph *body, const op_fact *const *inputs, size_t count,
                        const op_fact *const **outputs, size_t *output_count);

typedef enum op_fault { OP_FAULT_TYPE, OP_FAULT_SHAPE, OP_FAULT_ATTRIBUTE, OP_FAULT_VALUE } op_fault;
// The node contradicts the operator's definition: becomes a finding (check) or ends the run (execution). Answers the
// status to return. Name input or attribute and both figures in the message.
os_status op_infer_fail(op_infer *ctx, op_fault fault, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

// ---- Creating and planning --------------------------------------------------------------------------------

// create: fills `state` (row.state_size zeroed bytes) from attributes. Fail with op_create_fail.
typedef struct op_create op_create;
const op_node *op_create_node(const op_create *ctx);
op_elem op_create_elem(const op_create *ctx, uint32_t input); // element type of an input, OP_NONE if unknown
os_status op_create_fail(op_create *ctx, const char *format, ...) __attribute__((format(printf, 2, 3)));

// plan: all input shapes are known, and output shapes unless the operator has OP_DATA_SHAPE.
typedef struct op_plan op_plan;
const op_node *op_plan_node(const op_plan *ctx);
void *op_plan_state(op_plan *ctx);
// Shape and element type of an input or output; data is NULL unless op_plan_constant. NULL when absent or no tensor.
const op_tensor *op_plan_input(const op_plan *ctx, uint32_t input);
const op_tensor *op_plan_output(const op_plan *ctx, uint32_t output);
// The value of an input that is the same in every run, else NULL.
const op_tensor *op_plan_constant(const op_plan *ctx, uint32_t input);
// compute gets this many bytes of scratch, 64-byte aligned, uninitialised.
void op_plan_scratch(op_plan *ctx, size_t bytes);
// Memory, 64-byte aligned, that stays with the node until its shapes change; filled here, read in compute (op_run_packed). The constant
// input `input` itself is then no longer needed in compute and may be dropped. NULL when memory ran out.
void *op_plan_pack(op_plan *ctx, uint32_t input, size_t bytes);
// What compute will find in op_run_epilogue, to be folded into packed constants; operands are there when they are constant
// (data not NULL). compute must still apply what plan did not fold: keep the difference in the packed memory.
const struct op_epilogue *op_plan_epilogue(const op_plan *ctx);
// The output may be written over the input's bytes if nothing else needs them (same byte size).
void op_plan_in_place(op_plan *ctx, uint32_t output, uint32_t input);

// ---- Computing --------------------------------------------------------------------------------------------

typedef struct op_run op_run;
const op_node *op_run_node(const op_run *ctx);
void *op_run_state(const op_run *ctx);
void *op_run_scratch(const op_run *ctx);
const void *op_run_packed(const op_run *ctx); // NULL when plan packed nothing
uint32_t op_run_input_count(const op_run *ctx);
uint32_t op_run_output_count(const op_run *ctx);
bool op_run_has_output(const op_run *ctx, uint32_t output);
// NULL when absent or no tensor.
const op_tensor *op_run_input(const op_run *ctx, uint32_t input);
op_value *op_run_input_value(const op_run *ctx, uint32_t input);
// The output tensor, allocated as inference said. NULL when the node leaves it out, or when its shape depends on data:
// then op_run_allocate first. An output may lie on an input (in place) where plan allowed it. Output 0 is never NULL in
// compute where it is the node's only one, but with OP_DATA_SHAPE, OP_OPEN_SHAPE and OP_ANY_VALUE.
op_tensor *op_run_output(op_run *ctx, uint32_t output);
// Allocates an output whose shape only compute knows. NULL when memory ran out or the node leaves the output out.
op_tensor *op_run_allocate(op_run *ctx, uint32_t output, op_elem elem, int32_t rank, const int64_t *dims);
// Hands a value to an output; takes the caller's reference.
void op_run_set_output(op_run *ctx, uint32_t output, op_value *value);
// The output is the input itself with another shape (no copy).
os_status op_run_view(op_run *ctx, uint32_t output, uint32_t input, int32_t rank, const int64_t *dims);
// Takes the input's value out of the run when this node is its last user and nothing else holds it, so that it can be
// changed in place; NULL otherwise. The caller owns it then.
op_value *op_run_take(op_run *ctx, uint32_t input);
// New values. NULL when memory ran out.
op_value *op_run_new_tensor(op_run *ctx, op_elem elem, int32_t rank, const int64_t *dims);
op_value *op_run_new_sequence(op_run *ctx, op_type element);
op_value *op_run_new_optional(op_run *ctx, op_type element, op_value *value_or_null); // takes the reference
op_tensor *op_value_edit(op_value *tensor); // to write into a new tensor
// A map with values of type `value`. Takes the references of the keys, as op_map_keys says of them, and of a value for each
// (of scalars: tensors of rank 0). NULL also when the keys are not as they must be, which then ends the run.
op_value *op_run_new_map(op_run *ctx, op_type value, op_value *keys, op_value *const *values);
// A sparse tensor with a dense shape. Takes the references of values and indices, as op_sparse_values says of them.
op_value *op_run_new_sparse(op_run *ctx, int32_t rank, const int64_t *dims, op_value *values,
                            op_value *indices);
// Sequence editing on a value that the caller owns alone; takes the element's reference.
os_status op_sequence_insert(op_value *sequence, size_t index, op_value *element);
void op_sequence_remove(op_value *sequence, size_t index);
// Strings: an element is a view; the bytes belong to pools that tensors share. set copies the bytes into the tensor's
// pool; share makes `to` keep alive what the elements copied from `from` point to.
os_status op_string_set(op_tensor *tensor, int64_t index, os_str text);
os_status op_strings_share(op_tensor *to, const op_tensor *from);
// A pseudo-random 64-bit number: seeded by the session's seed, this node and the run.
uint64_t op_run_random(op_run *ctx);
// Ends the run: operator_failed with node and message. Answers the status to return.
os_status op_run_fail(op_run *ctx, const char *format, ...) __attribute__((format(printf, 2, 3)));
// fn(argument, begin, end) over 0..n in pieces of `grain`; the split depends on n and grain only. The pieces must not
// allocate or call the run.
void op_parallel_for(op_run *ctx, size_t n, size_t grain,
                     void (*fn)(void *argument, size_t begin, size_t end), void *argument);

// ---- Element-wise loops and epilogues: what the core may fuse ---------------------------------------------

// One loop of kernels/math/math.def with its parameters (the bytes of a math_params).
typedef struct op_loop {
  uint32_t id;    // math_loop_id; 0 = none for these element types. f16, bf16 and float8 name the f32 loop
  op_elem out;    // element type of the result
  uint32_t count; // operands: the first `count` inputs of the node, one or two
  _Alignas(8) unsigned char params[48];
} op_loop;

// What compute applies to its output while it is hot, one loop after the other: bias, activation, residual that were
// nodes of their own. `count` is 0 where the core fused nothing.
typedef struct op_epilogue {
  uint32_t count;
  struct {
    op_loop loop;
    const op_tensor *operand; // other operand of a two-operand loop, of a shape that the row's flags admit
    bool operand_first;
  } items[4];
} op_epilogue;
const op_epilogue *op_run_epilogue(const op_run *ctx);

enum {                      // op_row.epilogue: what compute can absorb
  OP_EPILOGUE_UNARY = 1,    // any one-operand f32 loop
  OP_EPILOGUE_CHANNEL = 2,  // two-operand loop with one value, or one per index of the output's axis 1
  OP_EPILOGUE_RESIDUAL = 4, // add of a tensor of the output's shape
  OP_EPILOGUE_COLUMN = 8,   // two-operand loop with one value, or one per index of the output's last axis
};

// ---- Control flow: a state machine; the executor runs the bodies ------------------------------------------

typedef struct op_flow op_flow;
const op_node *op_flow_node(const op_flow *ctx);
// row.flow_size zeroed bytes that live from enter to the end of the node.
void *op_flow_state(const op_flow *ctx);
uint32_t op_flow_input_count(const op_flow *ctx);
op_value *op_flow_input(const op_flow *ctx, uint32_t input); // borrowed; NULL when absent
uint32_t op_flow_output_count(const op_flow *ctx);
// What inference said of an output before the node ran, for one that no body gives; NULL when it is left out.
const op_fact *op_flow_output(const op_flow *ctx, uint32_t output);
// Asks for a run of `body` with these inputs (takes the references); `after` is called when its outputs are there.
os_status op_flow_call(op_flow *ctx, const op_graph *body, op_value *const *inputs, size_t count);
// Outputs of the body that has just run, in after only. take gives the reference away.
op_value *op_flow_take_result(op_flow *ctx, size_t index);
// Hands an output of the node over (takes the reference). A node is done when enter or after returns without a call.
void op_flow_set_output(op_flow *ctx, uint32_t output, op_value *value);
op_value *op_flow_new_tensor(op_flow *ctx, op_elem elem, int32_t rank, const int64_t *dims);
op_value *op_flow_new_sequence(op_flow *ctx, op_type element);
void *op_flow_realloc(op_flow *ctx, void *block, size_t bytes); // NULL when memory ran out; 0 bytes frees
os_status op_flow_fail(op_flow *ctx, const char *format, ...) __attribute__((format(printf, 2, 3)));

// ---- The row ----------------------------------------------------------------------------------------------

enum {                 // op_row.traits
  OP_PURE = 1,         // same inputs, same outputs: may be folded, merged, dropped
  OP_VIEW = 2,         // output 0 is input 0 with another shape; compute is not called unless bytes must move
  OP_ELEMENTWISE = 4,  // output 0 has the broadcast shape; `loop` says how
  OP_DATA_SHAPE = 8,   // output shapes depend on values: compute allocates
  OP_RANDOM = 16,      // differs from run to run
  OP_SUBGRAPHS = 32,   // has bodies: enter and after instead of compute
  OP_ANY_VALUE = 64,   // inputs or outputs may be other values than tensors
  OP_OPEN_SHAPE = 128, // infer may leave output shapes open: those compute allocates
};

typedef struct op_schema op_schema; // signature.h; NULL in a row = as the operator set declares it

// Members that most rows leave out come last.
typedef struct op_row {
  const char *op_type;
  uint16_t
      since; // first since_version that these functions serve; they serve later ones up to the next row's
  uint16_t traits;
  os_status (*infer)(op_infer *ctx);
  os_status (*compute)(op_run *ctx);
  os_status (*plan)(op_plan *ctx);
  // The loop for these element types of the inputs; loop->id 0 when there is none (then compute serves). constants[i] is
  // the value of input i where it is the same in every run, else NULL: bounds, exponents may become parameters.
  void (*loop)(const op_node *node, const op_elem *elems, const op_tensor *const *constants, uint32_t count,
               op_loop *loop);
  void *user;         // for functions that serve many operators (op_node_user)
  const char *domain; // NULL or "" = ai.onnx
  const op_schema *schema;
  os_status (*create)(op_create *ctx, void *state);
  void (*destroy)(void *state);
  os_status (*enter)(op_flow *ctx);
  os_status (*after)(op_flow *ctx);
  void (*leave)(op_flow *ctx); // frees what the flow state holds, also when the run ends early; may be NULL
  // For an operator that is y = scale[c] x + shift[c] over axis 1 with these constants: fills both (`channels` floats) and
  // answers true, so that the producer of x can absorb it. NULL for all others.
  bool (*affine)(const op_node *node, const op_tensor *const *constants, uint32_t count, size_t channels,
                 float *scale, float *shift);
  uint32_t epilogue;
  size_t state_size, flow_size;
} op_row;

// The row of an operator of ai.onnx that infers and computes.
#define OP_ROW(name, version, what, infer_fn, compute_fn) \
  {.op_type = name, .since = version, .traits = what, .infer = infer_fn, .compute = compute_fn}

// A family of kernels/: its rows.
typedef struct op_family {
  const op_row *rows;
  size_t count;
} op_family;
#define OP_FAMILY(name, table) const op_family op_family_##name = {(table), sizeof(table) / sizeof *(table)}

#endif
