// How the module's memory grows. An engine makes a new buffer of all of it each time and, with the old ones still to be
// collected, may collect each time: growing by a share of what there is keeps that rare.

#include <stddef.h>

enum { PAGE = 65536 };

int __real_emscripten_resize_heap(size_t size);
int __wrap_emscripten_resize_heap(size_t size);

// By the linker in place of emscripten_resize_heap: room for `size` bytes in all. Answers whether there is.
int __wrap_emscripten_resize_heap(size_t size) {
  size_t now = __builtin_wasm_memory_size(0) * PAGE, more = now + now / 4;
  return (more > size && __real_emscripten_resize_heap(more)) || __real_emscripten_resize_heap(size);
}
