#ifndef OS_ZIP_MEMORY_H
#define OS_ZIP_MEMORY_H

#include <stddef.h>
#include <unzip.h>

// Opens the zip archive that is the `size` bytes at `data`, which stay the caller's and must outlive the handle.
// Walk it with minizip's unz* functions and close it with unzClose. NULL: not an archive, or out of memory.
// Sizes and names that minizip reports are the archive's own claims: bound them before trusting them.
unzFile os_zip_open(const void *data, size_t size);

#endif
