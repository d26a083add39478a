#ifndef OPSPEC_OPSPEC_H
#define OPSPEC_OPSPEC_H

// The host API: what a program that embeds the core calls (wasm/exports.c for JavaScript, tests natively). Everything
// hangs on an Env; there is no global state. Calls are made from one thread.
//
// A call that answers a status leaves its result as text in the Env (opspec_output): JSON, or bytes where it says so. On
// trouble that text is { "message", "path"?, "findings"? }. It stays valid until the next such call. Handles are freed by
// their own function, in any order; what a freed one is still needed for lives on.

#include <opspec/operator.h>

typedef struct opspec_env opspec_env;
typedef struct opspec_model opspec_model;
typedef struct opspec_session opspec_session;
typedef struct opspec_run opspec_run;
typedef struct opspec_operator opspec_operator; // a registration
typedef struct opspec_test opspec_test;         // a bundle's evidence
typedef struct opspec_trial opspec_trial;       // one piece of it, being executed

// ---- What the host offers ---------------------------------------------------------------------------------

typedef enum opspec_file {
  OPSPEC_FILE_FOUND,
  OPSPEC_FILE_MISSING,
  OPSPEC_FILE_UNREADABLE,
  OPSPEC_FILE_FAR,
} opspec_file;

// Bytes that stay outside and are read when needed; the host knows them by a number of its own.
typedef struct opspec_far {
  uint32_t number;
  uint64_t length;
} opspec_far;

// All may be NULL. Kernel functions report trouble themselves (op_create_fail, op_infer_fail, op_run_fail) and answer
// that status.
typedef struct opspec_host {
  void *context;
  double (*now)(void *context); // milliseconds of a clock that never goes back
  // A file of the current call's `files`. FOUND: *bytes is a block of opspec_alloc, which becomes the Env's. FAR: *far.
  opspec_file (*file)(void *context, os_str name, os_str *bytes, opspec_far *far);
  // [offset, offset + n) of such bytes into `to`. OS_NEEDS_HOST: they are not there yet.
  os_status (*read)(void *context, uint32_t number, uint64_t offset, size_t n, void *to);
  // A kernel was registered under this number for the node's operator: starts it for one node. *instance names it then.
  os_status (*create)(void *context, uint32_t kernel, op_create *ctx, uint32_t *instance);
  void (*destroy)(void *context, uint32_t instance);
  // Nothing can ask for this kernel any more. Must not call back.
  void (*forget)(void *context, uint32_t kernel);
  os_status (*infer)(void *context, uint32_t kernel, op_infer *ctx);
  // OS_NEEDS_HOST: the outputs come later, then opspec_run_answer.
  os_status (*compute)(void *context, uint32_t instance, op_run *ctx);
  // How much of a check is done, from 0 to 1, now and then; whatever but OS_OK ends it.
  os_status (*progress)(void *context, double part);
} opspec_host;

// ---- Env --------------------------------------------------------------------------------------------------

typedef struct opspec_options {
  uint64_t bytes, memory;   // limits, 0 = the default
  uint32_t findings, depth; // the same
  opspec_host host;
  const op_family *const *families; // NULL-ended; outlives the Env
} opspec_options;

os_status opspec_env_new(const opspec_options *options, opspec_env **out);
// Frees everything that hangs on it. Accepts NULL.
void opspec_env_free(opspec_env *self);
os_str opspec_output(const opspec_env *self);
size_t opspec_memory_used(const opspec_env *self);
void *opspec_alloc(opspec_env *self, size_t size);
void opspec_free(opspec_env *self, void *block);

// [{ domain, name, overload?, sinceVersion, deprecated?, inputs, outputs, attributes, source, kernel }]
os_status opspec_operators(opspec_env *self);
// { rule, severity, title, why, good, bad, source }; OS_INVALID_ARGUMENT names the nearest rules.
os_status opspec_explain(opspec_env *self, os_str rule);
// [ids of all rules]
os_status opspec_rules(opspec_env *self);

// ---- Documents --------------------------------------------------------------------------------------------

typedef struct opspec_files {
  bool given;
  bool complete; // `names` are all there are; else others may be asked for as well
  const os_str *names;
  size_t count;
} opspec_files;

typedef struct opspec_check_options {
  os_str as; // empty = by content; a kind ("spec", "model") or a message ("TensorProto")
  bool strict, full;
  bool progress;     // the host wants to know how far it is
  bool packed;       // the report in words where it can be (core/json/report_json.h, os_report_pack)
  double timeout_ms; // 0 = none
  opspec_files files;
} opspec_check_options;

// Any document -> report. Only what keeps the check from being made at all is a status.
os_status opspec_check(opspec_env *self, os_str bytes, const opspec_check_options *options);
// A bundle given by its files alone -> report.
os_status opspec_check_bundle(opspec_env *self, const opspec_check_options *options);
// The message as a tape (core/host/host_objects.c); its addresses hold until opspec_decode_end. OS_MALFORMED with findings.
os_status opspec_decode(opspec_env *self, os_str bytes, os_str as);
void opspec_decode_end(opspec_env *self);
typedef enum opspec_form {
  OPSPEC_JSON,
  OPSPEC_CANONICAL, // of JSON texts
  OPSPEC_TEXTPROTO,
  OPSPEC_ONNXTXT,
  OPSPEC_BYTES,  // opspec_model_write only: the message itself
  OPSPEC_OBJECT, // opspec_model_write only: as opspec_decode gives it; what is far by its place in the file
} opspec_form;
// A document as text -> text. `as` "spec", "evidence" or "json": a JSON text, indented by two blanks or in its canonical
// form (RFC 8785); a key that stands twice is a fault. Else a message, in protobuf's JSON or text format or ONNX's syntax;
// what the form cannot hold is OS_UNSUPPORTED with findings, unless `lossy`. OS_MALFORMED with findings.
os_status opspec_format(opspec_env *self, os_str bytes, os_str as, opspec_form form, bool lossy);
// The bytes of the message that the text says -> bytes. OS_MALFORMED with findings that have lines. `bytes`: what
// {"$b":[offset,length]} in JSON is a range of; data NULL = there are none.
os_status opspec_encode(opspec_env *self, os_str text, os_str bytes, os_str as, opspec_form form);
// The fields of a message and of all below it, for hosts that encode by themselves -> a line with the name of each message,
// the asked one last, each before its fields: " number name type flags of", by number. type: 0 int32, 3 int64, 8 uint64,
// 10 float, 11 double, 13 enum, 14 text, 15 bytes, 16 message; flags: 1 repeated, 2 packed, 4 in a oneof; of: the message,
// or NAME=number, for each value.
os_status opspec_layout(opspec_env *self, os_str as);
// Two documents of one kind, `as`, field by field -> { changes: [{ change: "added" | "removed" | "changed" | "order", path,
// message }], left, unread?, value? }: `left` more were counted; of operator sets the operators are left out. `unread`: { count, path, why }
// of tensors whose elements lie in files that could not be read. `value`, of data: { read, kind?, within?, path?, message?, first?, differing?,
// count?, maxAbs?, maxRel?, maxUlp? }, the first difference between the values; `within` the usual tolerance of evidence.
// OS_MALFORMED with findings; the message begins with "a: " or "b: ". `files`: a has some, b has some; the host is asked for "a/NAME"
// and "b/NAME".
os_status opspec_diff(opspec_env *self, os_str a, os_str b, os_str as, const bool files[2],
                      double timeout_ms);
// "model", "tensor", "json", "zip", ... or "unknown" by content -> { kind, evidence, candidates }
os_status opspec_sniff(opspec_env *self, os_str bytes);

// A JSON Schema 2020-12. `text` is a block of opspec_alloc, which becomes the schema's, also on failure. `formats`: they
// assert. `others`: schemas that it refers to are the host's files, by URI. On OS_MALFORMED and OS_LIMIT the output is a
// report.
typedef struct opspec_schema opspec_schema;
os_status opspec_schema_compile(opspec_env *self, os_str text, bool formats, bool others,
                                opspec_schema **out);
// -> report, and { valid, units }, a list that is empty unless asked for: what the standard's outputs are made of
// (core/schema/schema.h, os_schema_write_units).
os_status opspec_schema_validate(opspec_schema *self, os_str bytes, bool units);
void opspec_schema_free(opspec_schema *self);

// ---- Models and runs --------------------------------------------------------------------------------------

// `bytes` is a block of opspec_alloc, which becomes the model's, also on failure. -> { inputs, outputs }
os_status opspec_model_load(opspec_env *self, os_str bytes, const opspec_files *files, opspec_model **out);
// A document of any kind (`as` as in a check) out of bytes that the host reads: its structure is read, what is large in it
// stays outside. -> { kind, inputs, outputs }. OS_NEEDS_HOST, with *out: opspec_model_resume goes on; else as above.
os_status opspec_model_open(opspec_env *self, opspec_far bytes, os_str as, const opspec_files *files,
                            opspec_model **out);
os_status opspec_model_resume(opspec_model **model);
// What of it is outside -> [[number, offset, length]]: the data of tensors and with `all` long unknown fields; else only what a
// check wants to read.
os_status opspec_model_payloads(opspec_model *self, bool all);
// Brings some of it in: a block of opspec_alloc, which becomes the model's, also on failure.
os_status opspec_model_put(opspec_model *self, uint32_t number, uint64_t offset, os_str bytes);
os_status opspec_model_check(opspec_model *self, const opspec_check_options *options);
// What inference finds of the values of the main graph -> { values: [{ name, type, shape }], graphs: [{ path, values }], complete }.
// `graphs`, with `bodies`: of graphs inside and of functions, as far as it is the same wherever they are run.
os_status opspec_model_infer(opspec_model *self, bool bodies, double timeout_ms);
// The model as opspec_format gives it, or its bytes.
os_status opspec_model_write(opspec_model *self, opspec_form form, bool lossy);
// The same to `take`, piece by piece, so that it needs no memory as a whole (but for ONNX's syntax); false from it ends the call
// with OS_OUT_OF_MEMORY. What the form cannot hold is told when all has been taken.
os_status opspec_model_send(opspec_model *self, opspec_form form, bool lossy,
                            bool (*take)(void *context, os_str written), void *context);
// Its bytes in pieces -> those that are new, one after the other. The list is good until the next call.
typedef struct opspec_piece {
  bool fresh;      // the next `length` of the new ones; else a range of what the model was opened from
  uint64_t offset; // of that; of a model in memory the address
  uint64_t length;
} opspec_piece;
os_status opspec_model_pieces(opspec_model *self, const opspec_piece **out, size_t *count);
// Changes the model: a JSON list of edits, of which all are made or none (the package's README says which there are). What was
// not touched keeps its bytes. Sessions that were made before go on with the model as it was: then *model is another one
// afterwards. -> { kind, inputs, outputs }. On trouble the message begins with "edits[N]:", the path is a place of the model.
os_status opspec_model_edit(opspec_model **model, os_str edits);
// The nodes of the main graph as columns -> bytes (core/host/host_nodes.c).
os_status opspec_model_nodes(opspec_model *self);
void opspec_model_free(opspec_model *self);

// timeout_ms: 0 = none. -> { inputs: [{ name, type, optional? }], outputs: [names] }
os_status opspec_session_new(opspec_model *model, uint64_t seed, double timeout_ms, opspec_session **out);
void opspec_session_free(opspec_session *self);

typedef struct opspec_input {
  os_str name;
  op_value *value; // the run takes the reference, also on failure
} opspec_input;
// outputs: names of values of the graph; count 0 = the model's outputs. One run of a session at a time.
os_status opspec_run_start(opspec_session *session, const opspec_input *inputs, size_t input_count,
                           const os_str *outputs, size_t output_count, opspec_run **out);
// About `budget` steps: OS_OK done, OS_YIELD, OS_NEEDS_HOST, or trouble (with its text).
os_status opspec_run_step(opspec_run *self, uint64_t budget);
void opspec_run_answer(opspec_run *self, os_status status, os_str message);
op_value *opspec_run_result(const opspec_run *self, size_t index); // borrowed
void opspec_run_free(opspec_run *self);

// ---- Operators --------------------------------------------------------------------------------------------

enum { // opspec_register flags
  OPSPEC_KERNEL =
      1, // there is a kernel; else a row that is linked into the build, else the operator is only declared
  OPSPEC_KERNEL_INFERS = 2, // it has inference of its own
  OPSPEC_KERNEL_SHAPES = 4, // which gives shapes
  OPSPEC_ROLES = 8, // the document stands for a schema in the roles of MLOperatorAuthor, whose registry takes
                    // operators for ONNX's domain as for any other
};
// since 0 = the document's own. -> { domain, name, overload, sinceVersion, specification }; OS_MALFORMED with findings.
os_status opspec_register(opspec_env *self, os_str document, int since, uint32_t kernel, uint32_t flags,
                          opspec_operator **out);
// The same without a kernel: `body` is a FunctionProto, or a ModelProto whose main graph a node of the operator runs. It is
// copied. OS_MALFORMED with findings in the document or, with a path, in the body.
os_status opspec_register_function(opspec_env *self, os_str document, int since, os_str body,
                                   opspec_operator **out);
// A kernel for an operator of the standard: the newest of that domain and name up to `since`. It replaces a built-in one as
// long as it is registered. OS_UNSUPPORTED when there is no such operator.
os_status opspec_register_kernel(opspec_env *env, os_str domain, os_str op_type, int since, uint32_t kernel,
                                 uint32_t flags, opspec_operator **out);
// Takes it out of the registry. Models that were loaded before still use the kernel; opspec_host.forget says when none does.
void opspec_unregister(opspec_operator *self);

// ---- Values -----------------------------------------------------------------------------------------------

// A message of this kind ("tensor", "sequence", ...) -> value. `files`: the host is asked for those that elements lie in.
os_status opspec_value_read(opspec_env *self, os_str bytes, os_str kind, bool files, op_value **out);
// -> bytes of the message.
os_status opspec_value_write(opspec_env *self, const op_value *value, os_str name);
// A value as evidence documents write it (JSON).
os_status opspec_value_parse(opspec_env *self, os_str json, op_value **out);
// 0 when the text is no type expression.
op_type opspec_type(opspec_env *self, os_str expression);
// Expression of a type, valid as long as the Env.
os_str opspec_type_name(opspec_env *self, op_type type);
// New values; NULL when memory is exhausted or a size is beyond what there can be. Released with op_value_release.
op_value *opspec_tensor(opspec_env *self, op_elem elem, int32_t rank, const int64_t *dims);
op_value *opspec_sequence(opspec_env *self, op_type type);
os_status opspec_sequence_add(op_value *sequence, op_value *item);          // takes the reference
op_value *opspec_optional(opspec_env *self, op_type type, op_value *inner); // takes the reference
op_value *opspec_map(opspec_env *self, op_type type, op_value *keys, op_value *const *values,
                     size_t count); // takes all
op_value *opspec_sparse(opspec_env *self, op_elem elem, op_value *values, op_value *indices, int32_t rank,
                        const int64_t *dims); // takes both
// Items of a sequence or map, of an optional (0 or 1), of a sparse tensor (values, indices). Borrowed.
size_t opspec_value_count(const op_value *value);
op_value *opspec_value_at(const op_value *value, size_t index);
const op_tensor *opspec_value_keys(const op_value *map);
// Shape of the dense tensor, for a sparse one; the tensor itself otherwise.
const op_tensor *opspec_value_head(const op_value *value);

// ---- Evidence ---------------------------------------------------------------------------------------------

// A bundle, or a folder in ONNX's layout, given by its files; or the bytes of a .zip of it (a block of opspec_alloc, which
// becomes the test's). -> { specs: [{ file, name, domain, opType, kernels }], cases: [{ spec?, path, name }] }
os_status opspec_test_open(opspec_env *self, os_str zip, const opspec_files *files, opspec_test **out);
// A file of the bundle -> bytes. OS_INVALID_ARGUMENT when it is not there.
os_status opspec_test_file(opspec_test *self, os_str name);
// All names -> [names]
os_status opspec_test_names(opspec_test *self);
void opspec_test_free(opspec_test *self);

// Makes the node's model, checks it and makes a session. `version`: since version that the spec was registered with,
// 0 = the registry's. Never trouble of the evidence: opspec_trial_end says it.
os_status opspec_trial_start(opspec_test *test, size_t index, bool check, opspec_trial **out);
// As opspec_run_step; but whatever ends a run ends the trial: then OS_OK.
os_status opspec_trial_step(opspec_trial *self, uint64_t budget);
void opspec_trial_answer(opspec_trial *self, os_status status, os_str message);
// -> { status: "passed" | "failed" | "skipped" | "error", message?, findings }. `misbehaved`: the kernel failed by a fault
// of its own (a TypeError, a trap), which is never an expected error.
os_status opspec_trial_end(opspec_trial *self, bool misbehaved);
void opspec_trial_free(opspec_trial *self);

#endif
