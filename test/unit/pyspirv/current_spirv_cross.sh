#!/bin/sh
# Put a current SPIRV-Cross beside the system's one, so that the tests of pyspirv and msl run on both.
#
#   test/unit/pyspirv/current_spirv_cross.sh [FOLDER]      (default: build/spirv-cross)
#
# Debian's testing suite has it; its shared library asks for a newer libstdc++ than Debian 12 has, so
# the static archives of its development package are linked into one library here. Nothing is
# installed, and the machine's package sources stay as they are. Where this cannot work it says why
# and succeeds: the tests then run on the system's version alone.
set -eu

out=${1:-build/spirv-cross}
library=$out/libspirv-cross-c-shared.so

skip() {
    echo "no current SPIRV-Cross for the tests: $1" >&2
    exit 0
}

[ ! -e "$library" ] || exit 0
[ "$(. /etc/os-release 2>/dev/null && echo "${ID:-}")" = debian ] || skip "this is not Debian"
command -v apt-get >/dev/null && command -v dpkg-deb >/dev/null || skip "there is no apt-get"
cxx=
for candidate in "${CXX:-}" c++ g++ clang++ clang++-19; do
    if [ -n "$candidate" ] && command -v "$candidate" >/dev/null; then
        cxx=$candidate
        break
    fi
done
[ -n "$cxx" ] || skip "there is no C++ compiler"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$work/state/lists/partial" "$work/cache/archives/partial"

# The mirror that this machine uses already, as far as its package lists are there.
mirror() {
    apt-get "$@" indextargets --format '$(REPO_URI)' 'Created-By: Packages' |
        grep '/debian/*$' | sort -u | head -n 1
}
own="-o Dir::State=$work/state -o Dir::Cache=$work/cache -o Acquire::Languages=none"
own="$own -o APT::Sandbox::User=root -o Debug::NoLocking=1 -o Dir::State::status=/dev/null"
mirror=$(mirror)
if [ -z "$mirror" ]; then
    apt-get -qq $own update || skip "the package lists cannot be fetched"
    mirror=$(mirror $own)
fi
[ -n "$mirror" ] || skip "apt has no package sources"

keyring=/usr/share/keyrings/debian-archive-keyring.gpg
echo "deb [signed-by=$keyring] $mirror testing main" >"$work/sources.list"
apt() {
    apt-get -qq $own -o Dir::Etc::SourceList="$work/sources.list" \
        -o Dir::Etc::SourceParts=/dev/null "$@"
}
apt update || skip "the package lists cannot be fetched"
(cd "$work" && apt download libspirv-cross-c-shared-dev) || skip "the package cannot be fetched"
dpkg-deb -x "$work"/libspirv-cross-c-shared-dev_*.deb "$work/root"

# Older libstdc++ lacks this one function, which the archives name for noexcept violations.
cat >"$work/shim.cpp" <<'SHIM'
#include <exception>
extern "C" __attribute__((weak)) void __cxa_call_terminate(void *) { std::terminate(); }
SHIM
mkdir -p "$out"
"$cxx" -shared -fPIC -O1 -Wl,-Bsymbolic -o "$work/library.so" "$work/shim.cpp" \
    -Wl,--whole-archive $(find "$work/root" -name 'libspirv-cross-*.a') -Wl,--no-whole-archive ||
    skip "the archives cannot be linked"
mv "$work/library.so" "$library"
echo "$library"
