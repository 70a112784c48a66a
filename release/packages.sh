#!/bin/sh
# Builds Debian's packages in a fresh root, as a user without privileges and without network. Fails on errors and warnings of lintian.
#
#     packages.sh TREE VERSION RELEASE OUT
#
# TREE: unpacked, below a folder of its own; VERSION: of the packages, as 0.1.0+deb12; RELEASE: its name, as bookworm.
set -eu
tree=$1 version=$2 release=$3 out=$4
above=$(dirname "$tree")

apt-get -qq update
apt-get -qq -y dist-upgrade
apt-get -qq -y install --no-install-recommends build-essential lintian
sed -i "1s/.*/eddy ($version) $release; urgency=medium/" "$tree/debian/changelog"
(cd "$tree" && apt-get -qq -y build-dep --no-install-recommends ./)
useradd --home-dir "$above" builder
chown -R builder: "$above"
unshare --net runuser -u builder -- sh -c 'cd "$0" && exec dpkg-buildpackage -us -uc -b' "$tree"
runuser -u builder -- lintian --fail-on error,warning --suppress-tags bad-distribution-in-changes-file "$above"/*.changes
mkdir -p "$out/debug"
mv "$above"/*-dbgsym_*.deb "$out/debug"
mv "$above"/*.deb "$out"
