// minizip's file layer over one block of memory. It takes the place of minizip's ioapi.c, whose functions open files.
#include "zip_memory.h"

#include <ioapi.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
  const unsigned char *data;
  size_t size;
  size_t at;
  int cut; // a read went past the end: minizip alone would take that for zeros
} os_zip_stream;

static voidpf os_zip__open(voidpf opaque, const void *stream, int mode) {
  (void)opaque;
  if ((mode & ZLIB_FILEFUNC_MODE_READWRITEFILTER) != ZLIB_FILEFUNC_MODE_READ) return NULL;
  os_zip_stream *copy = malloc(sizeof *copy);
  if (copy != NULL) *copy = *(const os_zip_stream *)stream;
  return copy;
}

static uLong os_zip__read(voidpf opaque, voidpf stream, void *to, uLong wanted) {
  os_zip_stream *self = stream;
  (void)opaque;
  size_t left = self->size - self->at;
  size_t count = wanted < left ? (size_t)wanted : left;
  if (count > 0) memcpy(to, self->data + self->at, count);
  self->at += count;
  if (count < wanted) self->cut = 1;
  return (uLong)count;
}

static uLong os_zip__write(voidpf opaque, voidpf stream, const void *from, uLong count) {
  (void)opaque, (void)stream, (void)from, (void)count;
  return 0;
}

static int os_zip__close(voidpf opaque, voidpf stream) {
  (void)opaque;
  free(stream);
  return 0;
}

static int os_zip__error(voidpf opaque, voidpf stream) {
  (void)opaque;
  return ((const os_zip_stream *)stream)->cut;
}

unzFile os_zip_open(const void *data, size_t size) {
  os_zip_stream stream = {data, size, 0, 0};
  zlib_filefunc64_def functions = {
      .zopen64_file = os_zip__open,
      .zread_file = os_zip__read,
      .zwrite_file = os_zip__write,
      .zclose_file = os_zip__close,
      .zerror_file = os_zip__error,
  };
  return unzOpen2_64(&stream, &functions);
}

// The functions of ioapi.h that unzip.c calls.

voidpf call_zopen64(const zlib_filefunc64_32_def *functions, const void *name, int mode) {
  if (functions->zfile_func64.zopen64_file == NULL) return NULL;
  return functions->zfile_func64.zopen64_file(functions->zfile_func64.opaque, name, mode);
}

ZPOS64_T call_ztell64(const zlib_filefunc64_32_def *functions, voidpf stream) {
  (void)functions;
  return ((const os_zip_stream *)stream)->at;
}

long call_zseek64(const zlib_filefunc64_32_def *functions, voidpf stream, ZPOS64_T offset, int origin) {
  os_zip_stream *self = stream;
  (void)functions;
  size_t base = origin == ZLIB_FILEFUNC_SEEK_CUR   ? self->at
                : origin == ZLIB_FILEFUNC_SEEK_END ? self->size
                                                   : 0;
  if (offset > self->size - base) return -1;
  self->at = base + (size_t)offset;
  return 0;
}

void fill_fopen64_filefunc(zlib_filefunc64_def *functions) { memset(functions, 0, sizeof *functions); }

void fill_zlib_filefunc64_32_def_from_filefunc32(zlib_filefunc64_32_def *to, const zlib_filefunc_def *from) {
  (void)from;
  memset(to, 0, sizeof *to);
}
