#include "document.h"
#include "guess.h"
#include "tensor_proto.h"

// The kind of a file by its content: how it begins, then how well its fields fit each message, then whether what the
// message says makes sense. SequenceProto and OptionalProto can be the same bytes; then it is a sequence, and `candidates`
// names the other.

// Larger files are judged by their first fields alone; decoding them twice would cost more than it tells.
enum { HEAD = 1 << 16, DECODED = 1 << 20 };

static bool os_sniff__decodes(const os_source *source) {
  return source->data != NULL && source->length <= DECODED;
}

// How far a message may be what the bytes are; within one of these more known fields decide.
enum {
  DOUBTFUL = 10000, // has fields that the message does not know
  DAMAGED = 20000,  // all that comes before the fault fits
  CLEAN = 30000,    // decodes, but does not say what it should
  SENSIBLE = 40000,
};

typedef struct os_sniff_rank {
  os_kind kind;
  int score; // 0 = impossible
} os_sniff_rank;

static bool os_sniff__list(int32_t elem, size_t tensors, size_t sparse, size_t sequences, size_t maps,
                           size_t optionals) {
  size_t counts[] = {0, tensors, sparse, sequences, maps, optionals},
         all = tensors + sparse + sequences + maps + optionals;
  return elem >= 1 && elem <= 5 && counts[elem] == all;
}

// Whether the decoded message says what such a message has to say.
static bool os_sniff__sensible(os_kind kind, const void *message) {
  switch (kind) {
  case OS_KIND_MODEL: {
    const Onnx__ModelProto *model = message;
    return model->has_ir_version && (model->graph != NULL || model->n_functions > 0);
  }
  case OS_KIND_GRAPH: {
    const Onnx__GraphProto *graph = message;
    return graph->n_node + graph->n_input + graph->n_output > 0;
  }
  case OS_KIND_FUNCTION: {
    const Onnx__FunctionProto *function = message;
    return function->has_name && function->n_node + function->n_output > 0;
  }
  case OS_KIND_TENSOR: {
    os_tensor_reader reader;
    const Onnx__TensorProto *tensor = message;
    if (tensor->data_type <= 0) return false;
    return (tensor->has_data_location && os_tensor_rare(tensor)->n_external_data > 0) ||
           os_tensor_open(&reader, tensor, (os_tensor_origin){0}) == OS_OK;
  }
  case OS_KIND_SPARSE_TENSOR: {
    const Onnx__SparseTensorProto *sparse = message;
    return sparse->values != NULL && sparse->values->data_type > 0 && sparse->n_dims > 0;
  }
  case OS_KIND_SEQUENCE: {
    const Onnx__SequenceProto *list = message;
    return os_sniff__list(list->elem_type, list->n_tensor_values, list->n_sparse_tensor_values,
                          list->n_sequence_values, list->n_map_values, list->n_optional_values);
  }
  case OS_KIND_OPTIONAL: {
    const Onnx__OptionalProto *optional = message;
    return optional->elem_type == 0 ||
           os_sniff__list(optional->elem_type, optional->tensor_value != NULL,
                          optional->sparse_tensor_value != NULL, optional->sequence_value != NULL,
                          optional->map_value != NULL, optional->optional_value != NULL);
  }
  case OS_KIND_MAP: {
    const Onnx__MapProto *map = message;
    return map->has_key_type && map->values != NULL && (map->n_keys == 0 || map->n_string_keys == 0);
  }
  case OS_KIND_OPERATOR_SET: {
    const Onnx__OperatorSetProto *set = message;
    return set->has_opset_version && set->n_operator_ + set->n_functions > 0;
  }
  default: return false;
  }
}

// An optional with the same field twice is a sequence: merging would hide it.
static bool os_sniff__merged(os_kind kind, const void *message) {
  if (kind != OS_KIND_OPTIONAL) return false;
  const Onnx__OptionalProto *optional = message;
  const void *values[] = {optional->tensor_value, optional->sparse_tensor_value, optional->sequence_value,
                          optional->map_value, optional->optional_value};
  for (size_t i = 0; i < sizeof values / sizeof *values; i++)
    if (values[i] != NULL && !os_proto_is(values[i], OS_PROTO_RANGED)) return true;
  return false;
}

static os_status os_sniff__score(const os_source *source, os_memory *memory, os_kind kind, const os_fit *fit,
                                 int *score) {
  int known = fit->known < 1000 ? (int)fit->known : 1000,
      unknown = fit->unknown < 1000 ? (int)fit->unknown : 1000;
  *score = 0;
  int damaged = known >= 2 && unknown == 0 ? DAMAGED + known : 0;
  if (fit->wire && known <= unknown) return OS_OK;
  *score = !fit->wire ? damaged : (unknown == 0 ? CLEAN : DOUBTFUL) + known - unknown;
  if (*score == 0 || !os_sniff__decodes(source)) return OS_OK;
  os_arena arena;
  os_arena_init(&arena, memory);
  os_report report;
  os_report_init(&report, &arena, false, 1);
  os_decoding decoding = {.arena = &arena, .source = source, .type = os_kind_type(kind), .report = &report};
  void *message;
  os_status status = os_proto_decode(&decoding, &message);
  if (status == OS_MALFORMED)
    *score = damaged;
  else if (status == OS_OK && !os_sniff__merged(kind, message) && os_sniff__sensible(kind, message))
    *score = SENSIBLE + known - unknown;
  os_arena_clear(&arena);
  return status == OS_OUT_OF_MEMORY ? status : OS_OK;
}

static bool os_sniff__is_operator_set(os_str head) {
  return os_str_starts(head, OS_STR("\x0a\x09ONNXOPSET"));
}

static os_status os_sniff__messages(const os_source *source, os_str head, os_memory *memory,
                                    os_sniff_rank *ranks, size_t *count) {
  static const os_kind order[] = {OS_KIND_MODEL,         OS_KIND_OPERATOR_SET, OS_KIND_TENSOR,
                                  OS_KIND_SEQUENCE,      OS_KIND_OPTIONAL,     OS_KIND_MAP,
                                  OS_KIND_SPARSE_TENSOR, OS_KIND_GRAPH,        OS_KIND_FUNCTION};
  *count = 0;
  for (size_t i = 0; i < sizeof order / sizeof *order; i++) {
    os_fit fit = os_proto_fit(head, source->length, os_kind_type(order[i]));
    int score;
    OS_TRY(os_sniff__score(source, memory, order[i], &fit, &score));
    if (score == 0) continue;
    size_t at = (*count)++;
    for (; at > 0 && ranks[at - 1].score < score; at--) ranks[at] = ranks[at - 1];
    ranks[at] = (os_sniff_rank){order[i], score};
    if (order[i] == OS_KIND_MODEL && score > SENSIBLE && fit.unknown == 0)
      break; // nothing else looks like this
  }
  return OS_OK;
}

static os_status os_sniff__finish(os_arena *arena, const os_sniff_rank *ranks, size_t count,
                                  const os_source *source, os_sniff *out) {
  int score = ranks[0].score, least = os_sniff__decodes(source) ? SENSIBLE : score;
  const char *how = score >= CLEAN     ? "its fields are those of"
                    : score >= DAMAGED ? "it begins like"
                                       : "it is most like";
  out->kind = ranks[0].kind;
  out->sure = score >= (os_sniff__decodes(source) ? SENSIBLE : CLEAN);
  out->evidence = os_arena_format(arena, "%s %s", how, os_kind_type(out->kind)->short_name);
  for (size_t i = 1; i < count; i++) {
    if (ranks[i].score < least) continue;
    out->fits |= 1u << ranks[i].kind;
    out->candidates =
        os_arena_format(arena, "%.*s%s%s", OS_ARG(out->candidates), out->candidates.len == 0 ? "" : ", ",
                        os_kind_type(ranks[i].kind)->short_name);
  }
  return OS_OK;
}

os_status os_onnx_sniff(const os_source *source, os_arena *arena, os_sniff *out) {
  *out = (os_sniff){.evidence = OS_STR("the file is empty")};
  if (source->length == 0) return OS_OK;
  os_str head = {(const char *)source->data, (size_t)source->length};
  if (source->data == NULL) {
    head.len = source->length < HEAD ? (size_t)source->length : HEAD;
    char *bytes = os_arena_alloc(arena, head.len);
    OS_TRY_ALLOC(bytes);
    OS_TRY(os_source_read(source, 0, head.len, bytes));
    head.data = bytes;
  }
  if (os_sniff__is_operator_set(head)) {
    *out = (os_sniff){
        .kind = OS_KIND_OPERATOR_SET, .sure = true, .evidence = OS_STR("it begins with the magic ONNXOPSET")};
    return OS_OK;
  }
  os_guess guess = os_guess_file(os_str_slice(head, 0, head.len < 512 ? head.len : 512), source->length);
  bool json = guess.text && os_str_is(os_str_of(guess.name), "JSON text");
  os_sniff_rank ranks[OS_KIND_PROTO_END];
  size_t count = 0;
  if (guess.name == NULL || guess.text)
    OS_TRY(os_sniff__messages(source, head, arena->memory, ranks, &count));
  int least = guess.text || os_sniff__decodes(source) ? SENSIBLE : CLEAN;
  if (count > 0 && ranks[0].score >= least && !json)
    return os_sniff__finish(arena, ranks, count, source, out);
  if (guess.name != NULL) {
    out->kind = json ? OS_KIND_JSON : guess.text ? OS_KIND_TEXT : OS_KIND_UNKNOWN;
    if (os_is_zip(head)) out->kind = OS_KIND_ZIP;
    out->evidence = os_arena_format(arena, "it looks like %s%s%s", guess.name, guess.hint == NULL ? "" : "; ",
                                    guess.hint == NULL ? "" : guess.hint);
    return OS_OK;
  }
  if (count > 0) return os_sniff__finish(arena, ranks, count, source, out);
  out->evidence = OS_STR("its bytes fit no ONNX message");
  return OS_OK;
}
