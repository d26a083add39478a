#include "node_json.h"

#include "decimal.h"
#include "json_write.h"
#include "type_expr.h"
#include "utf8.h"
#include "value.h"

// ---- Attributes -------------------------------------------------------------------------------------------

static void os_node__write_string(os_text *out, os_str text) {
  if (os_utf8_valid(text) == text.len) {
    os_json_write_string(out, text);
    return;
  }
  os_text_puts(out, "{\"bytes\":[");
  for (size_t i = 0; i < text.len; i++)
    os_text_format(out, "%s%u", i > 0 ? "," : "", (unsigned)(unsigned char)text.data[i]);
  os_text_puts(out, "]}");
}

static void os_node__write_float(os_text *out, float value) {
  if (value == value && value - value == 0)
    os_json_write_double(out, (double)value);
  else
    os_text_puts(out, value != value ? "\"NaN\"" : value > 0 ? "\"Infinity\"" : "\"-Infinity\"");
}

static void os_node__write_graph(os_text *out, const op_graph *graph) {
  os_text_format(out, "{\"inputs\":%zu,\"outputs\":%zu}", op_graph_input_count(graph),
                 op_graph_output_count(graph));
}

static void os_node__write_address(os_text *out, const op_value *value) {
  os_text_format(out, "{\"address\":%zu}", (size_t)value);
}

static void os_node__write_one(os_text *out, os_arena *scratch, const os_types *types,
                               const op_attribute *a) {
  switch (a->kind) {
  case OP_ATTR_FLOAT: os_node__write_float(out, a->as.f); break;
  case OP_ATTR_INT: os_text_format(out, "\"%lld\"", (long long)a->as.i); break;
  case OP_ATTR_STRING: os_node__write_string(out, a->as.s); break;
  case OP_ATTR_TENSOR:
  case OP_ATTR_SPARSE: os_node__write_address(out, op_attribute_value(a)); break;
  case OP_ATTR_GRAPH: os_node__write_graph(out, a->as.graph); break;
  case OP_ATTR_TYPE: os_json_write_string(out, os_types_print(types, scratch, a->as.type)); break;
  default: os_text_puts(out, "null"); break;
  }
}

static void os_node__write_item(os_text *out, os_arena *scratch, const os_types *types, const op_attribute *a,
                                uint32_t i) {
  switch (a->kind) {
  case OP_ATTR_FLOATS: os_node__write_float(out, a->as.floats[i]); break;
  case OP_ATTR_INTS: os_text_format(out, "\"%lld\"", (long long)a->as.ints[i]); break;
  case OP_ATTR_STRINGS: os_node__write_string(out, a->as.strings[i]); break;
  case OP_ATTR_TENSORS:
  case OP_ATTR_SPARSES: os_node__write_address(out, a->as.values[i]); break;
  case OP_ATTR_GRAPHS: os_node__write_graph(out, a->as.graphs[i]); break;
  case OP_ATTR_TYPES: os_json_write_string(out, os_types_print(types, scratch, a->as.types[i])); break;
  default: os_text_puts(out, "null"); break;
  }
}

static bool os_node__is_list(op_attr_kind kind) {
  return (kind >= OP_ATTR_FLOATS && kind <= OP_ATTR_GRAPHS) || kind == OP_ATTR_SPARSES ||
         kind == OP_ATTR_TYPES;
}

void os_node_write_json(os_text *out, os_arena *scratch, const os_types *types, const op_node *node) {
  os_text_puts(out, "\"opType\":");
  os_json_write_string(out, node->op_type);
  os_text_puts(out, ",\"domain\":");
  os_json_write_string(out, node->domain);
  os_text_format(out, ",\"sinceVersion\":%d,\"maxOutputs\":%d,\"attributes\":{", op_node_since(node),
                 node->schema == NULL ? UINT16_MAX : node->schema->max_outputs);
  for (uint32_t i = 0; i < node->attribute_count; i++) {
    const op_attribute *a = &node->attributes[i];
    if (i > 0) os_text_char(out, ',');
    os_json_write_string(out, a->name);
    os_text_format(out, ":[%d,", (int)a->kind);
    if (!os_node__is_list(a->kind)) {
      os_node__write_one(out, scratch, types, a);
    } else {
      os_text_char(out, '[');
      for (uint32_t j = 0; j < a->count; j++) {
        if (j > 0) os_text_char(out, ',');
        os_node__write_item(out, scratch, types, a, j);
      }
      os_text_char(out, ']');
    }
    os_text_char(out, ']');
  }
  os_text_char(out, '}');
}

// ---- Facts, outwards --------------------------------------------------------------------------------------

static void os_infer__write_dim(os_text *out, os_arena *scratch, const os_dims *dims, op_dim dim) {
  if (dim == OP_DIM_UNKNOWN)
    os_text_puts(out, "null");
  else if (op_dim_is_number(dim))
    os_text_format(out, "%lld", (long long)dim);
  else
    os_json_write_string(out, os_dims_print(dims, scratch, dim));
}

static void os_infer__write_fact(os_text *out, const os_inferring *inferring, const op_fact *fact) {
  os_text_puts(out, "{\"type\":");
  os_json_write_string(out, fact->type == 0 ? OS_STR("")
                                            : os_types_print(inferring->types, inferring->arena, fact->type));
  os_text_puts(out, ",\"shape\":");
  if (fact->rank < 0) {
    os_text_puts(out, "null");
  } else {
    for (int32_t i = 0; i < fact->rank; i++) {
      os_text_char(out, i == 0 ? '[' : ',');
      os_infer__write_dim(out, inferring->arena, inferring->dims, fact->dims[i]);
    }
    os_text_puts(out, fact->rank == 0 ? "[]" : "]");
  }
  bool numbers = fact->small != NULL;
  for (uint32_t i = 0; numbers && i < fact->small_count; i++) numbers = op_dim_is_number(fact->small[i]);
  if (fact->value != NULL) {
    os_text_format(out, ",\"address\":%zu", (size_t)fact->value);
  } else if (numbers) {
    os_text_puts(out, ",\"integers\":[");
    for (uint32_t i = 0; i < fact->small_count; i++)
      os_text_format(out, "%s\"%lld\"", i > 0 ? "," : "", (long long)fact->small[i]);
    os_text_char(out, ']');
  }
  os_text_char(out, '}');
}

os_status os_infer_write_json(os_text *out, op_infer *ctx) {
  os_inferring *inferring = ctx->inferring;
  os_text_char(out, '{');
  os_node_write_json(out, inferring->arena, inferring->types, ctx->node);
  os_text_puts(out, ",\"requested\":[");
  for (uint32_t i = 0; i < ctx->output_count; i++)
    os_text_format(out, "%s%s", i > 0 ? "," : "", ctx->outputs[i] != NULL ? "true" : "false");
  os_text_puts(out, "],\"inputs\":[");
  for (uint32_t i = 0; i < ctx->input_count; i++) {
    if (i > 0) os_text_char(out, ',');
    if (ctx->inputs[i] == NULL)
      os_text_puts(out, "null");
    else
      os_infer__write_fact(out, inferring, ctx->inputs[i]);
  }
  os_text_puts(out, "]}");
  return out->failed ? OS_OUT_OF_MEMORY : OS_OK;
}

// ---- Facts, inwards ---------------------------------------------------------------------------------------

static op_dim os_infer__named_dim(op_infer *ctx, os_str name) {
  os_inferring *inferring = ctx->inferring;
  for (uint32_t i = 0; i < ctx->input_count; i++) {
    const op_fact *fact = ctx->inputs[i];
    for (int32_t j = 0; fact != NULL && j < fact->rank; j++) {
      if (op_dim_is_number(fact->dims[j]) || fact->dims[j] == OP_DIM_UNKNOWN) continue;
      if (os_str_eq(os_dims_print(inferring->dims, inferring->arena, fact->dims[j]), name))
        return fact->dims[j];
    }
  }
  return os_dims_symbol(inferring->dims, os_arena_copy(inferring->arena, name));
}

static os_status os_infer__read_shape(op_infer *ctx, uint32_t output, const os_json_document *document,
                                      const os_json *shape) {
  if (!os_json_is(shape, OS_JSON_ARRAY) || shape->length > OP_MAX_RANK)
    return op_infer_fail(ctx, OP_FAULT_SHAPE,
                         "the kernel's shape of output %u is no list of at most %d dimensions", output,
                         OP_MAX_RANK);
  op_dim *dims = op_infer_set_rank(ctx, output, (int32_t)shape->length);
  if (dims == NULL) return OS_OUT_OF_MEMORY;
  uint32_t i = 0;
  OS_JSON_EACH(dim, shape) {
    if (os_json_is(dim, OS_JSON_NUMBER)) {
      os_decimal number = os_decimal_of(os_json_source(document, dim));
      if (!os_decimal_int64(&number, &dims[i]) || dims[i] < 0)
        return op_infer_fail(ctx, OP_FAULT_SHAPE,
                             "the kernel's shape of output %u has a dimension that is no size", output);
    } else if (os_json_is(dim, OS_JSON_STRING)) {
      dims[i] = os_infer__named_dim(ctx, os_json_string(dim));
    }
    i++;
  }
  return OS_OK;
}

os_status os_infer_read_json(op_infer *ctx, os_str json) {
  os_inferring *inferring = ctx->inferring;
  os_json_document document;
  OS_TRY(os_json_parse(&document, inferring->arena, (os_str){"", 0}, json, &(os_json_options){0}, NULL));
  uint32_t output = 0;
  OS_JSON_EACH(fact, document.root) {
    uint32_t index = output++;
    if (index >= ctx->output_count) break;
    if (!os_json_is(fact, OS_JSON_OBJECT) || !op_infer_has_output(ctx, index)) continue;
    const os_json *type = os_json_member(fact, "type"), *shape = os_json_member(fact, "shape");
    if (os_json_is(type, OS_JSON_STRING) && type->length > 0) {
      op_type id;
      os_type_fault fault;
      OS_TRY(os_type_parse(inferring->types, inferring->arena, os_json_string(type), &id, &fault));
      if (id == 0)
        return op_infer_fail(ctx, OP_FAULT_TYPE,
                             "the kernel's type of output %u, \"%.*s\", is no type expression", index,
                             OS_ARG(os_json_string(type)));
      op_infer_set_type(ctx, index, id);
    }
    if (shape != NULL && !os_json_is(shape, OS_JSON_NULL))
      OS_TRY(os_infer__read_shape(ctx, index, &document, shape));
  }
  return OS_OK;
}
