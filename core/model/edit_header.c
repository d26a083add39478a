#include "form_read.h"
#include "model_edit.h"

// What a model says of itself.

os_status os_edit_metadata(os_model_edit *self, os_str key, os_str value) {
  Onnx__ModelProto *model = self->model;
  os_changes *edit = &self->edit;
  Onnx__StringStringEntryProto *entry = NULL;
  void *nothing = NULL;
  size_t found = 0;
  for (size_t i = 0; i < model->n_metadata_props; i++) {
    if (!os_str_eq(os_bytes_str(model->metadata_props[i]->key), key)) continue;
    if (found++ == 0 && value.data != NULL)
      entry = model->metadata_props[i];
    else
      OS_TRY(os_changes_put(edit, model, &model->metadata_props[i], &nothing, sizeof nothing));
  }
  if (value.data == NULL) {
    if (found == 0)
      return os_edit_refuse(self, OS_INVALID_ARGUMENT, OS_STR("metadata_props"),
                            "there is no metadata \"%.*s\" to be removed", OS_ARG(key));
    return os_changes_compact(edit, model, &model->metadata_props, &model->n_metadata_props);
  }
  if (entry != NULL) {
    OS_TRY(os_changes_compact(edit, model, &model->metadata_props, &model->n_metadata_props));
    return os_changes_text(edit, entry, &entry->has_value, &entry->value, value);
  }
  entry = OS_PROTO_NEW(edit->arena, Onnx__StringStringEntryProto, onnx__string_string_entry_proto__descriptor,
                       model);
  OS_TRY_ALLOC(entry);
  OS_TRY(os_changes_text(edit, entry, &entry->has_key, &entry->key, key));
  OS_TRY(os_changes_text(edit, entry, &entry->has_value, &entry->value, value));
  return os_changes_append(edit, model, &model->metadata_props, &model->n_metadata_props, entry);
}

static bool os_edit__same_domain(os_str a, os_str b) {
  if (os_str_is(a, "ai.onnx")) a.len = 0;
  if (os_str_is(b, "ai.onnx")) b.len = 0;
  return os_str_eq(a, b);
}

os_status os_edit_opset(os_model_edit *self, os_str domain, bool remove, int64_t version) {
  Onnx__ModelProto *model = self->model;
  os_changes *edit = &self->edit;
  void *nothing = NULL;
  size_t found = 0;
  for (size_t i = 0; i < model->n_opset_import; i++) {
    Onnx__OperatorSetIdProto *set = model->opset_import[i];
    if (!os_edit__same_domain(os_bytes_str(set->domain), domain)) continue;
    const protobuf_c_boolean yes = 1;
    found++;
    if (remove) {
      OS_TRY(os_changes_put(edit, model, &model->opset_import[i], &nothing, sizeof nothing));
    } else {
      OS_TRY(os_changes_put(edit, set, &set->has_version, &yes, sizeof yes));
      OS_TRY(os_changes_put(edit, set, &set->version, &version, sizeof version));
    }
  }
  if (remove && found == 0)
    return os_edit_refuse(self, OS_INVALID_ARGUMENT, OS_STR("opset_import"),
                          "there is no operator set \"%.*s\" to be removed", OS_ARG(domain));
  if (remove) return os_changes_compact(edit, model, &model->opset_import, &model->n_opset_import);
  if (found > 0) return OS_OK;
  Onnx__OperatorSetIdProto *set =
      OS_PROTO_NEW(edit->arena, Onnx__OperatorSetIdProto, onnx__operator_set_id_proto__descriptor, model);
  OS_TRY_ALLOC(set);
  set->has_version = 1;
  set->version = version;
  OS_TRY(os_changes_text(edit, set, &set->has_domain, &set->domain, domain));
  return os_changes_append(edit, model, &model->opset_import, &model->n_opset_import, set);
}

os_status os_edit_field(os_model_edit *self, os_str name, const os_str *text, const int64_t *number) {
  Onnx__ModelProto *model = self->model;
  os_str names = OS_STR("");
  for (unsigned i = 0; i < onnx__model_proto__descriptor.n_fields; i++) {
    const ProtobufCFieldDescriptor *field = &onnx__model_proto__descriptor.fields[i];
    bool is_text = field->type == PROTOBUF_C_TYPE_BYTES;
    if (field->label == PROTOBUF_C_LABEL_REPEATED || (!is_text && field->type != PROTOBUF_C_TYPE_INT64))
      continue;
    names = os_arena_format(self->arena, "%.*s%s%s", OS_ARG(names), names.len == 0 ? "" : ", ", field->name);
    if (!os_form_is_name(field->name, name, true)) continue;
    protobuf_c_boolean *has = (protobuf_c_boolean *)(void *)((char *)model + field->quantifier_offset);
    void *at = (char *)model + field->offset;
    if (text == NULL && number == NULL) {
      const protobuf_c_boolean no = 0;
      const ProtobufCBinaryData nothing = {0, NULL};
      OS_TRY(os_changes_put(&self->edit, model, has, &no, sizeof no));
      return os_changes_put(&self->edit, model, at, &nothing, is_text ? sizeof nothing : sizeof *number);
    }
    if (is_text != (text != NULL))
      return os_edit_refuse(self, OS_INVALID_ARGUMENT, os_str_of(field->name), "%s is %s", field->name,
                            is_text ? "a text" : "an integer");
    if (is_text) return os_changes_text(&self->edit, model, has, at, *text);
    const protobuf_c_boolean yes = 1;
    OS_TRY(os_changes_put(&self->edit, model, has, &yes, sizeof yes));
    return os_changes_put(&self->edit, model, at, number, sizeof *number);
  }
  return os_edit_refuse(self, OS_INVALID_ARGUMENT, (os_str){"", 0}, "\"%.*s\" is none of %.*s", OS_ARG(name),
                        OS_ARG(names));
}
