#!/bin/sh
# What a continuous integration service calls.
set -eu
cd "$(dirname "$0")"
meson setup build-ci --werror -Db_sanitize=address,undefined
meson test -C build-ci --print-errorlogs
