#!/usr/bin/env bash
# Fails, and names the places, if clang-format would change any C++ file of the tree, whether Git
# knows the file yet or not. Exit status 77 means skipped.
set -uo pipefail
cd -- "$(dirname -- "${BASH_SOURCE[0]}")/../.." || exit 1

if ! command -v clang-format >/dev/null; then
  echo 'skipped: clang-format is not installed' >&2
  exit 77
fi
find . \( -path ./build -o -path ./install -o -path './.?*' -o -name node_modules \) -prune -o \
  -type f \( -name '*.h' -o -name '*.cc' \) -print0 |
  xargs -0 -r -n 16 -P "$(nproc)" clang-format --dry-run -Werror && exit
echo 'to repair: clang-format -i FILE' >&2
exit 1
