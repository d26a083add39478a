# Targets for other people's C: cjson, protobuf_c, regexp, zip. Their headers are system headers and their warnings theirs.

function(opspec_thirdparty name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;INCLUDES;DEFINES")
  add_library(${name} STATIC ${arg_SOURCES})
  target_include_directories(${name} SYSTEM PUBLIC ${arg_INCLUDES})
  target_compile_definitions(${name} PRIVATE ${arg_DEFINES})
  target_compile_options(${name} PRIVATE -w)
  target_link_libraries(${name} PRIVATE opspec_flags)
endfunction()

# The struct, constructors and accessors; its parser and printer are not called.
opspec_thirdparty(cjson
  SOURCES "${OPSPEC_SRC_CJSON}/cJSON.c"
  INCLUDES "${OPSPEC_SRC_CJSON}"
  DEFINES CJSON_HIDE_SYMBOLS)

opspec_thirdparty(protobuf_c
  SOURCES "${OPSPEC_SRC_PROTOBUF_C}/protobuf-c/protobuf-c.c"
  INCLUDES "${OPSPEC_SRC_PROTOBUF_C}")

# Whoever links it defines lre_check_stack_overflow, lre_check_timeout and lre_realloc (see libregexp.h); its messages are
# printed by core/base.
opspec_thirdparty(regexp
  SOURCES
    "${OPSPEC_SRC_QUICKJS}/cutils.c"
    "${CMAKE_CURRENT_LIST_DIR}/regexp_counted.c"
    "${OPSPEC_SRC_QUICKJS}/libunicode.c"
  INCLUDES "${OPSPEC_SRC_QUICKJS}" "${CMAKE_CURRENT_LIST_DIR}"
  DEFINES _GNU_SOURCE vsnprintf=os_format_list)

# Reads archives that lie in memory: zip_memory.h opens one, minizip's unzip.h walks it. No file is ever opened. Checksums
# go byte by byte (Z_TESTW=0: one table of 1 kB), and the table of fixed codes is built when needed where one thread is.
set(opspec_zip_defines NOUNCRYPT NO_GZIP Z_TESTW=0)
if(EMSCRIPTEN AND NOT OPSPEC_THREADS)
  list(APPEND opspec_zip_defines BUILDFIXED)
endif()
opspec_thirdparty(zip
  SOURCES
    "${OPSPEC_SRC_ZLIB}/adler32.c"
    "${OPSPEC_SRC_ZLIB}/crc32.c"
    "${OPSPEC_SRC_ZLIB}/inffast.c"
    "${OPSPEC_SRC_ZLIB}/inflate.c"
    "${OPSPEC_SRC_ZLIB}/inftrees.c"
    "${OPSPEC_SRC_ZLIB}/zutil.c"
    "${OPSPEC_SRC_ZLIB}/contrib/minizip/unzip.c"
    "${CMAKE_CURRENT_LIST_DIR}/zip_memory.c"
  INCLUDES
    "${OPSPEC_SRC_ZLIB}"
    "${OPSPEC_SRC_ZLIB}/contrib/minizip"
    "${CMAKE_CURRENT_LIST_DIR}"
  DEFINES ${opspec_zip_defines})
