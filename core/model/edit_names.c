#include "model_edit.h"

#include "names.h"

// ---- Survey: what the names mean and where they are taken -------------------------------------------------

typedef struct os_known_name {
  bool input, output, defined; // in the main graph
  bool taken;                  // stands anywhere
  bool inside;                 // a graph inside defines it, too
  os_str place;
  const struct os_known_name *origin; // whose name it gets
  os_str name;
} os_known_name;

typedef struct os_survey {
  os_names names; // first
  os_map known;
  os_arena *arena;
} os_survey;

static os_status os_survey__name(os_names *names, os_name_role role, void *message, protobuf_c_boolean *has,
                                 ProtobufCBinaryData *at) {
  os_survey *self = (os_survey *)names;
  (void)message, (void)has;
  const os_map_entry *entry = os_map_get(&self->known, os_bytes_str(*at));
  if (entry == NULL) return OS_OK;
  os_known_name *known = entry->value.pointer;
  bool root = os_names_at_root(names) && !names->in_node;
  known->defined |= role == OS_NAME_DEFINED && os_names_at_root(names);
  known->inside |= role == OS_NAME_DEFINED && !os_names_at_root(names);
  known->input |= role == OS_NAME_DEFINED && root && strcmp(names->field, "input") == 0;
  known->output |= role == OS_NAME_USED && root && strcmp(names->field, "output") == 0;
  if (!known->taken) known->place = os_names_place(names, self->arena);
  known->taken = true;
  return OS_OK;
}

static os_status os_survey__add(os_survey *self, os_str name, os_known_name **out) {
  bool added;
  os_map_entry *entry = os_map_put(&self->known, name, &added);
  OS_TRY_ALLOC(entry);
  if (added) {
    os_known_name *known = OS_ARENA_NEW(self->arena, os_known_name);
    OS_TRY_ALLOC(known);
    known->name = name;
    entry->value.pointer = known;
  }
  *out = entry->value.pointer;
  return OS_OK;
}

// ---- Replacing --------------------------------------------------------------------------------------------

typedef struct os_replaced_name {
  ProtobufCBinaryData to;
  size_t shadowed; // graphs around that define the name themselves
} os_replaced_name;

typedef struct os_shadow {
  size_t depth;
  os_replaced_name *name;
} os_shadow;

typedef struct os_replacing {
  os_names names; // first
  os_map map;     // to os_replaced_name
  os_changes *edit;
  struct {
    os_shadow *items;
    size_t count, room;
  } shadows;
} os_replacing;

// A graph inside defines the name itself.
static os_status os_replacing__shadow(os_replacing *self, os_replaced_name *name) {
  os_shadow *shadow = OS_PUSH(&self->names.arena, &self->shadows);
  OS_TRY_ALLOC(shadow);
  *shadow = (os_shadow){self->names.frames.count, name};
  name->shadowed++;
  return OS_OK;
}

static os_status os_replacing__name(os_names *names, os_name_role role, void *message,
                                    protobuf_c_boolean *has, ProtobufCBinaryData *at) {
  os_replacing *self = (os_replacing *)names;
  const os_map_entry *entry = os_map_get(&self->map, os_bytes_str(*at));
  if (entry == NULL) return OS_OK;
  os_replaced_name *name = entry->value.pointer;
  bool root = os_names_at_root(names);
  if (role == OS_NAME_DEFINED && !root) return os_replacing__shadow(self, name);
  if (name->shadowed > 0) return OS_OK;
  const protobuf_c_boolean yes = 1;
  if (has != NULL) OS_TRY(os_changes_put(self->edit, message, has, &yes, sizeof yes));
  return os_changes_put(self->edit, message, at, &name->to, sizeof name->to);
}

static void os_replacing__leave(os_names *names) {
  os_replacing *self = (os_replacing *)names;
  while (self->shadows.count > 0 && self->shadows.items[self->shadows.count - 1].depth == names->frames.count)
    self->shadows.items[--self->shadows.count].name->shadowed--;
}

static os_status os_replacing__add(os_replacing *self, os_arena *arena, os_str from, os_str to) {
  os_replaced_name *name = OS_ARENA_NEW(arena, os_replaced_name);
  os_map_entry *entry = name == NULL ? NULL : os_map_put(&self->map, from, NULL);
  OS_TRY_ALLOC(entry);
  name->to = os_bytes_of(os_arena_copy(self->edit->arena, to));
  entry->value.pointer = name;
  return name->to.data == NULL && to.len > 0 ? OS_OUT_OF_MEMORY : OS_OK;
}

os_status os_edit_walk(os_model_edit *self, Onnx__GraphProto *graph, os_names *names) {
  bool main = graph == self->model->graph;
  return os_names_walk(names, self->memory, main ? self->model : NULL, main ? NULL : graph);
}

// ---- Renaming ---------------------------------------------------------------------------------------------

static os_str os_edit__names_of(os_model_edit *self, Onnx__ValueInfoProto *const *infos, size_t count) {
  enum { SOME = 6 };
  os_str list = OS_STR("");
  for (size_t i = 0; i < count && i < SOME; i++)
    list = os_arena_format(self->arena, "%.*s%s\"%.*s\"", OS_ARG(list), i == 0 ? "" : ", ",
                           OS_ARG(os_bytes_str(infos[i]->name)));
  return count > SOME ? os_arena_format(self->arena, "%.*s, ...", OS_ARG(list)) : list;
}

// One rename, of what the names mean after those before it.
static os_status os_edit__rename(os_model_edit *self, const os_rename *rename, os_known_name *from,
                                 os_known_name *to) {
  const Onnx__GraphProto *graph = self->model->graph;
  os_str name = rename->from, nowhere = {"", 0};
  if (rename->kind == OS_RENAME_INPUT && !from->input)
    return os_edit_refuse(self, OS_INVALID_ARGUMENT, nowhere,
                          "the graph has no input \"%.*s\"; its inputs are %.*s", OS_ARG(name),
                          OS_ARG(os_edit__names_of(self, graph->input, graph->n_input)));
  if (rename->kind == OS_RENAME_OUTPUT && !from->output)
    return os_edit_refuse(self, OS_INVALID_ARGUMENT, nowhere,
                          "the graph has no output \"%.*s\"; its outputs are %.*s", OS_ARG(name),
                          OS_ARG(os_edit__names_of(self, graph->output, graph->n_output)));
  if (!from->defined && !from->output)
    return os_edit_refuse(self, OS_INVALID_ARGUMENT, from->taken ? from->place : nowhere,
                          "the graph has no value \"%.*s\"%s", OS_ARG(name),
                          from->taken ? " of its own" : "");
  if (rename->to.len == 0)
    return os_edit_refuse(self, OS_INVALID_ARGUMENT, nowhere, "an empty name is none, for \"%.*s\"",
                          OS_ARG(name));
  if (from == to) return OS_OK;
  if (to->taken)
    return os_edit_refuse(self, OS_INVALID_ARGUMENT, to->place,
                          "\"%.*s\" cannot be called \"%.*s\": that name is taken by %.*s", OS_ARG(name),
                          OS_ARG(rename->to), OS_ARG(to->place));
  os_str own = to->name;
  const os_known_name *origin = from->origin;
  *to = *from;
  to->name = own;
  to->origin = origin;
  *from =
      (os_known_name){.name = from->name, .taken = to->inside, .inside = to->inside, .place = from->place};
  return OS_OK;
}

os_status os_edit_rename(os_model_edit *self, const os_rename *renames, size_t count, size_t *failed) {
  os_survey survey = {.names = {.name = os_survey__name}, .arena = self->arena};
  os_replacing replacing = {.names = {.name = os_replacing__name, .leave = os_replacing__leave},
                            .edit = &self->edit};
  os_known_name **pairs = OS_ARENA_ARRAY(self->arena, 2 * count, os_known_name *);
  OS_TRY_ALLOC(pairs);
  *failed = 0;
  os_map_init(&survey.known, self->arena);
  os_map_init(&replacing.map, self->arena);
  for (size_t i = 0; i < count; i++) {
    OS_TRY(os_survey__add(&survey, renames[i].from, &pairs[2 * i]));
    OS_TRY(os_survey__add(&survey, renames[i].to, &pairs[2 * i + 1]));
  }
  OS_TRY(os_edit_walk(self, self->model->graph, &survey.names));
  // Each name stands for itself at first; `origin` says for what it stands afterwards.
  for (size_t i = 0; i < 2 * count; i++) {
    os_known_name *origin = OS_ARENA_NEW(self->arena, os_known_name);
    OS_TRY_ALLOC(origin);
    origin->name = pairs[i]->name;
    if (pairs[i]->origin == NULL) pairs[i]->origin = origin;
  }
  for (size_t i = 0; i < count; i++) {
    *failed = i;
    OS_TRY(os_edit__rename(self, &renames[i], pairs[2 * i], pairs[2 * i + 1]));
  }
  for (size_t i = count; i-- > 0;) { // of several for one value the last counts
    const os_known_name *to = pairs[2 * i + 1];
    if (to->origin == NULL || os_str_eq(to->origin->name, to->name) ||
        os_map_get(&replacing.map, to->origin->name) != NULL)
      continue;
    OS_TRY(os_replacing__add(&replacing, self->arena, to->origin->name, to->name));
  }
  if (replacing.map.count == 0) return OS_OK;
  return os_edit_walk(self, self->model->graph, &replacing.names);
}
