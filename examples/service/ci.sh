#!/bin/sh
# What a continuous integration service calls.
set -eu
cd "$(dirname "$0")"
# Flags of eddy's own tests: under sanitizers, others make gcc warn of what is not there.
meson setup build-ci --werror -Doptimization=1 -Db_sanitize=address,undefined -Dc_args=-fno-sanitize-recover=all
meson test -C build-ci --print-errorlogs
