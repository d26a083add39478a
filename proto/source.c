#include "source.h"

os_status os_source_read(const os_source *self, uint64_t offset, size_t n, void *to) {
  if (offset > self->length || n > self->length - offset) return OS_MALFORMED;
  if (n == 0) return OS_OK;
  if (self->data == NULL) return self->read(self->context, offset, n, to);
  memcpy(to, self->data + offset, n);
  return OS_OK;
}
