#!/usr/bin/env bash
# make.sh BUILD_FOLDER OUT_FOLDER: one relocatable tar from a finished build; prints its path. docs/bundle.md says why
# it is laid out so. The same build gives the same bytes (SOURCE_DATE_EPOCH, or else the time of the last commit).
set -euo pipefail
shopt -s inherit_errexit
usage='usage: make.sh BUILD_FOLDER OUT_FOLDER'
source=$(realpath "$(dirname "${BASH_SOURCE[0]}")/..")
build=$(realpath "${1:?$usage}")
out=${2:?$usage}
export LC_ALL=C
unset LD_LIBRARY_PATH LD_PRELOAD

fail() {
    echo "bundle: $*" >&2
    exit 3
}
[ "$(uname -sm)" = "Linux x86_64" ] || fail "bundles are made on and for Linux x86_64 so far; this is $(uname -sm)"
command -v dpkg-query >/dev/null ||
    fail "no dpkg here, which says what package and licence a library has: make the bundle on Debian or Ubuntu"
for tool in objdump patchelf; do
    command -v $tool >/dev/null || fail "no $tool here: apt-get install binutils patchelf"
done

read -r _ version revision < <("$build/stepcost" --version)
name=stepcost-$version-linux-x86_64
stage=$(mktemp -d)
trap 'rm -rf "$stage"' EXIT
top=$stage/$name
mkdir -p "$out" "$top/lib/glibc" "$top/licenses"

# The package that owns a file. Where /usr is merged, dpkg knows a file by one of two names.
package_of() {
    local path owner
    for path in "$1" "/usr$1" "${1#/usr}"; do
        owner=$(dpkg-query -S "$path" 2>/dev/null | grep -v '^diversion' | head -n 1) || continue
        echo "${owner%%:*}"
        return
    done
    fail "$1 is no package's file, so its licence is not known: build with the distribution's library"
}

# carry FILE AS: into the bundle, with a row in the list of what others made.
carry() {
    [ ! -e "$top/$2" ] || return 0
    install -D -m 755 "$1" "$top/$2"
    local file package
    file=$(realpath "$1")
    [[ $file != "$build"/* ]] || return 0
    package=$(package_of "$file")
    echo "$2 $package" >>"$stage/packages"
}

# What FILE is linked to, all the way down: NAME PATH. glibc is carried whole, in a folder of its own.
glibc=$(package_of "$(realpath /lib64/ld-linux-x86-64.so.2)")
libraries_of() {
    ldd "$1" | awk '$3 == "not" {print $1 " " "-"} $3 ~ /^\// {print $1 " " $3}' | while read -r needed path; do
        [ "$path" != - ] || fail "$1 needs $needed, which is not here"
        [ -e "$top/lib/glibc/$needed" ] || echo "$needed $path"
    done
}

dpkg-query -L "$glibc" | grep -E '^(/usr)?/lib/x86_64-linux-gnu/[^/]+\.so(\.[0-9]+)*$' >"$stage/glibc"
while read -r path; do
    carry "$path" "lib/glibc/${path##*/}"
done <"$stage/glibc"

carry "$build/stepcost" lib/stepcost
libraries_of "$build/stepcost" >"$stage/list"
while read -r needed path; do
    carry "$path" "lib/$needed"
done <"$stage/list"
# What a module has beyond the program's goes into a folder of its own, where no other module and no library of the
# machine comes across it.
while read -r module file; do
    case $file in
    /*) as=lib/$module/$(objdump -p "$file" | awk '$1 == "SONAME" {print $2}') ;;
    *) file=$build/$file as=lib/${file##*/} ;;
    esac
    carry "$file" "$as"
    libraries_of "$file" >"$stage/list"
    while read -r needed path; do
        [ -e "$top/lib/$needed" ] || carry "$path" "lib/$module/$needed"
    done <"$stage/list"
done <"$build/carried"

# Each finds its own by DT_RPATH: only that comes before a LD_LIBRARY_PATH of the machine. What the program has is
# seen by every library that is ever loaded, what a module has only by that module.
find "$top/lib" -path "$top/lib/glibc" -prune -o -type f -exec patchelf --force-rpath --set-rpath "\$ORIGIN" {} +
while read -r module file; do
    [[ $file == /* ]] || patchelf --force-rpath --set-rpath "\$ORIGIN/$module" "$top/lib/$file"
done <"$build/carried"

# The newest glibc that any of these files asks for. A relative relocation table is glibc 2.36's.
find "$top/lib" -path "$top/lib/glibc" -prune -o -type f -print0 | xargs -0 objdump -p |
    sed -n 's/.* GLIBC_ABI_DT_RELR$/2.36/p; s/.* GLIBC_\(2\.[0-9]*\).*/\1/p' | sort -V | tail -n 1 >"$stage/glibc-needed"
mv "$stage/glibc-needed" "$top/lib"

cut -d ' ' -f 2 "$stage/packages" | sort -u | while read -r package; do
    install -D -m 644 "/usr/share/doc/$package/copyright" "$top/licenses/$package/copyright"
done
grep -rhoE '/usr/share/common-licenses/[A-Za-z0-9.-]*[A-Za-z0-9]' "$top/licenses" | sort -u | while read -r path; do
    [ ! -e "$path" ] || install -D -m 644 "$path" "$top/licenses/common-licenses/${path##*/}"
done
install -m 644 "$source/LICENSE" "$top/licenses/stepcost"
{
    echo "# file, Debian or Ubuntu package, version, source package and version (its sources: apt-get source NAME=VERSION)"
    sort "$stage/packages" | while read -r file package; do
        # shellcheck disable=SC2016 # dpkg-query's own variables
        echo "$file $(dpkg-query -W -f '${Package} ${Version} ${source:Package} ${source:Version}\n' "$package" | head -n 1)"
    done
} >"$top/licenses/FILES"

install -m 755 "$source/bundle/stepcost" "$source/bundle/stepcost-run" "$top"
install -D -m 644 -t "$top/docs" "$source"/docs/*.md
# shellcheck disable=SC2016 # dpkg-query's own variable
sed "s|@VERSION@|$version|; s|@REVISION@|${revision//[()]/}|; s|@NEEDED@|$(cat "$top/lib/glibc-needed")|
    s|@CARRIED@|$(dpkg-query -W -f '${Version}\n' "$glibc" | head -n 1)|" "$source/bundle/README" >"$top/README"
(cd "$top" && find . -type f -print0 | sort -z | xargs -0 sha256sum) >"$stage/SHA256SUMS"
mv "$stage/SHA256SUMS" "$top"

epoch=${SOURCE_DATE_EPOCH:-$(git -C "$source" log -1 --format=%ct 2>/dev/null || stat -c %Y "$source/CMakeLists.txt")}
tar -C "$stage" --sort=name --format=gnu --owner=0 --group=0 --numeric-owner --mode=u+w,go-w,a+rX --mtime="@$epoch" \
    -c "$name" | gzip -9n >"$out/$name.tar.gz.part"
mv "$out/$name.tar.gz.part" "$out/$name.tar.gz"
echo "$out/$name.tar.gz"
