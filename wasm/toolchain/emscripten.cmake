# CMake toolchain file: Emscripten as install.sh left it. Needs no environment.
include("${CMAKE_CURRENT_LIST_DIR}/locate.cmake")

if(NOT EXISTS "${OPSPEC_TOOLCHAIN_DIR}/emscripten")
  message(FATAL_ERROR "No Emscripten in ${OPSPEC_TOOLCHAIN_DIR}: run wasm/toolchain/install.sh first.")
endif()
file(READ "${OPSPEC_TOOLCHAIN_DIR}/emscripten" opspec_emscripten)
include("${opspec_emscripten}/cmake/Modules/Platform/Emscripten.cmake")
# The wrappers name a Python, so that no version manager's shim is started at each call.
if(EXISTS "${OPSPEC_TOOLCHAIN_DIR}/bin/emcc")
  set(CMAKE_C_COMPILER "${OPSPEC_TOOLCHAIN_DIR}/bin/emcc")
endif()
