#include "column.h"
#include "host.h"
#include "map.h"
#include "rare.h"
#include "utf8.h"

// The nodes of a model's main graph for somebody who reads all of them: columns, which JavaScript turns into objects as
// they are asked for (wasm/src/nodes.js).
//
// What is left: address and count of each column, the bytes of the strings, whether these are ASCII. The columns are good
// until the next call.
//   numbers      8 bytes each: binary64, or int64 where an attribute says so
//   nodes        8 words each: op_type, domain, overload (words), first string, inputs, outputs, first attribute, attributes.
//                Its strings are its name, inputs and outputs
//   attributes   3 words each: name (word); type; where the value is: number, string, or list (number: count; first)
//   strings      a word each: where it ends
//   words        the same; those that nodes repeat
//   bytes        of the strings, then of the words

enum { NODE = 8, ATTRIBUTE = 3, SLOTS = 256 };
enum {        // beside AttributeProto.AttributeType
  LARGE = 32, // integers that a binary64 does not hold
  REFERENCE = 64,
};

typedef struct os_columns {
  os_arena *arena;
  os_column numbers, nodes, attributes, ends, bytes;
  os_map map;             // of words
  struct os_column_slot { // words met last
    os_str text;
    uint32_t number;
    bool known;
  } slots[SLOTS];
} os_columns;

// Room for all of a node.
static os_status os_columns__reserve(os_columns *self, const Onnx__NodeProto *node) {
  size_t strings = 1 + node->n_input + node->n_output + node->n_attribute, bytes = node->name.len,
         numbers = 2 * node->n_attribute;
  for (size_t i = 0; i < node->n_input; i++) bytes += node->input[i].len;
  for (size_t i = 0; i < node->n_output; i++) bytes += node->output[i].len;
  for (size_t i = 0; i < node->n_attribute; i++) {
    const Onnx__AttributeProto *attribute = node->attribute[i];
    const Onnx__AttributeProto__Rare *rare = os_attribute_rare(attribute);
    bytes += attribute->s.len + rare->ref_attr_name.len;
    numbers += attribute->n_ints + rare->n_floats;
    strings += rare->n_strings;
    for (size_t k = 0; k < rare->n_strings; k++) bytes += rare->strings[k].len;
  }
  bool there = os_column_room(self->arena, &self->numbers, numbers, 8) &&
               os_column_room(self->arena, &self->nodes, 1, NODE * 4) &&
               os_column_room(self->arena, &self->attributes, node->n_attribute, ATTRIBUTE * 4) &&
               os_column_room(self->arena, &self->ends, strings, 4) &&
               os_column_room(self->arena, &self->bytes, bytes, 1);
  return there ? OS_OK : OS_OUT_OF_MEMORY;
}

static inline void os_columns__words(os_column *column, const uint32_t *words, size_t count) {
  uint32_t *to = (uint32_t *)(void *)column->data + column->count++ * count;
  for (size_t i = 0; i < count; i++) to[i] = words[i];
}

static os_status os_columns__word(os_columns *self, ProtobufCBinaryData bytes, uint32_t *out) {
  os_str text = os_bytes_str(bytes);
  size_t at = text.len == 0
                  ? 0
                  : (text.len * 31 + (uint8_t)text.data[0] * 7 + (uint8_t)text.data[text.len - 1]) % SLOTS;
  struct os_column_slot *slot = &self->slots[at];
  if (slot->known && os_str_eq(slot->text, text)) {
    *out = slot->number;
    return OS_OK;
  }
  bool added;
  os_map_entry *entry = os_map_put(&self->map, text, &added);
  OS_TRY_ALLOC(entry);
  if (added) entry->value.number = self->map.count - 1;
  *out = (uint32_t)entry->value.number;
  *slot = (struct os_column_slot){text, *out, true};
  return OS_OK;
}

static uint32_t os_columns__string(os_columns *self, ProtobufCBinaryData bytes) {
  if (bytes.len > 0) os_bytes_copy(self->bytes.data + self->bytes.count, os_bytes_str(bytes).data, bytes.len);
  self->bytes.count += bytes.len;
  const uint32_t end = (uint32_t)self->bytes.count;
  os_columns__words(&self->ends, &end, 1);
  return (uint32_t)self->ends.count - 1;
}

static uint32_t os_columns__number(os_columns *self, const void *bits) {
  memcpy(self->numbers.data + self->numbers.count * 8, bits, 8);
  return (uint32_t)self->numbers.count++;
}

static uint32_t os_columns__double(os_columns *self, double value) {
  return os_columns__number(self, &value);
}

static bool os_columns__is_safe(int64_t value) {
  return value >= -9007199254740991 && value <= 9007199254740991;
}

static uint32_t os_columns__integer(os_columns *self, int64_t value, bool large) {
  return large ? os_columns__number(self, &value) : os_columns__double(self, (double)value);
}

static uint32_t os_columns__integers(os_columns *self, const Onnx__AttributeProto *attribute,
                                     uint32_t *type) {
  bool large = false;
  for (size_t i = 0; i < attribute->n_ints; i++) large |= !os_columns__is_safe(attribute->ints[i]);
  if (large) *type |= LARGE;
  uint32_t first = os_columns__double(self, (double)attribute->n_ints);
  for (size_t i = 0; i < attribute->n_ints; i++) os_columns__integer(self, attribute->ints[i], large);
  return first;
}

static os_status os_columns__attribute(os_columns *self, const Onnx__AttributeProto *attribute) {
  const Onnx__AttributeProto__Rare *rare = os_attribute_rare(attribute);
  uint32_t name, type = (uint32_t)attribute->type & (LARGE - 1), value = 0;
  OS_TRY(os_columns__word(self, attribute->name, &name));
  if (rare->ref_attr_name.len > 0) {
    type = REFERENCE;
    value = os_columns__string(self, rare->ref_attr_name);
  } else if (type == ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__FLOAT) {
    value = os_columns__double(self, (double)attribute->f);
  } else if (type == ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__INT) {
    bool large = !os_columns__is_safe(attribute->i);
    if (large) type |= LARGE;
    value = os_columns__integer(self, attribute->i, large);
  } else if (type == ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__STRING) {
    value = os_columns__string(self, attribute->s);
  } else if (type == ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__INTS) {
    value = os_columns__integers(self, attribute, &type);
  } else if (type == ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__FLOATS) {
    value = os_columns__double(self, (double)rare->n_floats);
    for (size_t i = 0; i < rare->n_floats; i++) os_columns__double(self, (double)rare->floats[i]);
  } else if (type == ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__STRINGS) {
    value = os_columns__double(self, (double)rare->n_strings);
    os_columns__double(self, (double)self->ends.count);
    for (size_t i = 0; i < rare->n_strings; i++) os_columns__string(self, rare->strings[i]);
  }
  const uint32_t row[ATTRIBUTE] = {name, type, value};
  os_columns__words(&self->attributes, row, ATTRIBUTE);
  return OS_OK;
}

static os_status os_columns__node(os_columns *self, const Onnx__NodeProto *node) {
  OS_TRY(os_columns__reserve(self, node));
  uint32_t row[NODE] = {0,
                        0,
                        0,
                        os_columns__string(self, node->name),
                        (uint32_t)node->n_input,
                        (uint32_t)node->n_output,
                        (uint32_t)self->attributes.count,
                        (uint32_t)node->n_attribute};
  OS_TRY(os_columns__word(self, node->op_type, &row[0]));
  OS_TRY(os_columns__word(self, node->domain, &row[1]));
  OS_TRY(os_columns__word(self, os_node_rare(node)->overload, &row[2]));
  for (size_t i = 0; i < node->n_input; i++) os_columns__string(self, node->input[i]);
  for (size_t i = 0; i < node->n_output; i++) os_columns__string(self, node->output[i]);
  for (size_t i = 0; i < node->n_attribute; i++) OS_TRY(os_columns__attribute(self, node->attribute[i]));
  os_columns__words(&self->nodes, row, NODE);
  return OS_OK;
}

static os_status os_columns__write(os_columns *self, os_text *out) {
  os_column words = {0};
  if (!os_column_room(self->arena, &words, self->map.count, 4)) return OS_OUT_OF_MEMORY;
  uint32_t plain = os_utf8_is_ascii((os_str){(const char *)self->bytes.data, self->bytes.count}),
           texts = (uint32_t)self->bytes.count;
  for (size_t i = 0; i < self->map.count; i++) {
    os_str text = self->map.entries[i].key;
    if (!os_column_room(self->arena, &self->bytes, text.len, 1)) return OS_OUT_OF_MEMORY;
    os_bytes_copy(self->bytes.data + self->bytes.count, text.data, text.len);
    self->bytes.count += text.len;
    const uint32_t end = (uint32_t)self->bytes.count;
    os_columns__words(&words, &end, 1);
  }
  if (self->bytes.count > UINT32_MAX / 2) return OS_LIMIT;
  const os_column *columns[] = {&self->numbers, &self->nodes, &self->attributes,
                                &self->ends,    &words,       &self->bytes};
  enum { COLUMNS = sizeof columns / sizeof *columns };
  uint32_t head[2 * COLUMNS + 2];
  for (size_t i = 0; i < COLUMNS; i++) {
    head[2 * i] = (uint32_t)(uintptr_t)columns[i]->data;
    head[2 * i + 1] = (uint32_t)columns[i]->count;
  }
  head[2 * COLUMNS] = texts;
  head[2 * COLUMNS + 1] = plain;
  os_text_put(out, (os_str){(const char *)head, sizeof head});
  return out->failed ? OS_OUT_OF_MEMORY : OS_OK;
}

// Most nodes are such.
static bool os_columns__begin(os_columns *self, size_t nodes) {
  enum { NAMES = 3, BYTES = 96 };
  return os_column_room(self->arena, &self->nodes, nodes, NODE * 4) &&
         os_column_room(self->arena, &self->attributes, nodes, ATTRIBUTE * 4) &&
         os_column_room(self->arena, &self->numbers, nodes, 8) &&
         os_column_room(self->arena, &self->ends, nodes * NAMES, 4) &&
         os_column_room(self->arena, &self->bytes, nodes * BYTES, 1);
}

os_status opspec_model_nodes(opspec_model *self) {
  opspec_env *env = self->env;
  os_host_begin(env);
  os_columns *columns = OS_ARENA_NEW(&env->scratch, os_columns);
  os_status status = columns == NULL ? OS_OUT_OF_MEMORY : os_document_whole(self->document);
  const Onnx__GraphProto *graph = os_host_graph(self); // of a lone graph there are none
  size_t count = self->document->kind == OS_KIND_MODEL ? graph->n_node : 0;
  if (status == OS_OK) {
    columns->arena = &env->scratch;
    os_map_init(&columns->map, &env->scratch);
    if (!os_columns__begin(columns, count)) status = OS_OUT_OF_MEMORY;
    for (size_t i = 0; i < count && status == OS_OK; i++) status = os_columns__node(columns, graph->node[i]);
    if (status == OS_OK) status = os_columns__write(columns, &env->output);
  }
  return status == OS_OK ? OS_OK : os_host_fail(env, status, (os_str){"", 0}, (os_str){"", 0}, NULL);
}
