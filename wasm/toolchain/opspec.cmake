# The functions that the CMakeLists.txt of each folder calls. Adding a source, test or fuzz target is one line there.

include("${CMAKE_CURRENT_LIST_DIR}/flags.cmake")

# opspec_library(NAME base SOURCES arena.c ... [LINKS json ...])
#
# One folder, one library that exposes that folder's headers. It may link only what the order of the folders has brought
# already, so that an include of something further right does not compile. Without sources: headers only.
function(opspec_library)
  cmake_parse_arguments(PARSE_ARGV 0 arg "" "NAME" "SOURCES;LINKS")
  opspec__check_links("${arg_NAME}" ${arg_LINKS})
  if(arg_SOURCES)
    add_library(${arg_NAME} STATIC ${arg_SOURCES})
    target_include_directories(${arg_NAME} PUBLIC "${CMAKE_CURRENT_SOURCE_DIR}")
    target_link_libraries(${arg_NAME} PUBLIC ${arg_LINKS} PRIVATE opspec_flags opspec_warnings)
  else()
    add_library(${arg_NAME} INTERFACE)
    target_include_directories(${arg_NAME} INTERFACE "${CMAKE_CURRENT_SOURCE_DIR}")
    target_link_libraries(${arg_NAME} INTERFACE ${arg_LINKS})
  endif()
endfunction()

# opspec_speed(json_scan.c ...)
#
# Sources of this folder that the release compiles for speed. All others it compiles for size: most of the module's code runs
# once a document or once a node.
function(opspec_speed)
  set_source_files_properties(${ARGN} PROPERTIES COMPILE_OPTIONS "$<$<CONFIG:Release>:-O3>")
endfunction()

# opspec_balanced(check_text.c ...)
#
# Loops over elements, and what runs once for each part of a large document: -Os inlines more than the rest gets and less
# than opspec_speed's, whose code is larger here and not faster.
function(opspec_balanced)
  set_source_files_properties(${ARGN} PROPERTIES COMPILE_OPTIONS "$<$<CONFIG:Release>:-Os>")
endfunction()

function(opspec__check_links name)
  foreach(link IN LISTS ARGN)
    if(NOT TARGET ${link})
      message(FATAL_ERROR "${name} links ${link}, which does not stand to its left in the order of folders.")
    endif()
  endforeach()
endfunction()

# opspec_families(NAME kernels FAMILIES elementwise reduce ...)
#
# Writes families.h, whose table op_families holds each family, where NAME and what links it can include it. Who wants
# others beside them asks the target property OPSPEC_FAMILIES.
function(opspec_families)
  cmake_parse_arguments(PARSE_ARGV 0 arg "" "NAME" "FAMILIES")
  opspec_families_header("${CMAKE_CURRENT_BINARY_DIR}" ${arg_FAMILIES})
  set_target_properties(${arg_NAME} PROPERTIES OPSPEC_FAMILIES "${arg_FAMILIES}")
  get_target_property(type ${arg_NAME} TYPE)
  if(type STREQUAL "INTERFACE_LIBRARY")
    target_include_directories(${arg_NAME} INTERFACE "${CMAKE_CURRENT_BINARY_DIR}")
  else()
    target_include_directories(${arg_NAME} PUBLIC "${CMAKE_CURRENT_BINARY_DIR}")
  endif()
endfunction()

# opspec_families_header(FOLDER elementwise reduce ...): families.h in that folder.
function(opspec_families_header folder)
  list(TRANSFORM ARGN PREPEND "op_family_" OUTPUT_VARIABLE names)
  list(TRANSFORM names PREPEND "&" OUTPUT_VARIABLE entries)
  list(JOIN names ",\n  " OPSPEC_FAMILY_NAMES)
  list(JOIN entries ",\n  " OPSPEC_FAMILY_ENTRIES)
  configure_file("${PROJECT_SOURCE_DIR}/wasm/toolchain/families.h.in" "${folder}/families.h" @ONLY)
endfunction()

# opspec_proto(NAME proto_messages PROTOS onnx-data.proto ... [GENERATED onnx.proto ...])
#
# A library of protoc-c's structs and descriptors for .proto files of this folder; their headers are onnx.pb-c.h, ...
# They may import protobuf-c/protobuf-c.proto for its options. Without protos: an empty library.
function(opspec_proto)
  cmake_parse_arguments(PARSE_ARGV 0 arg "" "NAME" "PROTOS;GENERATED")
  find_program(OPSPEC_PROTOC_C protoc-c HINTS "${OPSPEC_TOOLCHAIN_DIR}/bin" REQUIRED)
  set(out "${CMAKE_CURRENT_BINARY_DIR}")
  set(generated "")
  set(inputs "")
  list(TRANSFORM arg_PROTOS PREPEND "${CMAKE_CURRENT_SOURCE_DIR}/")
  list(TRANSFORM arg_GENERATED PREPEND "${out}/")
  foreach(proto IN LISTS arg_GENERATED arg_PROTOS)
    get_filename_component(stem "${proto}" NAME_WLE)
    list(APPEND generated "${out}/${stem}.pb-c.c" "${out}/${stem}.pb-c.h")
    list(APPEND inputs "${proto}")
  endforeach()
  if(NOT inputs)
    add_library(${arg_NAME} INTERFACE)
    target_link_libraries(${arg_NAME} INTERFACE protobuf_c)
    return()
  endif()
  add_custom_command(
    OUTPUT ${generated}
    COMMAND "${OPSPEC_PROTOC_C}" "--c_out=${out}" "-I${out}" "-I${CMAKE_CURRENT_SOURCE_DIR}" "-I${OPSPEC_SRC_PROTOBUF_C}"
      "-I${OPSPEC_TOOLCHAIN_DIR}/include" ${inputs}
    DEPENDS ${inputs}
    VERBATIM)
  add_library(${arg_NAME} STATIC ${generated})
  target_include_directories(${arg_NAME} SYSTEM PUBLIC "${out}")
  target_compile_options(${arg_NAME} PRIVATE -w)
  target_link_libraries(${arg_NAME} PUBLIC protobuf_c PRIVATE opspec_flags)
endfunction()

# opspec_generate(SCRIPT generate.js OUTPUTS a.c a.h INPUTS data.json ... [ARGS x ...] [DEPENDS b.js ...])
#
# Runs `node SCRIPT --out <this folder's build folder> ARGS... INPUTS...` at build time whenever SCRIPT, an input
# or one of DEPENDS (what SCRIPT imports) is newer; the script writes exactly OUTPUTS there. Relative paths are below the calling folder. List the outputs among a
# library's sources as "${CMAKE_CURRENT_BINARY_DIR}/a.c"; `opspec_generated(base)` lets its sources include a.h.
function(opspec_generate)
  cmake_parse_arguments(PARSE_ARGV 0 arg "" "SCRIPT" "OUTPUTS;INPUTS;ARGS;DEPENDS")
  find_program(OPSPEC_NODE NAMES node nodejs NO_CMAKE_FIND_ROOT_PATH REQUIRED)
  list(TRANSFORM arg_OUTPUTS PREPEND "${CMAKE_CURRENT_BINARY_DIR}/")
  set(inputs "")
  foreach(input IN LISTS arg_INPUTS)
    get_filename_component(input "${input}" ABSOLUTE)
    list(APPEND inputs "${input}")
  endforeach()
  get_filename_component(script "${arg_SCRIPT}" ABSOLUTE)
  add_custom_command(
    OUTPUT ${arg_OUTPUTS}
    COMMAND "${OPSPEC_NODE}" "${script}" --out "${CMAKE_CURRENT_BINARY_DIR}" ${arg_ARGS} ${inputs}
    DEPENDS "${script}" ${inputs} ${arg_DEPENDS}
    VERBATIM)
endfunction()

# Lets the sources of the library `name`, and of what links it, include the headers that opspec_generate wrote here.
function(opspec_generated name)
  target_include_directories(${name} PUBLIC "${CMAKE_CURRENT_BINARY_DIR}")
endfunction()

# opspec_test(NAME arena SOURCES arena_test.c LINKS base ... [ARGS x ...] [WASM])
#
# A unit test: its sources lie in tests/c, its program exits with 0 when it passed. LINKS may name any library. With WASM
# it is also run as WebAssembly: for what depends on simd.h or on the engine.
function(opspec_test)
  cmake_parse_arguments(PARSE_ARGV 0 arg "WASM" "NAME" "SOURCES;LINKS;ARGS")
  if(NOT OPSPEC_TESTS OR (EMSCRIPTEN AND NOT arg_WASM))
    return()
  endif()
  list(TRANSFORM arg_SOURCES PREPEND "${PROJECT_SOURCE_DIR}/tests/c/")
  add_executable(test_${arg_NAME} ${arg_SOURCES})
  target_include_directories(test_${arg_NAME} PRIVATE "${PROJECT_SOURCE_DIR}/tests/c")
  target_link_libraries(test_${arg_NAME} PRIVATE ${arg_LINKS} opspec_flags opspec_warnings opspec_program)
  add_test(NAME ${arg_NAME} COMMAND test_${arg_NAME} ${arg_ARGS} WORKING_DIRECTORY "${PROJECT_SOURCE_DIR}")
endfunction()

# opspec_fuzz(NAME json SOURCES json_fuzz.c LINKS json [CORPUS folder ...])
#
# A libFuzzer target whose sources lie in tests/fuzz. In a fuzz build: the fuzzer fuzz_json. In any other build: a test
# that runs the files of CORPUS (below tests/fuzz; default corpus/<name>) through it once.
function(opspec_fuzz)
  cmake_parse_arguments(PARSE_ARGV 0 arg "" "NAME" "SOURCES;LINKS;CORPUS")
  if(EMSCRIPTEN OR NOT (OPSPEC_TESTS OR OPSPEC_FUZZ))
    return()
  endif()
  list(TRANSFORM arg_SOURCES PREPEND "${PROJECT_SOURCE_DIR}/tests/fuzz/")
  if(NOT arg_CORPUS)
    set(arg_CORPUS "corpus/${arg_NAME}")
  endif()
  list(TRANSFORM arg_CORPUS PREPEND "${PROJECT_SOURCE_DIR}/tests/fuzz/")
  add_executable(fuzz_${arg_NAME} ${arg_SOURCES})
  target_include_directories(fuzz_${arg_NAME} PRIVATE "${PROJECT_SOURCE_DIR}/tests/fuzz" "${PROJECT_SOURCE_DIR}/tests/c")
  target_link_libraries(fuzz_${arg_NAME} PRIVATE ${arg_LINKS} opspec_flags opspec_warnings opspec_program)
  if(OPSPEC_FUZZ)
    target_link_options(fuzz_${arg_NAME} PRIVATE -fsanitize=fuzzer)
  else()
    target_sources(fuzz_${arg_NAME} PRIVATE "${PROJECT_SOURCE_DIR}/tests/fuzz/replay_driver.c")
    add_test(NAME fuzz_${arg_NAME} COMMAND fuzz_${arg_NAME} ${arg_CORPUS})
  endif()
endfunction()
