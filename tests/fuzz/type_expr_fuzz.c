#include "type_expr.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

// What parses prints, and the print parses to the same type; a suggestion is such a print.
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  os_memory memory = {.limit = 64 << 20};
  os_arena arena;
  os_arena_init(&arena, &memory);
  os_types *types = os_types_new(&arena);
  op_type type = 0, again = 0;
  os_type_fault fault, other;
  if (types != NULL &&
      os_type_parse(types, &arena, (os_str){(const char *)data, size}, &type, &fault) == OS_OK) {
    os_str printed = type != 0 ? os_types_print(types, &arena, type) : fault.suggestion;
    if (printed.len > 0) {
      if (os_type_parse(types, &arena, printed, &again, &other) != OS_OK || again == 0) abort();
      if (type != 0 && again != type) abort();
      if (!os_str_eq(os_types_print(types, &arena, again), printed)) abort();
    }
    if (type == 0 && (fault.offset > size || fault.len > size - fault.offset)) abort();
  }
  os_arena_clear(&arena);
  if (memory.used != 0) abort();
  return 0;
}
