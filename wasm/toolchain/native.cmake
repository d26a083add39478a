# CMake toolchain file: the clang that native tests are built with, the release that stands under Emscripten first.
find_program(OPSPEC_CLANG NAMES clang-19 clang REQUIRED)
set(CMAKE_C_COMPILER "${OPSPEC_CLANG}")
