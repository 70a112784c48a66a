#!/bin/sh
# Makes a repository of packages that are older than those of a release, and otherwise the same: what an upgrade begins with.
#
#     older.sh OUT VERSION DEB…    VERSION: that of the packages
set -eu
out=$1 version=$2
shift 2
mkdir "$out"
for package; do
	dpkg-deb --raw-extract "$package" "$out/tree"
	sed -i "s/$version/$version~older/g" "$out/tree/DEBIAN/control"
	dpkg-deb --root-owner-group -Znone --build "$out/tree" "$out" >/dev/null
	rm -r "$out/tree"
done
cd "$out"
dpkg-scanpackages . >Packages 2>/dev/null
