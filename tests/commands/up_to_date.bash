#!/usr/bin/env bash
# up_to_date.bash SOURCE SCRATCH: what `./run` asks before it starts the program. It must see every
# kind of change, and cost next to nothing when there is none.
set -euo pipefail
source_root=$1 scratch="$2/a folder with spaces"
rm -rf "$scratch"
mkdir -p "$scratch"/{tools,src,include,cmake,tests,examples,build/bin}
cp "$source_root/tools/prepare.bash" "$scratch/tools"
touch "$scratch"/{CMakeLists.txt,CMakePresets.json,src/one.cc,src/two.cc,tests/one_test.cc}
printf '#!/bin/sh\n' >"$scratch/build/bin/volvelle"
chmod +x "$scratch/build/bin/volvelle"

failures=0
# expect fresh|stale GOAL WHAT: the answer for a goal, asked by a process of its own
expect() {
  local answer=stale
  if bash -c 'source "$1/tools/prepare.bash"; up_to_date "$2"' _ "$scratch" "$2"; then answer=fresh; fi
  if [[ $answer != "$1" ]]; then
    printf 'after %s, %s is %s; it should be %s\n' "$3" "$2" "$answer" "$1"
    failures=$((failures + 1))
  fi
}
built() {
  local goal
  sleep 0.02 # file times are as coarse as the clock's tick
  for goal in run test; do
    printf '%s\n' "$scratch" >"$scratch/build/.built-$goal"
  done
  sleep 0.02
}

expect stale run "no build at all"
built
expect fresh run "a build"
expect fresh test "a build"
echo "int x;" >>"$scratch/src/one.cc"
expect stale run "an edit"
built
touch "$scratch/src/three.cc"
expect stale run "a new file"
built
rm "$scratch/src/two.cc"
expect stale run "a removal"
built
touch -d '2001-01-01' "$scratch/old.cc"
cp -p "$scratch/old.cc" "$scratch/src/one.cc"
expect stale run "a file restored with its old date"
built
echo >>"$scratch/tests/one_test.cc"
expect fresh run "an edit of a test"
expect stale test "an edit of a test"
built
rm "$scratch/build/bin/volvelle"
expect stale run "the program's removal"

built
printf '#!/bin/sh\n' >"$scratch/build/bin/volvelle"
chmod +x "$scratch/build/bin/volvelle"
mv "$scratch" "$2/moved"
scratch=$2/moved
expect stale run "moving the checkout"
rm -rf "$2/moved"
((failures == 0))
