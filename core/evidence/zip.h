#ifndef OPSPEC_ZIP_H
#define OPSPEC_ZIP_H

#include "bundle.h"

// Reads all files of a .zip into the arena. One folder around everything is taken off, unless it is itself a data set
// (test_data_set_N). `__MACOSX` and folders are left out. Stops with OS_LIMIT when the contents are over `limit` bytes
// (0 = OS_ZIP_LIMIT) and with OS_MALFORMED for damage, links, names that are no path inside the archive or there twice;
// *trouble then says what.
enum { OS_ZIP_FILES = 65535 };
#define OS_ZIP_LIMIT (UINT64_C(1) << 30)
os_status os_zip_read(os_arena *arena, os_str bytes, uint64_t limit, os_bundle *out, os_str *trouble);

// "test_data_set_3" -> true and 3.
bool os_data_set_number(os_str folder, unsigned *number);

#endif
