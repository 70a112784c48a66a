#!/usr/bin/env bash
# Builds wolfSSL in build/wolfssl, and prints the prefix that it is installed in.
#
#     wolfssl.sh ROOT
#
# EDDY_WOLFSSL names its source, which stays as it is. By default that is the newest source package of Debian's archive, read
# with lists and a cache of its own: the machine's apt is not touched.
set -euo pipefail

root=$1
folder=$root/build/wolfssl
log=$folder/log

say() { printf 'wolfssl: %s\n' "$*" >&2; }

die() {
	say "$@"
	exit 1
}

apt() { # COMMAND ARGUMENT…
	local command=$1
	shift
	"$command" -qq -c "$folder/apt/conf" "$@"
}

# The archive that this machine's own packages are from, by its releases that have the newest ones.
set_up_apt() {
	local apt=$folder/apt archive key=/usr/share/keyrings/debian-archive-keyring.gpg
	# shellcheck disable=SC2016
	archive=$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' 'Origin: Debian' 'Label: Debian' | head -n 1)
	[ -n "$archive" ] || die "apt knows no archive of Debian's here; name a source of wolfSSL: EDDY_WOLFSSL=DIR"
	[ -e "$key" ] || key=
	mkdir -p "$apt/lists/partial" "$apt/cache/archives/partial"
	printf 'deb-src %s %s sid main\n' "${key:+[signed-by=$key]}" "$archive" >"$apt/sources.list"
	cat >"$apt/conf" <<-END
		Dir::Etc::sourcelist "$apt/sources.list";
		Dir::Etc::sourceparts "-";
		Dir::State::lists "$apt/lists";
		Dir::Cache "$apt/cache";
		APT::Sandbox::User "root";
		Acquire::Retries "3";
	END
}

# Prints the folder of the unpacked source package.
fetch() {
	local version target
	set_up_apt
	apt apt-get update >"$log" 2>&1 || die "Debian's list of sources could not be read; $log says why"
	version=$(apt apt-cache showsrc wolfssl | sed -n 's/^Version: //p' | sort -V | tail -n 1)
	[ -n "$version" ] || die "Debian's archive has no wolfssl"
	target=$folder/package-$version
	if [ ! -e "$target/done" ]; then
		say "fetching wolfssl $version …"
		rm -rf "$target"
		mkdir -p "$target"
		cd "$target"
		# A mirror that is behind may lack the newest changes of Debian's, which matter less.
		if apt apt-get source --download-only "wolfssl=$version" >>"$log" 2>&1; then
			dpkg-source -x ./*.dsc source >>"$log" 2>&1 || die "the source package can't be unpacked; $log says why"
		elif apt apt-get source --tar-only "wolfssl=$version" >>"$log" 2>&1; then
			say "wolfssl $version without Debian's own changes, which the mirror lacks"
			mkdir source
			tar -x --strip-components=1 -C source -f ./*.orig.tar.*z
		else
			die "wolfssl $version could not be fetched; $log says why"
		fi
		touch "$target/done"
	fi
	printf '%s\n' "$target/source"
}

# What Debian's own build is configured with, but for what the tests have no use for; and the processor's instructions.
options() {
	printf '%s\n' --enable-distro --enable-pkcs11 --disable-examples --disable-crypttests --disable-static
	case $(uname -m) in
	x86_64) printf '%s\n' --enable-intelasm ;;
	aarch64) printf '%s\n' --enable-armasm ;;
	esac
}

build() { # SOURCE
	local source=$1 prefix=$folder/install stamp want=()
	mapfile -t want < <(options)
	stamp="$source ${want[*]} $(find "$source" -type f -printf '%T@ %p\n' | sort | sha256sum)"
	if [ "$(cat "$folder/done" 2>/dev/null)" != "$stamp" ]; then
		say "building $source …"
		rm -rf "$folder/done" "$folder/tree" "$prefix"
		cp -a "$source" "$folder/tree"
		cd "$folder/tree"
		{
			[ -x configure ] || ./autogen.sh
			./configure --prefix="$prefix" --libdir="$prefix/lib" "${want[@]}" CFLAGS='-O2 -g'
			make -j"$(nproc)"
			make install
			# Packages of distributions put it elsewhere: it depends on the processor.
			cp wolfssl/options.h "$prefix/include/wolfssl/"
		} >"$log" 2>&1 </dev/null || {
			tail -n 20 "$log" >&2
			die "the build failed; the lines above are the last of $log"
		}
		printf '%s\n' "$stamp" >"$folder/done"
	fi
	printf '%s\n' "$prefix"
}

mkdir -p "$folder"
if [ -n "${EDDY_WOLFSSL:-}" ]; then
	source=$(readlink -e -- "$EDDY_WOLFSSL") || die "there is no folder $EDDY_WOLFSSL"
	[ -e "$source/wolfssl/ssl.h" ] || die "$source is no source of wolfSSL"
else
	source=$(fetch)
fi
build "$source"
