#include "zip.h"

#include "json.h"

#include <zip_memory.h>

enum { OS_ZIP_NAME = 4096, OS_ZIP_PIECE = 1 << 20 };

typedef struct os_zip__list {
  os_file *items;
  size_t count, room;
} os_zip__list;

typedef struct os_zip__reader {
  os_arena *arena;
  unzFile zip;
  uint64_t left; // bytes that may still be unpacked
  os_zip__list files;
  os_str *trouble;
} os_zip__reader;

bool os_data_set_number(os_str folder, unsigned *number) {
  static const os_str prefix = OS_STR_INIT("test_data_set_");
  if (!os_str_starts(folder, prefix) || folder.len == prefix.len || folder.len > prefix.len + 6) return false;
  unsigned value = 0;
  for (size_t i = prefix.len; i < folder.len; i++) {
    if (folder.data[i] < '0' || folder.data[i] > '9') return false;
    value = value * 10 + (unsigned)(folder.data[i] - '0');
  }
  *number = value;
  return true;
}

enum { OS_ZIP_UNIX = 3, OS_ZIP_KIND = 0170000, OS_ZIP_LINK = 0120000 };

// Folders, and what macOS adds, are no files of a bundle.
static bool os_zip__wanted(os_str name) {
  static const os_str clutter = OS_STR_INIT("__MACOSX/");
  return name.len > 0 && name.data[name.len - 1] != '/' && !os_str_starts(name, clutter);
}

// Is it a path that leads from the archive's top to a file in it, whoever reads it?
static bool os_zip__plain(os_str name) {
  size_t start = 0;
  for (size_t i = 0; i <= name.len; i++) {
    if (i < name.len && name.data[i] != '/') continue;
    os_str part = os_str_slice(name, start, i);
    if (part.len == 0 || os_str_is(part, "..") || os_str_is(part, ".")) return false;
    start = i + 1;
  }
  return memchr(name.data, '\\', name.len) == NULL && memchr(name.data, '\0', name.len) == NULL;
}

// A name for a message: whoever made the archive chose it.
static os_str os_zip__told(os_arena *arena, os_str name) { return os_json_quote_head(arena, name); }

static os_status os_zip__damaged(os_zip__reader *self, os_str name) {
  *self->trouble = os_arena_format(self->arena, "%.*s cannot be unpacked: the archive is damaged",
                                   OS_ARG(os_zip__told(self->arena, name)));
  return OS_MALFORMED;
}

static os_status os_zip__no_list(os_zip__reader *self) {
  *self->trouble = OS_STR("the archive's list of files is damaged");
  return OS_MALFORMED;
}

// Unpacks the current entry. The size that the archive claims is only where the buffer starts from.
static os_status os_zip__unpack(os_zip__reader *self, os_str name, uint64_t claimed, os_str *bytes) {
  if (claimed > self->left) {
    *self->trouble = os_arena_format(self->arena, "%.*s unpacks to %llu bytes, %llu are left of the limit",
                                     OS_ARG(os_zip__told(self->arena, name)), (unsigned long long)claimed,
                                     (unsigned long long)self->left);
    return OS_LIMIT;
  }
  char *to = os_arena_alloc(self->arena, (size_t)claimed + 1);
  OS_TRY_ALLOC(to);
  if (unzOpenCurrentFile(self->zip) != UNZ_OK) return os_zip__damaged(self, name);
  size_t size = 0;
  while (size <= claimed) {
    size_t room = (size_t)claimed + 1 - size;
    int got = unzReadCurrentFile(self->zip, to + size, (unsigned)(room < OS_ZIP_PIECE ? room : OS_ZIP_PIECE));
    if (got < 0) return os_zip__damaged(self, name);
    if (got == 0) break;
    size += (size_t)got;
  }
  // Closing answers whether the checksum was right.
  if (unzCloseCurrentFile(self->zip) != UNZ_OK || size != claimed) return os_zip__damaged(self, name);
  self->left -= claimed;
  *bytes = (os_str){to, size};
  return OS_OK;
}

static os_status os_zip__entry(os_zip__reader *self) {
  char text[OS_ZIP_NAME];
  unz_file_info64 info;
  if (unzGetCurrentFileInfo64(self->zip, &info, text, sizeof text, NULL, 0, NULL, 0) != UNZ_OK)
    return os_zip__no_list(self);
  if (info.size_filename >= sizeof text) {
    *self->trouble = OS_STR("a name in the archive is too long");
    return OS_LIMIT;
  }
  os_str name = {text, info.size_filename};
  if (!os_zip__wanted(name)) return OS_OK;
  bool is_link = info.version >> 8 == OS_ZIP_UNIX && (info.external_fa >> 16 & OS_ZIP_KIND) == OS_ZIP_LINK;
  if (is_link || !os_zip__plain(name)) {
    *self->trouble = os_arena_format(self->arena, "%.*s is %s", OS_ARG(os_zip__told(self->arena, name)),
                                     is_link ? "a link" : "no path inside the archive");
    return OS_MALFORMED;
  }
  if (self->files.count >= OS_ZIP_FILES) {
    *self->trouble = OS_STR("the archive holds too many files");
    return OS_LIMIT;
  }
  if ((info.flag & 1) != 0) {
    *self->trouble =
        os_arena_format(self->arena, "%.*s is encrypted", OS_ARG(os_zip__told(self->arena, name)));
    return OS_UNSUPPORTED;
  }
  if (info.compression_method != 0 && info.compression_method != Z_DEFLATED) {
    *self->trouble =
        os_arena_format(self->arena, "%.*s is packed in a way that is not known here (%u)",
                        OS_ARG(os_zip__told(self->arena, name)), (unsigned)info.compression_method);
    return OS_UNSUPPORTED;
  }
  os_file *file = OS_PUSH(self->arena, &self->files);
  OS_TRY_ALLOC(file);
  file->name = os_arena_copy(self->arena, name);
  OS_TRY_ALLOC(file->name.data);
  file->state = OS_FILE_BYTES;
  return os_zip__unpack(self, file->name, info.uncompressed_size, &file->bytes);
}

// Length of the one folder that everything lies in, its '/' included; 0 when there is none.
static size_t os_zip__top(const os_zip__list *files) {
  if (files->count == 0) return 0;
  os_str first = files->items[0].name;
  const char *slash = memchr(first.data, '/', first.len);
  if (slash == NULL) return 0;
  os_str top = {first.data, (size_t)(slash - first.data) + 1};
  unsigned number;
  if (os_data_set_number(os_str_slice(top, 0, top.len - 1), &number)) return 0;
  for (size_t i = 1; i < files->count; i++) {
    if (!os_str_starts(files->items[i].name, top)) return 0;
  }
  return top.len;
}

static os_status os_zip__entries(os_zip__reader *self) {
  unz_global_info64 all;
  if (unzGetGlobalInfo64(self->zip, &all) == UNZ_OK && all.number_entry == 0) return OS_OK;
  int at = unzGoToFirstFile(self->zip);
  for (; at == UNZ_OK; at = unzGoToNextFile(self->zip)) OS_TRY(os_zip__entry(self));
  return at == UNZ_END_OF_LIST_OF_FILE ? OS_OK : os_zip__no_list(self);
}

os_status os_zip_read(os_arena *arena, os_str bytes, uint64_t limit, os_bundle *out, os_str *trouble) {
  uint64_t growth = (uint64_t)bytes.len * OS_ZIP_GROWTH;
  if (growth < OS_ZIP_FREE) growth = OS_ZIP_FREE;
  if (limit == 0) limit = OS_ZIP_LIMIT;
  os_zip__reader self = {.arena = arena, .left = limit < growth ? limit : growth, .trouble = trouble};
  *trouble = (os_str){"", 0};
  self.zip = os_zip_open(bytes.data, bytes.len);
  if (self.zip == NULL) {
    *trouble = OS_STR("not a zip archive");
    return OS_MALFORMED;
  }
  os_status status = os_zip__entries(&self);
  unzClose(self.zip);
  OS_TRY(status);
  size_t top = os_zip__top(&self.files);
  for (size_t i = 0; i < self.files.count; i++) {
    os_str *name = &self.files.items[i].name;
    *name = os_str_slice(*name, top, name->len);
  }
  *out = (os_bundle){.files = self.files.items, .count = self.files.count, .complete = true};
  OS_TRY(os_bundle_index(out, arena));
  for (size_t i = 0; i < out->count; i++) {
    if (os_map_get(out->by_name, out->files[i].name)->value.number == i + 1) continue;
    *trouble = os_arena_format(arena, "%.*s is in the archive twice",
                               OS_ARG(os_zip__told(arena, out->files[i].name)));
    return OS_MALFORMED;
  }
  return OS_OK;
}
