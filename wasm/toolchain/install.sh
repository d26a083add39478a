#!/usr/bin/env bash
# Brings what opspec is built and tested with onto this machine, outside the checkout.
#
#   install.sh [--force] [--dry-run] [PART...]
#
# Parts (none named: wasm sources):
#   wasm      Emscripten, protoc-c, simde, cmake, ninja
#   sources   the pinned C sources of sources.list and descriptor.proto
#   native    clang with the sanitizer and libFuzzer runtimes
#   format    clang-format 19
#   browser   Chromium, for tests
#
#   --force    unpack again, even where a finished toolchain lies
#   --dry-run  install no system package: say which are missing and exit 2
#
# Everything of its own lies in $OPSPEC_TOOLCHAIN (default ~/.cache/opspec/toolchain); its env.sh sets PATH for a
# shell. A second run with nothing to do takes well under a second; a killed run is picked up by the next one.
#
# It downloads through apt only, from the Debian mirror that this machine already uses. Debian 12 reads the next
# release's suite of that mirror through a private apt configuration and leaves the system's own alone; Debian 13 and
# later install the distribution's packages; elsewhere emcc must be on PATH. OPSPEC_SOURCES may name a folder with the
# archives of sources.list, for use without network.
#
# Exit: 0 all there; 1 something failed; 2 a system package must be installed by hand first (the line to run is shown).

set -euo pipefail
export LC_ALL=C DEBIAN_FRONTEND=noninteractive
umask 022
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd -P)

force=0 dry=0 parts=' '
for arg in "$@"; do
  case $arg in
    --force) force=1 ;;
    --dry-run) dry=1 ;;
    wasm | sources | native | format | browser) parts+="$arg " ;;
    -h | --help) sed -n '2,/^$/s/^# \{0,1\}//p' "$0"; exit 0 ;;
    *) echo "toolchain: unknown argument: $arg" >&2; exit 2 ;;
  esac
done
[ "$parts" != ' ' ] || parts=' wasm sources '
wants() { case $parts in *" $1 "*) ;; *) return 1 ;; esac }

. "$here/install/common.sh"
. "$here/install/system.sh"
. "$here/install/mirror.sh"
. "$here/install/emscripten.sh"
. "$here/install/sources.sh"

open_toolchain
system_install
if wants wasm && [ "$mode" = private ]; then emscripten_install; fi
if wants sources; then sources_install; fi
write_environment
