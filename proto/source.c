#include "source.h"

const uint8_t *os_source_find(const os_source *self, uint64_t offset, uint64_t n) {
  if (offset > self->length || n > self->length - offset) return NULL;
  if (self->data != NULL) return self->data + offset;
  return self->find == NULL ? NULL : self->find(self->context, offset, n);
}

os_status os_source_read(const os_source *self, uint64_t offset, size_t n, void *to) {
  if (offset > self->length || n > self->length - offset) return OS_MALFORMED;
  if (n == 0) return OS_OK;
  const uint8_t *bytes = os_source_find(self, offset, n);
  if (bytes == NULL) return self->read(self->context, offset, n, to);
  memcpy(to, bytes, n);
  return OS_OK;
}
