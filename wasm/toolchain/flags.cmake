# opspec_flags: what all C is compiled with, other people's included. opspec_warnings: ours only. opspec_program: tests.

add_library(opspec_flags INTERFACE)
# No contraction: native and wasm builds give the same bits. No aliasing rule: tensors are read as other types' bytes.
target_compile_options(opspec_flags INTERFACE
  -ffp-contract=off -fno-math-errno -fno-strict-aliasing -fvisibility=hidden -ffunction-sections -fdata-sections)

add_library(opspec_warnings INTERFACE)
target_compile_options(opspec_warnings INTERFACE
  -Wall -Wextra -Wshadow -Wundef -Wstrict-prototypes -Wmissing-prototypes -Wvla -Werror)

add_library(opspec_program INTERFACE)

if(EMSCRIPTEN)
  target_compile_options(opspec_flags INTERFACE -msimd128 -mnontrapping-fptoint -mbulk-memory)
  # Small structs (os_str) are passed member by member and not by way of the stack: 18 kB less code. Results stay as they
  # were, for clang 19 miscompiles functions that return larger structs as several results. libc passes structs the old way:
  # none may pass between it and us, which the linker sees as a mismatch of signatures and refuses.
  target_compile_options(opspec_flags INTERFACE -mno-multivalue "SHELL:-Xclang -target-abi -Xclang experimental-mv")
  target_link_options(opspec_flags INTERFACE -Wl,--fatal-warnings)
  if(OPSPEC_RELAXED_SIMD)
    target_compile_options(opspec_flags INTERFACE -mrelaxed-simd)
    target_compile_definitions(opspec_flags INTERFACE OPSPEC_RELAXED_SIMD=1)
  endif()
  # Test programs run in Node with its file system.
  target_link_options(opspec_program INTERFACE
    -sENVIRONMENT=node -sEXIT_RUNTIME -sNODERAWFS -sALLOW_MEMORY_GROWTH -sSTACK_SIZE=1048576)
else()
  find_path(OPSPEC_SIMDE simde/wasm/simd128.h HINTS "${OPSPEC_TOOLCHAIN_DIR}/include" REQUIRED)
  target_include_directories(opspec_flags SYSTEM INTERFACE "${OPSPEC_SIMDE}")
  # lld: libraries refer to each other in both directions (kernels call what core/op offers), which it does not mind.
  target_link_options(opspec_program INTERFACE -fuse-ld=lld)
  target_link_libraries(opspec_program INTERFACE m)
endif()

if(OPSPEC_THREADS)
  target_compile_definitions(opspec_flags INTERFACE OPSPEC_THREADS=1)
  target_compile_options(opspec_flags INTERFACE -pthread)
  target_link_options(opspec_flags INTERFACE -pthread)
endif()
if(OPSPEC_SANITIZE)
  set(opspec_sanitizers -fsanitize=address,undefined)
  target_compile_options(opspec_flags INTERFACE
    ${opspec_sanitizers} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  target_link_options(opspec_flags INTERFACE ${opspec_sanitizers})
endif()
if(OPSPEC_FUZZ)
  target_compile_options(opspec_flags INTERFACE -fsanitize=fuzzer-no-link)
endif()
