#include "bundle.h"

enum { LONGEST_NAME = 4096 }; // no file system has longer ones; their folders are not looked at

// In the index: a file's place + 1; 0 for a folder.
os_status os_bundle_index(os_bundle *self, os_arena *arena) {
  os_map *map = OS_ARENA_NEW(arena, os_map);
  OS_TRY_ALLOC(map);
  os_map_init(map, arena);
  for (size_t i = 0; i < self->count; i++) {
    os_str name = self->files[i].name;
    bool added;
    os_map_entry *entry = os_map_put(map, name, &added);
    OS_TRY_ALLOC(entry);
    if (added) entry->value.number = i + 1;
    for (size_t end = name.len <= LONGEST_NAME ? name.len : 0; end-- > 0;) {
      if (name.data[end] != '/') continue;
      OS_TRY_ALLOC(os_map_put(map, os_str_slice(name, 0, end + 1), &added));
      if (!added) break; // its parents are known, too
    }
  }
  self->by_name = map;
  return OS_OK;
}

bool os_bundle_has_folder(const os_bundle *self, os_str folder) {
  return self->by_name != NULL && os_map_get(self->by_name, folder) != NULL;
}

os_status os_bundle_read(const os_bundle *self, size_t index, os_file *file) {
  *file = self->files[index];
  if (file->state != OS_FILE_UNREAD) return OS_OK;
  if (self->read != NULL)
    OS_TRY(self->read(self->context, file->name, file));
  else
    file->state = OS_FILE_UNREADABLE;
  // Read once: what it points to lives as long as the bundle.
  if (file->state != OS_FILE_UNREAD) self->files[index] = *file;
  return OS_OK;
}

static size_t os_bundle__place(const os_bundle *self, os_str name) {
  if (self->by_name != NULL) {
    const os_map_entry *entry = os_map_get(self->by_name, name);
    return entry == NULL || entry->value.number == 0 ? self->count : entry->value.number - 1;
  }
  size_t i = 0;
  while (i < self->count && !os_str_eq(self->files[i].name, name)) i++;
  return i;
}

os_status os_bundle_find(const os_bundle *self, os_str name, os_file *file) {
  size_t place = os_bundle__place(self, name);
  if (place < self->count) return os_bundle_read(self, place, file);
  *file = (os_file){.name = name, .state = OS_FILE_MISSING};
  if (self->complete || self->read == NULL) return OS_OK;
  return self->read(self->context, name, file);
}
