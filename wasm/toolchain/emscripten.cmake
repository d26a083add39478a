# CMake toolchain file: Emscripten as install.sh left it. Needs no environment.
include("${CMAKE_CURRENT_LIST_DIR}/locate.cmake")

if(NOT EXISTS "${OPSPEC_TOOLCHAIN_DIR}/emscripten")
  message(FATAL_ERROR "No Emscripten in ${OPSPEC_TOOLCHAIN_DIR}: run wasm/toolchain/install.sh first.")
endif()
file(STRINGS "${OPSPEC_TOOLCHAIN_DIR}/emscripten" opspec_emscripten)
list(POP_BACK opspec_emscripten opspec_python)
include("${opspec_emscripten}/cmake/Modules/Platform/Emscripten.cmake")
# Named, so that no version manager's shim is started at each call of emcc.
set(CMAKE_C_COMPILER_LAUNCHER env "EMSDK_PYTHON=${opspec_python}")
