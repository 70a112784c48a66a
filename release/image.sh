#!/bin/sh
# Makes a container image of the static `eddy` in a fresh root: OUT/image.tar, an archive of OCI.
#
#     image.sh TREE OUT ARCHITECTURE VERSION LICENCE TIME
#
# OUT has eddy; ARCHITECTURE: as OCI calls it, amd64 or arm64; TIME: in seconds since 1970, of everything in it.
set -eu
tree=$1 out=$2 arch=$3 version=$4 licence=$5 time=$6
made=$out/making

apt-get -qq -y install --no-install-recommends buildah
# Without a storage driver of the kernel's, and without a network: nothing is run.
set -- --storage-driver vfs --root "$made.store" --runroot "$made.run"
mkdir "$made.context"
install -m 755 "$out/eddy" "$made.context/eddy"
buildah "$@" build --quiet --isolation chroot --timestamp "$time" --arch "$arch" \
	--annotation "org.opencontainers.image.version=$version" --label "org.opencontainers.image.licenses=$licence" \
	--file "$tree/docs/deploy/Containerfile" --tag eddy "$made.context"
buildah "$@" push --quiet localhost/eddy "oci:$made:localhost/eddy:$version"
tar --sort=name --mtime="@$time" --owner=0 --group=0 --numeric-owner -C "$made" -cf "$out/image.tar" blobs index.json oci-layout
rm -rf "$made" "$made".*
