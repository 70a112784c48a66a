#!/bin/sh
# Compresses the source archive in a fresh root.
#
#     source.sh TREE ARCHIVE OUT
set -eu
apt-get -qq -y install --no-install-recommends xz-utils
xz -9 -T1 --stdout "$2" >"$3"
