#ifndef OPSPEC_BUNDLE_H
#define OPSPEC_BUNDLE_H

#include "map.h"

#include <opspec/status.h>

// Files that came along with a document, by name ('/' between folders). Bytes are borrowed.
typedef enum os_file_state {
  OS_FILE_BYTES,      // `bytes` are there
  OS_FILE_UNREAD,     // it is there, `read` brings its bytes
  OS_FILE_UNREADABLE, // it is there, but cannot be read in a synchronous call (a Blob)
  OS_FILE_MISSING,
} os_file_state;

typedef struct os_file {
  os_str name;
  os_str bytes;
  os_file_state state;
} os_file;

typedef struct os_bundle {
  os_file *files;
  size_t count;
  bool
      complete; // the list holds all there is; else a name that is not in it may still be asked for with `read`
  // Fills state and bytes (which live as long as the bundle) of the file `name`. May be NULL.
  os_status (*read)(void *context, os_str name, os_file *file);
  void *context;
  const os_map *by_name; // filled by os_bundle_index; NULL: names are compared one by one
} os_bundle;

// Makes looking up names fast and folders known. Call it again when `files` has changed.
os_status os_bundle_index(os_bundle *self, os_arena *arena);
// Whether a file lies in that folder, whose name ends in '/'. Needs the index.
bool os_bundle_has_folder(const os_bundle *self, os_str folder);

// The file of that name, read; its state is OS_FILE_MISSING when there is none.
os_status os_bundle_find(const os_bundle *self, os_str name, os_file *file);
// Reads files[index] if need be.
os_status os_bundle_read(const os_bundle *self, size_t index, os_file *file);

#endif
