# System packages: which are missing, and their installation through apt.

as_root() {
  if [ "$(id -u)" = 0 ]; then "$@"
  elif command -v sudo >/dev/null && sudo -n true 2>/dev/null; then sudo -n DEBIAN_FRONTEND=noninteractive "$@"
  else return 126; fi
}

by_hand() {                 # the packages $@ cannot be installed from here
  say 'these system packages are missing and cannot be installed from here; run this first:'
  say "  apt-get update && apt-get install --no-install-recommends $*"
  exit 2
}

apt_install() {             # from the system's own sources
  local opt=(-o DPkg::Lock::Timeout=300 -o Acquire::Retries=3) p
  [ "$dry" = 0 ] || by_hand "$@"
  command -v apt-get >/dev/null || die "these are missing, and this system has no apt-get: $*"
  as_root true || by_hand "$@"
  for p in "$@"; do say "installing: $p (system package)"; done
  as_root apt-get "${opt[@]}" -qq update >"$work/apt.log" 2>&1 9>&- </dev/null ||
    { tail -n 20 "$work/apt.log" >&2; die 'apt-get update failed'; }
  as_root apt-get "${opt[@]}" -qq -y --no-install-recommends -o Dpkg::Use-Pty=0 install "$@" \
    >"$work/apt.log" 2>&1 9>&- </dev/null || { tail -n 20 "$work/apt.log" >&2; die "apt-get could not install: $*"; }
}

# Sets $system_emcc to the first emcc on PATH that is new enough and not ours.
find_emcc() {
  local candidate version
  system_emcc=''
  while IFS= read -r candidate; do
    case $candidate in '' | "$tc"/*) continue ;; esac
    version=$("$candidate" --version 2>/dev/null |
      sed -n '1s/.* \([0-9][0-9]*\.[0-9][0-9]*\.[0-9][0-9]*\).*/\1/p') || version=''
    if [ -n "$version" ] && at_least "$version" "$min_emcc"; then system_emcc=$candidate; return 0; fi
    say "emcc ${version:-?} at $candidate is older than $min_emcc: not used"
  done < <(type -aP emcc 2>/dev/null || true)
  return 1
}

# Sets $python to one with the whole standard library, which python3-minimal lacks. The system's first: a version
# manager's shim costs time at each call of emcc.
find_python() {
  for python in /usr/bin/python3 "$(command -v python3 || true)"; do
    [ -n "$python" ] && "$python" -E -c 'import shlex, json, subprocess' 2>/dev/null && return 0
  done
  return 1
}

any_command() { local c; for c in "$@"; do command -v "$c" >/dev/null && return 0; done; return 1; }

system_install() {
  local packages=() missing=() p
  if wants wasm || wants sources || wants native; then
    any_command cmake || missing+=(cmake)
    any_command ninja || missing+=(ninja-build)
    any_command xz || missing+=(xz-utils)
  fi
  if wants wasm; then
    any_command node || die 'node is not on PATH: install Node.js 20 or later first'
    find_python || missing+=(python3)
    if [ "$mode" = private ]; then packages+=(clang-19 lld-19 llvm-19)
    elif ! find_emcc; then
      [ "$os_id" = debian ] ||
        die "no emcc >= $min_emcc on PATH, and this is ${os_id:-an unknown system}, not Debian: install Emscripten first"
      packages+=(emscripten)
    fi
    [ "$mode" = private ] || packages+=(protobuf-c-compiler libsimde-dev)
  fi
  if wants native; then
    if [ "$mode" = private ]; then packages+=(clang-19 lld-19 llvm-19 libclang-rt-19-dev)
    else packages+=(clang lld llvm libclang-rt-dev); fi
  fi
  ! wants format || any_command clang-format-19 || packages+=(clang-format-19)
  ! wants browser || any_command chromium chromium-browser google-chrome || packages+=(chromium)

  if [ ${#packages[@]} -gt 0 ]; then
    if any_command dpkg-query; then
      local installed
      installed=$'\n'$(dpkg-query -W -f '${db:Status-Status} ${Package}\n' "${packages[@]}" 2>/dev/null |
        sed -n 's/^installed //p' || true)$'\n'
      for p in "${packages[@]}"; do
        case $installed${missing[*]+$'\n'"${missing[*]}"$'\n'} in *$'\n'"$p"$'\n'*) ;; *) missing+=("$p") ;; esac
      done
    else
      # No dpkg: the tools themselves are what counts.
      ! wants native || any_command clang-19 clang || missing+=(clang)
      ! wants wasm || any_command protoc-c || missing+=(protobuf-c)
      ! wants format || any_command clang-format-19 || missing+=(clang-format)
      ! wants browser || any_command chromium chromium-browser google-chrome || missing+=(chromium)
    fi
  fi
  [ ${#missing[@]} -eq 0 ] || apt_install $(printf '%s\n' "${missing[@]}" | sort -u)
  ! wants wasm || find_python || die 'no usable python3'
}
