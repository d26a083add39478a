function collected(free) {
  try {
    free()
  } catch {
    // Of a kernel's dispose: nobody is there to hear it.
  }
}

// Handles of the module that a caller forgets are freed when they are collected.
const forgotten = typeof FinalizationRegistry === 'function' ? new FinalizationRegistry(collected) : null

/** What a handle object is registered with; `free` must not refer to the object. */
export function watch(object, free) {
  const token = {}
  forgotten?.register(object, free, token)
  return () => forgotten?.unregister(token)
}
