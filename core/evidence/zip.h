#ifndef OPSPEC_ZIP_H
#define OPSPEC_ZIP_H

#include "bundle.h"

// Reads all files of a .zip into the arena. One folder around everything is taken off, unless it is itself a data set
// (test_data_set_N). `__MACOSX` and folders are left out. Stops with OS_LIMIT at more than OS_ZIP_FILES files and when the
// contents are over `limit` bytes (0 = OS_ZIP_LIMIT), or over OS_ZIP_GROWTH times the archive's bytes where that is more than
// OS_ZIP_FREE; with OS_MALFORMED for damage, links, names that are no path inside the archive or there twice;
// *trouble then says what.
enum { OS_ZIP_FILES = 1000, OS_ZIP_GROWTH = 200, OS_ZIP_FREE = 1 << 24 };
#define OS_ZIP_LIMIT (UINT64_C(1) << 30)
os_status os_zip_read(os_arena *arena, os_str bytes, uint64_t limit, os_bundle *out, os_str *trouble);

// "test_data_set_3" -> true and 3.
bool os_data_set_number(os_str folder, unsigned *number);

#endif
