#!/usr/bin/env bash
# check.bash COMPILER INCLUDE_FOLDER SCRATCH_FOLDER: each public header included twice in a file of
# its own must compile without warnings, and what it reads must come from here or the compiler.
set -euo pipefail
compiler=$1 include=$2 scratch=$3
failed=0 count=0
while IFS= read -r -d '' header; do
  name=${header#"$include"/}
  source=$scratch/alone.cc
  printf '#include "%s"\n#include "%s"\nint main() {}\n' "$name" "$name" >"$source"
  if ! "$compiler" -std=c++20 -Wall -Wextra -Wshadow -Werror -fsyntax-only -I "$include" "$source"; then
    printf 'does not compile alone: %s\n' "$name"
    failed=1
  fi
  if "$compiler" -std=c++20 -M -I "$include" "$source" |
    grep -oE '[^ ]*/(hwy|nlohmann|CLI|gtest)/[^ ]*|[^ ]*/(zlib|mpi)\.h'; then
    printf 'drags in a third party: %s\n' "$name"
    failed=1
  fi
  count=$((count + 1))
done < <(find "$include/volvelle" -name '*.h' -print0 | sort -z)
printf '%d public headers checked\n' "$count"
((count > 0 && failed == 0))
