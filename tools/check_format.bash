#!/usr/bin/env bash
# Checks, with `--fix` restores, the layout of every C++ file that .clang-format states. Version 19
# on every machine, because each version has a mind of its own. Sources are ASCII.
set -euo pipefail
cd -- "$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")/.."
formatter=$(command -v clang-format-19) || {
  echo "clang-format-19 is missing: apt-get install clang-format-19" >&2
  exit 1
}
mapfile -d '' -t files < <(
  find include src tests benchmarks examples \( -path examples/build -o -path tests/layers \) -prune -o \
    \( -name '*.h' -o -name '*.cc' \) -type f -print0 2>/dev/null
)
if [[ ${1:-} == --fix ]]; then
  "$formatter" -i "${files[@]}"
else
  "$formatter" --dry-run -Werror "${files[@]}"
fi
if LC_ALL=C grep -nP '[^\x00-\x7F]' "${files[@]}"; then
  echo "Only ASCII in sources, please." >&2
  exit 1
fi
echo "format: ${#files[@]} files"
