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

static void os_plan__field(os_plan_field *self, const ProtobufCMessageDescriptor *type,
                           const ProtobufCFieldDescriptor *field) {
  self->field = field;
  self->offset = field->offset;
  self->quantifier = field->quantifier_offset;
  self->type = (uint8_t)field->type;
  self->wire = os_plan__wire(field->type);
  self->size = os_plan__size(field->type);
  self->repeated = field->label == PROTOBUF_C_LABEL_REPEATED;
  self->oneof = (field->flags & PROTOBUF_C_FIELD_FLAG_ONEOF) != 0;
  self->text = os_proto_field_is_text(type, field);
  self->far = os_proto_field_is_far(type, field);
  self->plain = field->type == PROTOBUF_C_TYPE_INT32 || field->type == PROTOBUF_C_TYPE_INT64 ||
                field->type == PROTOBUF_C_TYPE_UINT32 || field->type == PROTOBUF_C_TYPE_UINT64;
  if (field->type == PROTOBUF_C_TYPE_ENUM) self->small = os_plan__small(field->descriptor);
  self->packable = self->repeated && self->wire != OS_WIRE_BYTES;
  self->payload = os_proto_field_is_payload(type, field);
  self->is_long = os_proto_field_is_long(type, field);
  self->packed = self->packable && (field->flags & PROTOBUF_C_FIELD_FLAG_PACKED) != 0;
}

static os_plan *os_plans__make(os_plans *self, const ProtobufCMessageDescriptor *type) {
  for (os_plan *plan = self->first; plan != NULL; plan = plan->next)
    if (plan->type == type) return plan;
  // Rare (rare.js) is the last field: no number is higher.
  const ProtobufCFieldDescriptor *aside = type->n_fields == 0 ? NULL : &type->fields[type->n_fields - 1];
  if (aside != NULL && aside->id != OS_FIELD_MAX) aside = NULL;
  const ProtobufCMessageDescriptor *rare = aside == NULL ? NULL : aside->descriptor;
  uint32_t own = type->n_fields - (aside != NULL), count = own + (rare == NULL ? 0 : rare->n_fields);
  os_plan *plan = os_arena_zalloc(self->arena, sizeof *plan + count * sizeof plan->fields[0]);
  if (plan == NULL) return NULL;
  plan->type = type;
  plan->rare = rare;
  for (uint32_t i = 0, j = 0; plan->count < count;) { // both are in the order of their numbers
    os_plan_field *field = &plan->fields[plan->count];
    bool here = j == count - own || (i < own && type->fields[i].id < rare->fields[j].id);
    os_plan__field(field, here ? type : rare, here ? &type->fields[i] : &rare->fields[j]);
    plan->count++;
    plan->has_long |= field->is_long;
    if (here) {
      i++;
    } else {
      j++;
      field->aside = aside->offset;
    }
    if (field->field->id < 64) plan->by_number[field->field->id] = (uint8_t)plan->count;
  }
  plan->next = self->first;
  self->first = plan;
  return plan;
}

os_plan *os_plans_get(os_plans *self, const ProtobufCMessageDescriptor *type) {
  os_plan **recent =
      &self->recent[(uintptr_t)type / sizeof *type % (sizeof self->recent / sizeof *self->recent)];
  if (*recent == NULL || (*recent)->type != type) *recent = os_plans__make(self, type);
  return *recent;
}

const os_plan *os_plans_child(os_plans *self, const os_plan_field *field) {
  if (field->child == NULL)
    ((os_plan_field *)(uintptr_t)field)->child = os_plans_get(self, field->field->descriptor);
  return field->child;
}

bool os_plans_all(os_plans *self, const ProtobufCMessageDescriptor *type) {
  const os_plan *done = NULL;
  bool good = os_plans_get(self, type) != NULL;
  while (good && done != self->first) { // new plans come first
    const os_plan *stop = done;
    done = self->first;
    for (const os_plan *plan = done; good && plan != stop; plan = plan->next)
      for (uint32_t i = 0; good && i < plan->count; i++)
        if (plan->fields[i].type == PROTOBUF_C_TYPE_MESSAGE)
          good = os_plans_child(self, &plan->fields[i]) != NULL;
  }
  return good;
}
