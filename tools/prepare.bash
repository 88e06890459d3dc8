# Sourced by ./run and ./test: finds or installs what a build needs, then builds what is asked for.
# Nothing here needs Python. Everything but the program's own output goes to stderr.

root=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.." && pwd -P)
build=$root/build

build_packages=(g++ cmake ninja-build libhwy-dev zlib1g-dev nlohmann-json3-dev libcli11-dev)
test_packages=(libgtest-dev libgmock-dev librapidcheck-dev python3)

say() { printf '%s\n' "$*" >&2; }

# The system's own tool first: a version manager's shim early on PATH may lead nowhere.
first_working() {
  local candidate
  for candidate in "$@"; do
    if "$candidate" --version >/dev/null 2>&1; then
      printf '%s' "$candidate"
      return 0
    fi
  done
  return 1
}

# True when nothing that goes into `goal` has changed since it was built: one `find`, no CMake.
# ctime sees edits, additions, removals and files copied in with an old date.
up_to_date() {
  local stamp=$build/.built-$1 stamped_root
  [[ -f $stamp && -x $build/bin/volvelle ]] || return 1
  IFS= read -r stamped_root <"$stamp"
  [[ $stamped_root == "$root" ]] || return 1
  local -a inputs=("$root/CMakeLists.txt" "$root/CMakePresets.json" "$root/cmake" "$root/include"
    "$root/src" "$root/tools/prepare.bash")
  [[ $1 == test ]] && inputs+=("$root/tests" "$root/examples")
  [[ -z $(find "${inputs[@]}" -cnewer "$stamp" -print -quit) ]]
}

missing_packages() {
  local package
  for package in "$@"; do
    [[ $(dpkg-query -W -f='${db:Status-Abbrev}' "$package" 2>/dev/null) == ii* ]] ||
      printf '%s\n' "$package"
  done
}

# Installs what is missing of the packages named. Without root: says what to type and ends.
install_packages() {
  local -a missing
  if ! command -v dpkg-query >/dev/null; then
    say "This system has no dpkg; please install the equivalents of: $*"
    exit 1
  fi
  mapfile -t missing < <(missing_packages "$@")
  ((${#missing[@]})) || return 0
  if ((EUID != 0)); then
    say "Some packages are missing. Type this, then run the same command again:"
    say "  sudo apt-get update && sudo apt-get install -y --no-install-recommends ${missing[*]}"
    exit 1
  fi
  say "Installing ${missing[*]} ..."
  local log
  log=$(mktemp)
  local -a options=(-o Acquire::Retries=3 -o DPkg::Lock::Timeout=300)
  export DEBIAN_FRONTEND=noninteractive
  if ! { apt-get "${options[@]}" update &&
    apt-get "${options[@]}" install -y --no-install-recommends "${missing[@]}"; } \
    >"$log" 2>&1 </dev/null; then
    tail -n 30 "$log" >&2
    rm -f "$log"
    say "The packages could not be installed."
    exit 1
  fi
  rm -f "$log"
}

# Configures the release preset; the log says what went wrong. A build tree of another place (a
# copied or moved checkout) is of no use and is made anew.
configure() {
  local cmake ninja
  cmake=$(first_working /usr/bin/cmake cmake) || return 1
  ninja=$(first_working /usr/bin/ninja ninja) || return 1
  local home=""
  if [[ -f $build/CMakeCache.txt ]]; then
    home=$(sed -n 's/^CMAKE_HOME_DIRECTORY:INTERNAL=//p' "$build/CMakeCache.txt")
    [[ $home == "$root" ]] || rm -rf "$build"
  fi
  local -a options=(-DCMAKE_MAKE_PROGRAM="$ninja")
  if ccache -s >/dev/null 2>&1; then options+=(-DCMAKE_CXX_COMPILER_LAUNCHER=ccache); fi
  mkdir -p "$build"
  (cd "$root" && "$cmake" --preset release "${options[@]}") >"$build/configure.log" 2>&1
}

tests_configured() { [[ -f $build/CTestTestfile.cmake ]] &&
  grep -qs '^VOLVELLE_TESTS_LACK:INTERNAL=$' "$build/CMakeCache.txt"; }

jobs() {
  local cores kilobytes
  cores=$(nproc)
  # A kernel file takes up to a gigabyte to compile.
  kilobytes=$(sed -n 's/^MemTotal: *\([0-9]*\) kB/\1/p' /proc/meminfo 2>/dev/null)
  local by_memory=$((${kilobytes:-8000000} / 1200000))
  ((by_memory < 1)) && by_memory=1
  printf '%s' $((cores < by_memory ? cores : by_memory))
}

# Compiles `targets`; short on the screen, whole in build/build.log, errors shown.
compile() {
  local ninja log=$build/build.log seconds=$SECONDS
  ninja=$(first_working /usr/bin/ninja ninja)
  if [[ -t 2 ]]; then
    "$ninja" -C "$build" -j "$(jobs)" "$@" >&2 && return 0
  else
    say "Building in $build ..."
    "$ninja" -C "$build" -j "$(jobs)" "$@" >"$log" 2>&1 && {
      say "Built in $((SECONDS - seconds)) s."
      return 0
    }
    sed -n '/^FAILED/,$p' "$log" | cut -c1-500 | head -n 100 >&2
    grep -q '^FAILED' "$log" || tail -n 20 "$log" >&2
  fi
  say "The build failed."
  exit 1
}

# prepare run|test: brings the build up to date, installing what it needs.
prepare() {
  local goal=$1
  up_to_date "$goal" && return 0
  local -a packages=("${build_packages[@]}")
  [[ $goal == test ]] && packages+=("${test_packages[@]}")
  mkdir -p "$build"
  if command -v flock >/dev/null; then # two commands at once take turns
    exec {lock}>"$build/.lock"
    flock "$lock"
    up_to_date "$goal" && return 0
  fi
  # What a working configuration already has need not come from apt.
  if ! configure || { [[ $goal == test ]] && ! tests_configured; }; then
    install_packages "${packages[@]}"
    if ! configure; then
      cat "$build/configure.log" >&2
      say "The build could not be configured."
      exit 1
    fi
  fi
  if [[ $goal == test ]] && ! tests_configured; then
    grep -h 'Tests are left out' "$build/configure.log" >&2
    say "The tests cannot be built without these libraries."
    exit 1
  fi
  local stamp=$build/.built-$goal
  printf '%s\n' "$root" >"$stamp.new" # before compiling, so that an edit meanwhile is newer
  if [[ $goal == test ]]; then compile; else compile bin/volvelle; fi
  if [[ $goal == test ]]; then cp -p "$stamp.new" "$build/.built-run"; fi
  mv -f "$stamp.new" "$stamp"
  if [[ -n ${lock:-} ]]; then exec {lock}>&-; fi
}
