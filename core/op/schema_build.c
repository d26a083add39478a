#include "schema_build.h"

typedef struct os_schema__reader {
  os_arena *arena;
  const os_signatures *data;
  const uint8_t *at;
  const op_type **sets;
  bool failed;
} os_schema__reader;

static uint32_t os_schema__u8(os_schema__reader *self) { return *self->at++; }

static uint32_t os_schema__u16(os_schema__reader *self) {
  uint32_t low = os_schema__u8(self);
  return low | os_schema__u8(self) << 8;
}

static os_str os_schema__string(os_schema__reader *self) {
  return os_signature_string(self->data, os_schema__u16(self));
}

static int64_t os_schema__varint(os_schema__reader *self) {
  uint64_t value = 0;
  uint32_t byte, shift = 0;
  do {
    byte = os_schema__u8(self);
    value |= (uint64_t)(byte & 127) << shift;
    shift += 7;
  } while (byte >= 128 && shift < 64);
  return (int64_t)(value >> 1) ^ -(int64_t)(value & 1);
}

static float os_schema__float(os_schema__reader *self) {
  uint32_t bits = os_schema__u16(self);
  bits |= os_schema__u16(self) << 16;
  float value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

// Room for what a count byte announces.
static void *os_schema__room(os_schema__reader *self, uint32_t *count, size_t size) {
  *count = os_schema__u8(self);
  void *items = os_arena_array(self->arena, *count, size);
  if (items == NULL) self->failed = true;
  return items;
}

static const op_parameter *os_schema__parameters(os_schema__reader *self, uint32_t place, uint16_t *count) {
  self->at = &self->data->lists[place];
  uint32_t n;
  op_parameter *items = os_schema__room(self, &n, sizeof *items);
  *count = (uint16_t)n;
  for (uint32_t i = 0; items != NULL && i < n; i++) {
    items[i].name = os_schema__string(self);
    uint32_t flags = os_schema__u8(self);
    items[i].option = (op_option)(flags & 3);
    items[i].homogeneous = (flags & 4) == 0;
    items[i].min_arity = (flags & 8) == 0 && items[i].option != OP_OPTIONAL_PARAMETER;
    items[i].constraint = (int16_t)os_schema__u8(self);
  }
  return items;
}

static const op_type *os_schema__set(os_schema__reader *self, uint32_t set, uint16_t *count) {
  const uint8_t *at = &self->data->sets[self->data->starts[set]];
  *count = *at++;
  if (self->sets[set] != NULL) return self->sets[set];
  op_type *types = OS_ARENA_ARRAY(self->arena, *count, op_type);
  if (types == NULL) {
    self->failed = true;
    return NULL;
  }
  size_t n = 0;
  for (uint32_t runs = *at++; runs > 0; runs--, at += 2)
    for (op_type type = at[0]; type <= at[1] && n < *count; type++) types[n++] = type;
  self->sets[set] = types;
  return types;
}

static const op_type_parameter *os_schema__types(os_schema__reader *self, uint32_t place, uint16_t *count) {
  self->at = &self->data->lists[place];
  uint32_t n;
  op_type_parameter *items = os_schema__room(self, &n, sizeof *items);
  *count = (uint16_t)n;
  for (uint32_t i = 0; items != NULL && i < n; i++) {
    items[i].label = os_schema__string(self);
    items[i].types = os_schema__set(self, os_schema__u8(self), &items[i].count);
  }
  return items;
}

static void os_schema__list(os_schema__reader *self, op_attribute *value) {
  uint32_t n;
  if (value->kind == OP_ATTR_INTS) {
    int64_t *ints = os_schema__room(self, &n, sizeof *ints);
    for (uint32_t i = 0; ints != NULL && i < n; i++) ints[i] = os_schema__varint(self);
    value->as.ints = ints;
  } else if (value->kind == OP_ATTR_FLOATS) {
    float *floats = os_schema__room(self, &n, sizeof *floats);
    for (uint32_t i = 0; floats != NULL && i < n; i++) floats[i] = os_schema__float(self);
    value->as.floats = floats;
  } else {
    os_str *strings = os_schema__room(self, &n, sizeof *strings);
    for (uint32_t i = 0; strings != NULL && i < n; i++) strings[i] = os_schema__string(self);
    value->as.strings = strings;
  }
  value->count = n;
}

static const op_attribute_schema *os_schema__attributes(os_schema__reader *self, uint32_t place,
                                                        uint16_t *count) {
  self->at = &self->data->lists[place];
  uint32_t n;
  op_attribute_schema *items = os_schema__room(self, &n, sizeof *items);
  *count = (uint16_t)n;
  for (uint32_t i = 0; items != NULL && i < n && !self->failed; i++) {
    op_attribute_schema *item = &items[i];
    item->name = os_schema__string(self);
    uint32_t kind = os_schema__u8(self);
    item->kind = (op_attr_kind)(kind & 31);
    item->required = (kind & 32) != 0;
    item->has_default = (kind & 64) != 0;
    if (!item->has_default) continue;
    item->fallback = (op_attribute){.name = item->name, .kind = item->kind};
    if (item->kind == OP_ATTR_INT)
      item->fallback.as.i = os_schema__varint(self);
    else if (item->kind == OP_ATTR_FLOAT)
      item->fallback.as.f = os_schema__float(self);
    else if (item->kind == OP_ATTR_STRING)
      item->fallback.as.s = os_schema__string(self);
    else
      os_schema__list(self, &item->fallback);
  }
  return items;
}

static uint16_t os_schema__bound(uint8_t count) { return count == 255 ? UINT16_MAX : count; }

os_status os_signatures_read(os_signatures *self, os_arena *arena) {
  _Static_assert(sizeof(os_signature) == 18, "the generator writes 18 bytes a row");
  const uint8_t *part[5], *columns = (const uint8_t *)os_signature_data.data;
  for (size_t i = 0; i < 5; i++) part[i] = columns + os_signature_parts[i];
  uint8_t *rows = os_arena_array(arena, os_signature_count, sizeof(os_signature));
  OS_TRY_ALLOC(rows);
  for (size_t at = 0; at < sizeof(os_signature); at++)
    for (size_t i = 0; i < os_signature_count; i++) rows[i * sizeof(os_signature) + at] = *columns++;
  *self = (os_signatures){(const os_signature *)rows, (const uint16_t *)part[1], part[2], part[3], part[4]};
  return OS_OK;
}

op_schema *os_schema_build(os_arena *arena, const os_signatures *data, const os_signature *signature,
                           const op_type **sets) {
  op_schema *self = OS_ARENA_NEW(arena, op_schema);
  if (self == NULL) return NULL;
  os_schema__reader reader = {.arena = arena, .data = data, .sets = sets};
  self->domain = os_signature_domains[signature->domain].name;
  self->op_type = os_signature_string(data, signature->name);
  self->overload = OS_STR("");
  self->since = signature->since;
  self->deprecated = (signature->flags & 1) != 0;
  self->function = (signature->flags & 2) != 0;
  self->standard = true;
  self->min_inputs = signature->arity[0];
  self->max_inputs = os_schema__bound(signature->arity[1]);
  self->min_outputs = signature->arity[2];
  self->max_outputs = os_schema__bound(signature->arity[3]);
  self->inputs = os_schema__parameters(&reader, signature->inputs, &self->input_count);
  self->outputs = os_schema__parameters(&reader, signature->outputs, &self->output_count);
  self->type_parameters = os_schema__types(&reader, signature->types, &self->type_parameter_count);
  self->attributes = os_schema__attributes(&reader, signature->attributes, &self->attribute_count);
  self->source = "onnx";
  return reader.failed ? NULL : self;
}
