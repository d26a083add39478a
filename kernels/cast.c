// Cast, CastLike, BitCast.

#include "broadcast.h"
#include "kit.h"
#include "numbers_text.h"
#include "travel.h"

#include <string.h>

// ---- The type to cast to ------------------------------------------------------------------------------------

// Cast 1 names the type; the names are those of TensorProto.DataType in any case.
static op_elem cast__by_name(os_str name) {
  static const struct {
    const char *name;
    op_elem elem;
  } names[] = {{"float", OP_FLOAT},  {"uint8", OP_UINT8},     {"int8", OP_INT8},     {"uint16", OP_UINT16},
               {"int16", OP_INT16},  {"int32", OP_INT32},     {"int64", OP_INT64},   {"string", OP_STRING},
               {"bool", OP_BOOL},    {"float16", OP_FLOAT16}, {"double", OP_DOUBLE}, {"uint32", OP_UINT32},
               {"uint64", OP_UINT64}};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    size_t length = strlen(names[i].name), j = 0;
    while (j < length && j < name.len && (name.data[j] | 0x20) == (names[i].name[j] | 0x20)) j++;
    if (j == length && name.len == length) return names[i].elem;
  }
  return OP_NONE;
}

static op_elem cast__target(const op_node *node) {
  if (op_node_since(node) < 6) return cast__by_name(op_attr_string(node, "to", ""));
  int64_t to = op_attr_int(node, "to", 0);
  return to > 0 && to < OP_ELEM_COUNT ? (op_elem)to : OP_NONE;
}

enum { CAST_ROUNDS = 3 };

static int cast__round(const op_node *node) { return kit_word(node, "round_mode", "up\0down\0nearest\0"); }

static math_params cast__params(const op_node *node) {
  return (math_params){.i = {op_attr_int(node, "saturate", 1) != 0, cast__round(node)}};
}

// ---- Inference ----------------------------------------------------------------------------------------------

// What travels goes on through a cast to a type that holds it.
static void cast__travel(op_infer *ctx, op_elem to) {
  size_t count;
  const op_dim *small = op_infer_small(ctx, 0, &count);
  if (small == NULL || count > TRAVEL_MAX || !elem_is_integer(op_infer_elem(ctx, 0))) return;
  if (to == OP_INT64) {
    travel_copy(ctx);
    return;
  }
  if (to != OP_INT32) return;
  op_dim values[TRAVEL_MAX];
  for (size_t i = 0; i < count; i++)
    values[i] = op_dim_is_number(small[i]) ? (int32_t)(uint32_t)(uint64_t)small[i] : small[i];
  op_infer_set_small(ctx, 0, values, count, op_infer_rank(ctx, 0) == 0);
}

static os_status cast__infer_round(op_infer *ctx) {
  if (cast__round(op_infer_node(ctx)) < CAST_ROUNDS) return OS_OK;
  os_str round = op_attr_string(op_infer_node(ctx), "round_mode", "up");
  return op_infer_fail(ctx, OP_FAULT_ATTRIBUTE,
                       "`round_mode` is \"%.*s\", expected \"up\", \"down\" or \"nearest\"", (int)round.len,
                       round.data ? round.data : "");
}

static os_status cast__infer(op_infer *ctx) {
  const op_node *node = op_infer_node(ctx);
  op_elem to = cast__target(node);
  if (to == OP_NONE && op_node_since(node) < 6) {
    os_str name = op_attr_string(node, "to", "");
    return op_infer_fail(ctx, OP_FAULT_ATTRIBUTE, "`to` is \"%.*s\", which is no element type", (int)name.len,
                         name.data ? name.data : "");
  }
  if (to == OP_NONE)
    return op_infer_fail(ctx, OP_FAULT_ATTRIBUTE, "`to` is %lld, which is no element type",
                         (long long)op_attr_int(node, "to", 0));
  OS_TRY(cast__infer_round(ctx));
  op_infer_copy(ctx, 0, 0);
  op_infer_set_elem(ctx, 0, to);
  cast__travel(ctx, to);
  return OS_OK;
}

static os_status cast__infer_like(op_infer *ctx) {
  OS_TRY(cast__infer_round(ctx));
  op_infer_copy(ctx, 0, 0);
  op_infer_set_type(ctx, 0, op_infer_type(ctx, 1));
  cast__travel(ctx, op_infer_elem(ctx, 1));
  return OS_OK;
}

// Bits on the wire, which is what BitCast compares; 0 for strings.
static int cast__bits(op_elem elem) {
  switch (elem) {
#define OPSPEC_ELEMENT(name, number, onnx, js, bits, kind) \
  case OP_##name: return bits;
#include <opspec/element_types.def>
#undef OPSPEC_ELEMENT
  default: return 0;
  }
}

static os_status cast__infer_bits(op_infer *ctx) {
  op_elem to = cast__target(op_infer_node(ctx)), from = op_infer_elem(ctx, 0);
  if (cast__bits(to) == 0)
    return op_infer_fail(ctx, OP_FAULT_ATTRIBUTE, "`to` is %lld, which is no element type of fixed width",
                         (long long)op_attr_int(op_infer_node(ctx), "to", 0));
  if (from != OP_NONE && cast__bits(from) != cast__bits(to))
    return op_infer_fail(ctx, OP_FAULT_TYPE, "the input is %s of %d bits, `to` is %s of %d bits",
                         op_elem_name(from), cast__bits(from), op_elem_name(to), cast__bits(to));
  op_infer_copy(ctx, 0, 0);
  op_infer_set_elem(ctx, 0, to);
  return OS_OK;
}

// ---- Computing ----------------------------------------------------------------------------------------------

typedef struct cast_job {
  char *out;
  const char *in;
  size_t out_size, in_size;
  int to, from;
  const math_params *params;
} cast_job;

static void cast__piece(void *argument, size_t begin, size_t end) {
  const cast_job *job = argument;
  math_cast(job->out + begin * job->out_size, job->to, job->in + begin * job->in_size, job->from, end - begin,
            job->params);
}

static os_status cast__print(op_tensor *out, const op_tensor *in) {
  char room[NUMBERS_TEXT_ROOM];
  for (int64_t i = 0; i < in->count; i++) OS_TRY(op_string_set(out, i, numbers_print(in, i, room)));
  return OS_OK;
}

static os_status cast__parse(op_run *ctx, op_tensor *out, const op_tensor *in) {
  const os_str *texts = in->data;
  for (int64_t i = 0; i < in->count; i++) {
    int shown = texts[i].len < 40 ? (int)texts[i].len : 40;
    if (!numbers_parse(out, i, texts[i]))
      return op_run_fail(ctx, "element %lld, \"%.*s\", is no number", (long long)i, shown,
                         texts[i].data ? texts[i].data : "");
  }
  return OS_OK;
}

static bool cast__is_number(op_elem elem) {
  return elem == OP_BOOL || elem_is_integer(elem) || elem_is_float(elem);
}

static os_status cast__compute(op_run *ctx) {
  const op_tensor *in = op_run_input(ctx, 0);
  op_tensor *out = op_run_output(ctx, 0);
  if (in->elem == out->elem) return kit_copy(out, in);
  if (out->elem == OP_STRING && cast__is_number(in->elem)) return cast__print(out, in);
  if (in->elem == OP_STRING && cast__is_number(out->elem)) return cast__parse(ctx, out, in);
  if (!cast__is_number(in->elem) || !cast__is_number(out->elem))
    return op_run_fail(ctx, "%s does not cast to %s", op_elem_name(in->elem), op_elem_name(out->elem));
  math_params params = cast__params(op_run_node(ctx));
  cast_job job = {out->data,     in->data, op_elem_size(out->elem), op_elem_size(in->elem), (int)out->elem,
                  (int)in->elem, &params};
  op_parallel_for(ctx, (size_t)in->count, 1 << 15, cast__piece, &job);
  return OS_OK;
}

static os_status cast__plan(op_plan *ctx) {
  const op_tensor *in = op_plan_input(ctx, 0), *out = op_plan_output(ctx, 0);
  if (in == NULL || out == NULL || in->elem == OP_STRING || out->elem == OP_STRING) return OS_OK;
  if (op_elem_size(in->elem) == op_elem_size(out->elem)) op_plan_in_place(ctx, 0, 0);
  return OS_OK;
}

// Sub-byte elements lie one in a byte: the low bits carry over, and the sign or zeros above them follow the new type.
static os_status cast__compute_bits(op_run *ctx) {
  const op_tensor *in = op_run_input(ctx, 0);
  op_tensor *out = op_run_output(ctx, 0);
  int bits = cast__bits(out->elem);
  if (bits >= 8) {
    size_t bytes = (size_t)in->count * op_elem_size(in->elem);
    if (in->data != out->data && bytes > 0) memcpy(out->data, in->data, bytes);
    if (out->elem != OP_BOOL) return OS_OK;
    uint8_t *bools = out->data;
    for (int64_t i = 0; i < out->count; i++) bools[i] = bools[i] != 0;
    return OS_OK;
  }
  const uint8_t *from = in->data;
  uint8_t *to = out->data, mask = (uint8_t)((1 << bits) - 1), sign = (uint8_t)(1 << (bits - 1));
  for (int64_t i = 0; i < in->count; i++) {
    uint8_t code = from[i] & mask;
    to[i] = elem_is_signed(out->elem) && (code & sign) ? (uint8_t)(code | (uint8_t)~mask) : code;
  }
  return OS_OK;
}

static const op_row rows[] = {
    {.op_type = "Cast",
     .since = 1,
     .traits = OP_PURE,
     .infer = cast__infer,
     .plan = cast__plan,
     .compute = cast__compute},
    {.op_type = "CastLike",
     .since = 15,
     .traits = OP_PURE,
     .infer = cast__infer_like,
     .plan = cast__plan,
     .compute = cast__compute},
    {.op_type = "BitCast",
     .since = 26,
     .traits = OP_PURE,
     .infer = cast__infer_bits,
     .plan = cast__plan,
     .compute = cast__compute_bits},
};

OP_FAMILY(cast, rows);
