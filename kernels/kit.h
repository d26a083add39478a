#ifndef OPSPEC_KIT_H
#define OPSPEC_KIT_H

// What families of data movement share: small integer parameters, axes, shapes, copies.

#include "move.h"

#include <opspec/operator.h>
#include <string.h>

// ---- Inference --------------------------------------------------------------------------------------------

enum {
  KIT_NUMBERS = 4 * OP_MAX_RANK
}; // room of a parameter list; longer ones are nobody's axes, pads or shape

typedef struct kit_list {
  bool present; // the elements are listed in `at`
  bool scalar;  // rank 0
  size_t count;
  op_dim at[KIT_NUMBERS]; // all unknown where the list is not present
} kit_list;

// Elements of an input of rank 0 or 1: numbers (those that no dim can be as the lowest that one can) or symbolic. Not
// present when nothing is known of them, or when they are too many.
void kit_infer_list(op_infer *ctx, uint32_t input, kit_list *out);
// An attribute's integers as a list; not present when the attribute is absent.
void kit_attr_list(const op_node *node, const char *name, kit_list *out);
// Input `input` where the node has one, otherwise the attribute. *written: one of them is there, perhaps unknown.
void kit_either_list(op_infer *ctx, uint32_t input, const char *attribute, kit_list *out, bool *written);
// A single number of any real type (floats are truncated); OP_DIM_UNKNOWN when it is not known or not one element.
op_dim kit_infer_number(op_infer *ctx, uint32_t input);
// A known integer as a dim or an element of a small value.
op_dim kit_dim_from(int64_t value);
// All elements are listed and numbers.
bool kit_all_known(const kit_list *list);
// Fails when a number of the list is negative.
os_status kit_want_natural(op_infer *ctx, const kit_list *list, const char *what);

// Axes of a tensor of this rank: sorted out into `axes` (rank entries at most, not negative, as listed). Duplicates fail.
os_status kit_infer_axes(op_infer *ctx, const kit_list *list, int32_t rank, const char *what, int32_t *axes);
// Product of dims first..last-1.
op_dim kit_product(op_infer *ctx, const op_dim *dims, int32_t first, int32_t last);
// Fails when the rank is known and differs, or is lower.
os_status kit_want_rank(op_infer *ctx, uint32_t input, int32_t rank, const char *what);
os_status kit_want_least(op_infer *ctx, uint32_t input, int32_t rank, const char *what);
// op_infer_axis of the attribute `axis`.
os_status kit_infer_axis(op_infer *ctx, int64_t fallback, int32_t rank, int32_t *axis);
// The output's type is that of the input; dims of input 0 as op_infer_dims.
const op_dim *kit_infer_same_type(op_infer *ctx, int32_t *rank);

// ---- Words ------------------------------------------------------------------------------------------------

bool kit_text_is(os_str text, const char *word);
// Which of `words`, each ended by a NUL, is a string attribute; their number when none is. The first is the fallback.
int kit_word(const op_node *node, const char *attribute, const char *words);

// ---- Running ----------------------------------------------------------------------------------------------

// Element `index` of a tensor of any real type; floats are truncated, NaN is 0.
int64_t kit_int(const op_tensor *tensor, int64_t index);
double kit_double(const op_tensor *tensor, int64_t index);
// Integers of a tensor, `room` at most; the answer is how many it has.
size_t kit_ints(const op_tensor *tensor, int64_t *out, size_t room);
// Dims as sizes for math.
size_t kit_shape(const op_tensor *tensor, size_t dims[OP_MAX_RANK]);
// Product of dims first..last-1.
size_t kit_extent(const op_tensor *tensor, int32_t first, int32_t last);
bool kit_same_shape(const op_tensor *tensor, int32_t rank, const int64_t *dims);
static inline int32_t kit_axis(int64_t axis, int32_t rank) {
  return (int32_t)(axis < 0 ? axis + rank : axis);
}
static inline char *kit_at(const op_tensor *tensor, size_t index) {
  return (char *)tensor->data + index * op_elem_size(tensor->elem);
}
// The attribute `axis` for a tensor of this rank.
int32_t kit_run_axis(const op_run *ctx, int64_t fallback, int32_t rank);
// Writes a number as Cast does; false when the type has none.
bool kit_put(const op_tensor *tensor, size_t index, double value);
// All bytes of an equally large tensor; nothing to do when they share memory. Strings stay alive.
os_status kit_copy(op_tensor *to, const op_tensor *from);
// To be called once bytes were copied by width: strings stay alive.
os_status kit_keep(op_tensor *to, const op_tensor *from);
// Zero of any type: 0, false, "".
void kit_zero(op_tensor *tensor);
// out[i, j, ...] = in's element at places[0][i] + places[1][j] + ...; both of one type and rank, neither empty. Strings are
// not kept alive here.
void kit_pick_axes(op_tensor *out, const op_tensor *in, const size_t *const *places);
// Tensors of any float type as floats: the tensor's own bytes, or a copy that `owner` holds.
typedef struct kit_floats {
  float *data;
  op_value *owner;
} kit_floats;
// Elements of an input; data NULL with an absent tensor. OS_OK, out of memory, or a failure with a type that is no float.
os_status kit_read_floats(op_run *ctx, const op_tensor *tensor, kit_floats *out);
// Room for the result in an output; kit_write_floats converts it. Data NULL with a NULL tensor.
os_status kit_room_floats(op_run *ctx, const op_tensor *tensor, kit_floats *out);
void kit_write_floats(op_tensor *tensor, const kit_floats *from);
static inline void kit_free_floats(kit_floats *self) { op_value_release(self->owner); }
// Compute did not find the shape that inference promised.
os_status kit_shape_broken(op_run *ctx, const char *what);

// Sorts `order` (any n indices) so that less(context, order[i + 1], order[i]) never holds; stable. `spare` has n entries.
void kit_sort(size_t *order, size_t *spare, size_t n, bool (*less)(const void *context, size_t a, size_t b),
              const void *context);

// Steps `index` through dims in row-major order; false after the last.
static inline bool kit_next(size_t rank, const size_t *dims, size_t *index) {
  for (size_t axis = rank; axis-- > 0;) {
    if (++index[axis] < dims[axis]) return true;
    index[axis] = 0;
  }
  return false;
}

#endif
