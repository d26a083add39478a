# Emscripten for Debian 12: the next release's packages unpacked into a private folder, their binaries run with that
# folder's own C library; the compiler underneath is the system's clang-19.

recipe=3                    # raise when the layout of the unpacked toolchain changes
debs=(emscripten binaryen protobuf-c-compiler libsimde-dev node-acorn
  libc6 libstdc++6 libgcc-s1 zlib1g libprotobuf32t64 libprotoc32t64)

emscripten__unpack() {
  local deb version lib=./usr/share/emscripten/cache/sysroot/lib/wasm32-emscripten
  for deb in "${debs[@]}"; do say "installing: $deb of $suite (unpacked below $root)"; done
  download_debs "$work/debs" "${debs[@]}"
  mkdir -p "$work/root"
  for deb in "$work"/debs/*.deb; do
    dpkg-deb --fsys-tarfile "$deb" | tar -x -C "$work/root" --no-same-owner \
      --exclude="$lib/lto" --exclude="$lib/lto-pic" --exclude="$lib/pic"
  done
  version=$(tr -d '"\n' <"$work/root/usr/share/emscripten/emscripten-version.txt")
  at_least "$version" "$min_emcc" || die "the suite $suite has emscripten $version, older than $min_emcc"
  # Nothing but the two renames lies between the old toolchain and the new one.
  rm -f "$stamp"
  rm -rf -- "$root.old"
  [ ! -e "$root" ] || mv "$root" "$root.old"
  mv "$work/root" "$root"
  rm -rf -- "$root.old"
}

# Cheap, so always written anew: the folder may have been moved.
emscripten__wrap() {
  local loader tool to
  loader=$(find "$root/usr/lib" -path '*-linux-gnu*' -name 'ld-linux*.so.*' | sort | sed -n 1p)
  [ -n "$loader" ] || die "no dynamic loader under $root"
  mkdir -p "$tc/binaryen/bin" "$tc/bin" "$tc/include" "$em/node_modules"
  for tool in "$root"/usr/bin/wasm* "$root/usr/bin/protoc-c"; do
    case $tool in */protoc-c) to=$tc/bin/protoc-c ;; *) to=$tc/binaryen/bin/${tool##*/} ;; esac
    write_tool "$to" <<TOOL
#!/bin/sh
# $suite's binary with $suite's libraries: it needs a newer libc than the system's.
unset LD_PRELOAD LD_LIBRARY_PATH
exec '$loader' --library-path '${loader%/*}' --argv0 '${tool##*/}' '$tool' "\$@"
TOOL
  done
  # simde alone, so that -I brings nothing else in.
  ln -sfn "$root/usr/include/simde" "$tc/include/simde"
  # The optimizer imports acorn as an ES module, which does not heed NODE_PATH.
  ln -sfn "$root/usr/share/nodejs/acorn" "$em/node_modules/acorn"
  # In the place where emcc looks without being told: tools that call it by its full path need no environment.
  write_tool "$em/.emscripten" <<TOOL
# written by install.sh
import shutil
LLVM_ROOT = '/usr/bin'
LLVM_ADD_VERSION = '19'
CLANG_ADD_VERSION = '19'
BINARYEN_ROOT = '$tc/binaryen'
NODE_JS = shutil.which('node') or shutil.which('nodejs') or '/usr/bin/node'
FROZEN_CACHE = True
TOOL
  chmod 644 "$em/.emscripten"
  for tool in emcc em++ emar emranlib emnm emstrip emsize emcmake emconfigure emmake em-config emsymbolizer; do
    [ -x "$em/$tool" ] || continue
    write_tool "$tc/bin/$tool" <<TOOL
#!/bin/sh
EM_CONFIG='$em/.emscripten' EMSDK_PYTHON=\${EMSDK_PYTHON:-$python} exec '$em/$tool' "\$@"
TOOL
  done
}

emscripten__try() {         # a program that uses SIMD compiles, links and runs
  local got
  cat >"$work/trial.c" <<'TRIAL'
#include <stdio.h>
#include <wasm_simd128.h>
int main(void) {
  v128_t sum = wasm_i32x4_add(wasm_i32x4_splat(40), wasm_i32x4_splat(2));
  printf("%d\n", wasm_i32x4_extract_lane(sum, 3));
  return 0;
}
TRIAL
  (cd "$work" && env -u EM_LLVM_ROOT -u EM_BINARYEN_ROOT -u EM_CACHE "$tc/bin/emcc" -O2 -msimd128 \
    -sEXPORT_ES6 -sMODULARIZE -sENVIRONMENT=node trial.c -o trial.mjs) >&2
  got=$(node --input-type=module -e 'import(process.argv[1]).then(m => m.default())' "$work/trial.mjs")
  [ "$got" = 42 ] || die "the trial program printed '$got'"
}

emscripten_install() {
  local want="recipe=$recipe full=0 suite=$suite" have deb
  have=$(sed -n 1p "$stamp" 2>/dev/null || true)
  if [ "$force" = 0 ] && [ "$have" = "$want" ] && [ -x "$em/emcc" ]; then
    emscripten__wrap
    return 0
  fi
  emscripten__unpack
  emscripten__wrap
  emscripten__try
  {
    echo "$want"
    for deb in "$work"/debs/*.deb; do
      dpkg-deb -f "$deb" Package Version | sed 's/^[^ ]* //' | paste -sd' '
    done | paste -sd, | sed 's/,/, /g'
  } >"$stamp.new"
  mv "$stamp.new" "$stamp"
}
