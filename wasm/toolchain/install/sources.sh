# The pinned C sources: archives below $tc/archives, unpacked below $tc/src. CMake checks the archives' hashes again.

sources__one() {            # $1 name, $2 path below the mirror, $3 source package, $4 SHA-256
  local file=$tc/archives/${2##*/} dir=$tc/src/$1
  if [ ! -r "$file" ] || [ "$force" = 1 ]; then
    say "installing: ${2##*/} (source archive below $tc)"
    if [ -n "${OPSPEC_SOURCES:-}" ] && [ -r "$OPSPEC_SOURCES/${2##*/}" ]; then
      cp "$OPSPEC_SOURCES/${2##*/}" "$work/archive"
    else
      download_source "$2" "$3" "$4" "$work/archive"
    fi
    printf '%s  %s\n' "$4" "$work/archive" | sha256sum -c --quiet >&2 || die "${2##*/} is not the pinned file"
    mv -f "$work/archive" "$file"
  fi
  [ "$force" = 0 ] && [ "$(cat "$dir/.sha256" 2>/dev/null || true)" = "$4" ] && return 0
  printf '%s  %s\n' "$4" "$file" | sha256sum -c --quiet >&2 || {
    rm -f "$file"
    die "${2##*/} was damaged and is removed: run again"
  }
  rm -rf -- "$work/src"
  mkdir "$work/src"
  tar -xf "$file" -C "$work/src" --strip-components=1 --no-same-owner
  echo "$4" >"$work/src/.sha256"
  rm -rf -- "$dir"
  mv "$work/src" "$dir"
}

# google/protobuf/descriptor.proto, which protobuf-c's options import: the one file of a package that brings much more.
sources__descriptor() {
  local to=$tc/include/google/protobuf/descriptor.proto place
  [ "$force" = 0 ] && [ -s "$to" ] && return 0
  mkdir -p "${to%/*}"
  for place in "${OPSPEC_SOURCES:-/nowhere}" /usr/include/google/protobuf /usr/local/include/google/protobuf; do
    [ -r "$place/descriptor.proto" ] && { cp "$place/descriptor.proto" "$to"; return 0; }
  done
  say "installing: descriptor.proto of $suite's libprotobuf-dev (below $tc)"
  download_debs "$work/protobuf" libprotobuf-dev
  dpkg-deb --fsys-tarfile "$work"/protobuf/*.deb |
    tar -xO ./usr/include/google/protobuf/descriptor.proto >"$work/descriptor.proto"
  mv "$work/descriptor.proto" "$to"
}

sources_install() {
  local name path package sha
  mkdir -p "$tc/src" "$tc/archives" "$tc/include"
  while read -r name path package sha; do
    case $name in '' | '#'*) continue ;; esac
    sources__one "$name" "$path" "$package" "$sha"
  done <"$here/sources.list"
  sources__descriptor
}
