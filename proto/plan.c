#include "plan.h"

#include "wire.h"

static uint8_t os_plan__wire(ProtobufCType type) {
  switch (type) {
  case PROTOBUF_C_TYPE_SFIXED32:
  case PROTOBUF_C_TYPE_FIXED32:
  case PROTOBUF_C_TYPE_FLOAT: return OS_WIRE_32;
  case PROTOBUF_C_TYPE_SFIXED64:
  case PROTOBUF_C_TYPE_FIXED64:
  case PROTOBUF_C_TYPE_DOUBLE: return OS_WIRE_64;
  case PROTOBUF_C_TYPE_STRING:
  case PROTOBUF_C_TYPE_BYTES:
  case PROTOBUF_C_TYPE_MESSAGE: return OS_WIRE_BYTES;
  default: return OS_WIRE_VARINT;
  }
}

static uint8_t os_plan__size(ProtobufCType type) {
  switch (type) {
  case PROTOBUF_C_TYPE_INT64:
  case PROTOBUF_C_TYPE_SINT64:
  case PROTOBUF_C_TYPE_SFIXED64:
  case PROTOBUF_C_TYPE_UINT64:
  case PROTOBUF_C_TYPE_FIXED64:
  case PROTOBUF_C_TYPE_DOUBLE: return 8;
  case PROTOBUF_C_TYPE_BYTES: return sizeof(ProtobufCBinaryData);
  case PROTOBUF_C_TYPE_STRING:
  case PROTOBUF_C_TYPE_MESSAGE: return sizeof(void *);
  default: return 4;
  }
}

static uint64_t os_plan__small(const ProtobufCEnumDescriptor *type) {
  uint64_t small = 0;
  for (unsigned i = 0; i < type->n_values; i++)
    if (type->values[i].value >= 0 && type->values[i].value < 64)
      small |= (uint64_t)1 << type->values[i].value;
  return small;
}

static void os_plan__field(os_plan_field *self, const ProtobufCMessageDescriptor *type, uint32_t index) {
  const ProtobufCFieldDescriptor *field = &type->fields[index];
  self->field = field;
  self->offset = field->offset;
  self->quantifier = field->quantifier_offset;
  self->index = (uint16_t)index;
  self->type = (uint8_t)field->type;
  self->wire = os_plan__wire(field->type);
  self->size = os_plan__size(field->type);
  self->repeated = field->label == PROTOBUF_C_LABEL_REPEATED;
  self->oneof = (field->flags & PROTOBUF_C_FIELD_FLAG_ONEOF) != 0;
  self->text = os_proto_field_is_text(type, field);
  self->plain = field->type == PROTOBUF_C_TYPE_INT32 || field->type == PROTOBUF_C_TYPE_INT64 ||
                field->type == PROTOBUF_C_TYPE_UINT32 || field->type == PROTOBUF_C_TYPE_UINT64;
  if (field->type == PROTOBUF_C_TYPE_ENUM) self->small = os_plan__small(field->descriptor);
  self->packable = self->repeated && self->wire != OS_WIRE_BYTES;
}

os_plan *os_plans_get(os_plans *self, const ProtobufCMessageDescriptor *type) {
  for (os_plan *plan = self->first; plan != NULL; plan = plan->next)
    if (plan->type == type) return plan;
  os_plan *plan = os_arena_zalloc(self->arena, sizeof *plan + type->n_fields * sizeof plan->fields[0]);
  if (plan == NULL) return NULL;
  plan->type = type;
  plan->count = type->n_fields;
  for (uint32_t i = 0; i < plan->count; i++) {
    os_plan__field(&plan->fields[i], type, i);
    if (type->fields[i].id < 64) plan->by_number[type->fields[i].id] = (uint8_t)(i + 1);
  }
  plan->next = self->first;
  self->first = plan;
  return plan;
}

const os_plan *os_plans_child(os_plans *self, const os_plan_field *field) {
  if (field->child == NULL)
    ((os_plan_field *)(uintptr_t)field)->child = os_plans_get(self, field->field->descriptor);
  return field->child;
}
