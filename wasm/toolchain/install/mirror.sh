# A private view of the machine's Debian mirror, at the suite $suite.

# Runs an apt tool on that view. Options rather than a file: they win over what the system configures, and the rest of
# the system's configuration (proxy, certificates, logins) still holds.
private_apt() {
  local tool=$1; shift
  "$tool" -o Dir::Etc::SourceList="$work/sources.list" -o Dir::Etc::SourceParts=/dev/null \
    -o Dir::Etc::Preferences=/dev/null -o Dir::Etc::PreferencesParts=/dev/null \
    -o Dir::State="$work/state" -o Dir::State::Lists="$work/state/lists" -o Dir::State::status="$work/state/status" \
    -o Dir::Cache="$work/cache" -o Dir::Cache::Archives="$work/cache/archives" \
    -o Acquire::IndexTargets::deb::DEP-11::DefaultEnabled=false -o Acquire::Languages=none \
    -o Acquire::Retries=3 -o Acquire::http::Timeout=60 -o Acquire::https::Timeout=60 \
    -o APT::Update::Error-Mode=any -o APT::Sandbox::User=root "$@" 9>&- </dev/null
}

mirror=''
find_mirror() {             # sets $mirror and fetches the suite's package list
  [ -z "$mirror" ] || return 0
  local keyring=/usr/share/keyrings/debian-archive-keyring.gpg arch base
  command -v apt-get >/dev/null || die 'no apt-get here: OPSPEC_SOURCES may name a folder with the source archives'
  [ -r "$keyring" ] || die "$keyring is missing (package debian-archive-keyring)"
  arch=$(dpkg --print-architecture)
  mkdir -p "$work/state/lists/partial" "$work/cache/archives/partial"
  : >"$work/state/status"
  # apt says itself which mirrors it uses: no network, no root, either format of its sources, and lists that were never
  # fetched are no matter.
  apt-get update --print-uris 2>/dev/null |
    sed -n "s#^'\(.*\)/dists/${os_codename:-$suite}/main/binary-[^']*'.*#\1#p" | awk '!seen[$0]++' >"$work/mirrors" || true
  [ -s "$work/mirrors" ] || die "apt's sources name no mirror with the suite ${os_codename:-$suite} and its component main"
  # Another repository may use Debian's suite names; Debian's keys tell it apart.
  while IFS= read -r base; do
    printf 'deb [arch=%s signed-by=%s] %s %s main\n' "$arch" "$keyring" "$base" "$suite" >"$work/sources.list"
    if private_apt apt-get -qq update >"$work/update.log" 2>&1; then mirror=$base; return 0; fi
  done <"$work/mirrors"
  cat "$work/update.log" >&2
  die "the suite $suite cannot be read from this machine's Debian mirror: see above (no network, no such suite there, or
a debian-archive-keyring too old to have its key); OPSPEC_SOURCES may name a folder with the source archives"
}

download_debs() {           # the newest binary packages $2... of the suite into the folder $1
  local folder=$1; shift
  find_mirror
  mkdir -p "$folder"
  (cd "$folder" && private_apt apt-get -qq download "$@") >"$work/fetch.log" 2>&1 ||
    { cat "$work/fetch.log" >&2; die "cannot download: $*"; }
}

download_source() {         # $1 path below the mirror, $2 source package, $3 SHA-256, $4 file to write
  local helper=/usr/lib/apt/apt-helper
  find_mirror
  if [ -x "$helper" ] &&
    private_apt "$helper" download-file "$mirror/$1" "$4" "SHA256:$3" >"$work/fetch.log" 2>&1; then return 0; fi
  # Not at its place in the pool, or a kind of mirror that only apt's lists can walk.
  rm -f "$4" "$4.FAILED"
  grep -q '^deb-src' "$work/sources.list" || {
    sed 's/^deb /deb-src /' "$work/sources.list" >"$work/sources.src"
    cat "$work/sources.src" >>"$work/sources.list"
    private_apt apt-get -qq update >"$work/fetch.log" 2>&1 ||
      { cat "$work/fetch.log" >&2; die 'no source list from the mirror'; }
  }
  mkdir -p "$work/apt-source"
  (cd "$work/apt-source" && private_apt apt-get -qq source --download-only --tar-only "$2") >"$work/fetch.log" 2>&1 ||
    { cat "$work/fetch.log" >&2; die "cannot fetch the source package $2"; }
  mv "$work/apt-source/${1##*/}" "$4" || die "the mirror's $2 is another version than ${1##*/}"
}
