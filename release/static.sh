#!/bin/sh
# Builds the static `eddy` in a fresh root, as a user without privileges and without network.
#
#     static.sh TREE MACHINE OUT
#
# MACHINE: x86_64 or aarch64, as uname -m says it. Writes OUT/eddy; OUT/libraries, a line for each archive that is linked in, with
# Debian's source package and its version; and OUT/licences, the licences of all of it.
set -eu
tree=$1 machine=$2 out=$3
folder=$(dirname "$tree")/static-$machine
libraries='libc6-dev libjansson-dev libllhttp-dev libnghttp2-dev libssl-dev libtomlplusplus-dev liburing-dev libwolfssl-dev libzstd-dev libbrotli-dev zlib1g-dev'

case $machine in
x86_64) arch=amd64 compiler='gcc g++' ;;
aarch64) arch=arm64 compiler='gcc-aarch64-linux-gnu g++-aarch64-linux-gnu' ;;
*)
	echo "static.sh: $machine is neither x86_64 nor aarch64" >&2
	exit 2
	;;
esac
prefix=$machine-linux-gnu
lib=/usr/lib/$prefix
dpkg --add-architecture "$arch"
apt-get -qq update
apt-get -qq -y dist-upgrade
# shellcheck disable=SC2046,SC2086
apt-get -qq -y install --no-install-recommends meson ninja-build pkg-config python3 systemtap-sdt-dev $compiler \
	$(for name in $libraries; do echo "$name:$arch"; done)
id builder >/dev/null 2>&1 || useradd --home-dir "$(dirname "$tree")" builder

# wolfSSL's archive has some functions under OpenSSL's own names.
mkdir -p "$folder/lib/pkgconfig" "$out"
names() { "$prefix-nm" -g --defined-only "$@" 2>/dev/null | sed -n 's/.* [A-Z] //p' | sort -u; }
names "$lib/libssl.a" "$lib/libcrypto.a" >"$folder/openssl"
names "$lib/libwolfssl.a" | comm -12 - "$folder/openssl" | sed 's/.*/& wolfssl_&/' >"$folder/renamed"
"$prefix-objcopy" --redefine-syms="$folder/renamed" "$lib/libwolfssl.a" "$folder/lib/libwolfssl.a"
sed "s,^libdir=.*,libdir=$folder/lib," "$lib/pkgconfig/wolfssl.pc" >"$folder/lib/pkgconfig/wolfssl.pc"

cat >"$folder/machine" <<END
[binaries]
c = '$prefix-gcc'
cpp = '$prefix-g++'
ar = '$prefix-gcc-ar'
strip = '$prefix-strip'
pkg-config = 'pkg-config'

[properties]
pkg_config_libdir = ['$folder/lib/pkgconfig', '$lib/pkgconfig', '/usr/share/pkgconfig']

[host_machine]
system = 'linux'
cpu_family = '$machine'
cpu = '$machine'
endian = 'little'
END
chown -R builder: "$(dirname "$tree")"
unshare --net runuser -u builder -- sh -eu -s "$tree" "$folder" "$lib" <<'END'
flags=-ffile-prefix-map=$1=.
# A cross compiler has a C library of its own, which gets no fixes.
links="-B$3/ -L$3"
meson setup "$2/build" "$1" --cross-file "$2/machine" -Dprefer_static=true -Doptimization=3 -Ddebug=true -Db_lto=true --werror \
	-Dtests=false -Dexamples=false -Dman=disabled -Dlibuv=disabled -Dsqlite=disabled -Dpostgresql=disabled -Dlibcrypto=enabled \
	"-Dc_args=$flags" "-Dcpp_args=$flags" "-Dc_link_args=$links" "-Dcpp_link_args=$links"
ninja -C "$2/build" --quiet release/eddy
END
"$prefix-strip" -o "$out/eddy" "$folder/build/release/eddy"

# Whose archives are linked in, and the library of headers alone, which one file includes.
map=$folder/build/release/eddy.map
sed -n 's/^\(\/[^( ]*\.a\)(.*/\1/p' "$map" | sort -u | sed "s,^$folder/lib/,$lib/," | xargs -d '\n' realpath >"$folder/archives"
! grep -q 'toml\.cc\.o)$' "$map" || echo /usr/include/toml++/toml.h >>"$folder/archives"
while read -r file; do
	package=$(dpkg-query -S "$file")
	package=${package%%: *}
	# What a cross compiler's package has was built from others.
	made=$(dpkg-query -W -f='${Built-Using}' "$package" | sed 's/ (= \([^)]*\))/ \1/g; s/, /\n/g')
	[ -n "$made" ] || made=$(dpkg-query -W -f='${source:Package} ${source:Version}' "$package")
	echo "$made" | sed "s,\$, $file,"
	for source in $(echo "$made" | cut -d' ' -f1); do
		cat "/usr/share/doc/${package%%:*}/copyright" >"$folder/copyright-$source"
	done
done <"$folder/archives" >"$out/libraries"

{
	cat "$tree/LICENSE" "$tree/NOTICE"
	for file in "$folder"/copyright-*; do
		printf '\n======== %s: Debian'"'"'s record of its copyright\n\n' "${file#*copyright-}"
		cat "$file"
	done
	for name in GPL-2 GPL-3 LGPL-2.1 Apache-2.0; do
		printf '\n======== %s\n\n' "$name"
		cat "/usr/share/common-licenses/$name"
	done
} >"$out/licences"
