# Shared by the steps of install.sh, which sources this file: messages, the toolchain's folder and its lock.

suite=trixie                # the Debian suite that has a new enough emscripten
min_emcc=3.1.60

say() { printf 'toolchain: %s\n' "$*" >&2; }
die() { say "error: $*"; exit 1; }

# True when version $1 is at least $2.
at_least() { [ "$(printf '%s\n%s\n' "$2" "$1" | sort -V | head -n 1)" = "$2" ]; }

# Puts the text on stdin into the executable $1, atomically.
write_tool() {
  cat >"$work/file"
  chmod 755 "$work/file"
  mv -f "$work/file" "$1"
}

# Sets $tc, $root, $em, $stamp, $work, $mode and the facts of /etc/os-release. One run at a time per toolchain: the lock
# goes with the process.
open_toolchain() {
  tc=${OPSPEC_TOOLCHAIN:-${XDG_CACHE_HOME:-${HOME:?HOME is not set}/.cache}/opspec/toolchain}
  mkdir -p "$tc"
  tc=$(cd "$tc" && pwd -P)
  case $tc in *[\'\"\\:]* | *$'\n'*) die "no quote, backslash or colon may be in: $tc" ;; esac
  root=$tc/root
  em=$root/usr/share/emscripten
  stamp=$tc/stamp
  work=$tc/work.$$
  trap 'rm -rf -- "$work"' EXIT
  trap 'exit 129' HUP
  trap 'exit 130' INT
  trap 'exit 143' TERM
  if command -v flock >/dev/null; then
    exec 9>"$tc/.lock"
    flock -n 9 || { say 'waiting for another run to finish'; flock 9; }
  fi
  rm -rf -- "$tc"/work.*
  mkdir -p "$work"

  os_id='' os_codename='' os_version=''
  if [ -r /etc/os-release ]; then
    eval "$(. /etc/os-release; printf 'os_id=%q os_codename=%q os_version=%q' \
      "${ID:-}" "${VERSION_CODENAME:-}" "${VERSION_ID:-}")"
  fi
  # private: the next release's tools, unpacked (Debian 12); system: what the system has.
  mode=system
  if [ "$os_id" = debian ] && [ -n "$os_version" ] && [ "${os_version%%.*}" -lt 13 ]; then mode=private; fi
}

quoted() { printf "'%s'" "${1//\'/\'\\\'\'}"; }

# Writes env.sh, which a shell and the npm scripts read; CMake needs none of it.
write_environment() {
  local folder='' name rest key
  find_python || python=python3
  if [ "$mode" = private ]; then
    [ ! -x "$em/emcc" ] || folder=$em
  elif find_emcc; then
    for name in "$(dirname "$(readlink -f "$system_emcc")")" \
      "$("${system_emcc%/*}/em-config" EMSCRIPTEN_ROOT 2>/dev/null || true)" /usr/share/emscripten; do
      if [ -f "$name/cmake/Modules/Platform/Emscripten.cmake" ]; then folder=$name; break; fi
    done
  elif wants wasm; then
    die "no emcc >= $min_emcc on PATH"
  fi
  {
    echo "# written by install.sh; read it with:  . $tc/env.sh"
    echo "export OPSPEC_TOOLCHAIN=$(quoted "$tc")"
    [ -z "$folder" ] || echo "export EMSCRIPTEN=$(quoted "$folder")"
    if [ "$mode" = private ]; then
      echo "export OPSPEC_SIMDE_INCLUDE=$(quoted "$tc/include")"
      if [ -n "$folder" ]; then
        echo "export EM_CONFIG=$(quoted "$em/.emscripten")"
        echo "export EMSDK_PYTHON=$(quoted "$python")"
        echo 'unset EM_LLVM_ROOT EM_BINARYEN_ROOT EM_CACHE'
      fi
      echo "case \":\$PATH:\" in *:$(quoted "$tc/bin"):*) ;; *) export PATH=$(quoted "$tc/bin"):\"\$PATH\" ;; esac"
    fi
    while read -r name rest; do
      case $name in '' | '#'*) continue ;; esac
      key=${name%%-[0-9]*}
      key=${key//-/_}
      echo "export OPSPEC_SRC_${key^^}=$(quoted "$tc/src/$name")"
    done <"$here/sources.list"
    # For CMake, which reads it where no shell did.
    printf '%s\n' "$folder" "$python" >"$work/emscripten"
    mv -f "$work/emscripten" "$tc/emscripten"
  } >"$work/env.sh"
  chmod 644 "$work/env.sh"
  mv -f "$work/env.sh" "$tc/env.sh"
}
