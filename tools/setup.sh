#!/usr/bin/env bash
# What Clatter needs from the machine, and how it is built. Sourced by ./clatter and ./test; called by itself it
# installs everything:  tools/setup.sh
#
# The packages are Debian 12's own. Only what is missing is installed, and the package lists are only fetched then.

clatter_root=$(dirname "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")")

# To build the program, the Python module and the tests.
build_packages=(g++ cmake ninja-build pkg-config
  libeigen3-dev libsuitesparse-dev libmetis-dev libhdf5-dev libyaml-cpp-dev libcli11-dev libfmt-dev libgtest-dev
  libcairo2-dev zlib1g-dev pybind11-dev python3-dev python3-numpy)
# In addition, to build the viewer's page (where node and npm are not there already); the program works without it.
page_packages=(nodejs npm)
# In addition: the fuzz targets of the readers (libFuzzer), the formatting check, the check of the coverage table, the
# viewer's page in a real browser, the tests of the Python module, the documentation as a site.
check_packages=(clang clang-format libclang-rt-14-dev python3 chromium python3-pytest python3-markdown)
# In addition, to make the packages (tools/package.sh) and to try the wheel.
package_packages=(dpkg-dev python3-pip)
# In addition, for the programs in bench/ (preset `bench`; not installed by ./clatter or ./test).
bench_packages=(libbenchmark-dev)

say() { printf 'clatter: %s\n' "$*" >&2; }
die() { say "$@"; exit 1; }

# missing_packages NAME...: prints those that are not installed. (dpkg-query fails when it does not know one of them; that is
# an answer, not an error.)
missing_packages() {
  local installed name
  installed=$(dpkg-query -W -f '${db:Status-Abbrev}|${Package}\n' "$@" 2>/dev/null | sed -n 's/^ii *|//p' | tr '\n' ' ' || true)
  for name in "$@"; do
    [[ " $installed " == *" $name "* ]] || printf '%s\n' "$name"
  done
}

# ensure_packages NAME...: installs what is missing, or says plainly what to do.
ensure_packages() {
  if ! command -v dpkg-query apt-get >/dev/null; then
    say "this is not a Debian system, so nothing can be installed for you."
    say "Needed are the counterparts of: $*"
    command -v cmake ninja >/dev/null || die "cmake and ninja were not found."
    return 0
  fi
  local missing
  mapfile -t missing < <(missing_packages "$@")
  ((${#missing[@]})) || return 0
  if ((EUID != 0)); then
    die "packages are missing and installing them needs root. Run:  sudo apt-get install ${missing[*]}"
  fi
  say "installing ${missing[*]}"
  local log
  log=$(mktemp)
  if ! { apt-get update && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends "${missing[@]}"; } \
      >"$log" 2>&1 </dev/null; then
    tail -n 20 "$log" >&2
    rm -f "$log"
    die "installing ${missing[*]} failed (above); is the network there, and is this Debian 12 or newer?"
  fi
  rm -f "$log"
}

# build PRESET [TARGET...]: configures when needed and builds, with one line of progress on a terminal and silence
# otherwise; on failure the compiler's words are shown. One build at a time in a folder.
build() {
  local preset=$1 folder=$clatter_root/build/$1 target targets=()
  shift
  for target in "$@"; do targets+=(--target "$target"); done
  mkdir -p "$folder"
  (
    flock 9
    cd "$clatter_root" || exit 1
    log=$folder/build.log
    : >"$log"
    fail() {
      cat "$log" >&2
      say "$1 failed (preset $preset)."
      exit 1
    }
    if [[ ! -f $folder/build.ninja ]]; then
      cmake --preset "$preset" >"$log" 2>&1 || fail "configuring"
    fi
    if [[ -t 2 ]]; then
      NINJA_STATUS='clatter: building %f/%t ' cmake --build "$folder" "${targets[@]}" -j "$(nproc)" >&2 || fail "building"
    else
      cmake --build "$folder" "${targets[@]}" -j "$(nproc)" >"$log" 2>&1 || fail "building"
    fi
  ) 9>"$folder/.lock"
}

# sanitizer_options: what programs of the preset `sanitize` run with. New memory is filled with bytes 255: a double that was never
# set is not a number there.
sanitizer_options() {
  export ASAN_OPTIONS=detect_leaks=1:strict_string_checks=1:detect_stack_use_after_return=1:malloc_fill_byte=255:max_malloc_fill_size=1000000000:handle_abort=1:exitcode=99
  export UBSAN_OPTIONS=print_stacktrace=1:exitcode=99
  export LSAN_OPTIONS=suppressions=$clatter_root/tests/leaks_of_libraries.txt:print_suppressions=0:exitcode=99
}

# page_is_stale PRESET: there is no page, or its sources have changed since.
page_is_stale() {
  local page=$clatter_root/build/$1/viewer.html
  [[ ! -f $page ]] ||
    [[ -n $(find "$clatter_root/viewer" \( -name node_modules -o -name dist -o -name tests \) -prune -o -type f -newer "$page" -print -quit) ]]
}

# build_page PRESET: build/PRESET/viewer.html, the page of `clatter view`. Without npm or a network it says so, remembers it
# until the sources change, and returns 1: everything else works.
build_page() {
  local folder=$clatter_root/build/$1 log=$clatter_root/build/$1/page.log
  page_is_stale "$1" || return 0
  mkdir -p "$folder"
  (
    flock 9
    page_is_stale "$1" || exit 0
    no_page() {
      say "the viewer's page was not built: $1"
      say "\`clatter view\` and \`clatter report\` need it (tools/setup.sh tries again); everything else works."
      touch "$folder/.page-failed"
      exit 1
    }
    if ! command -v node >/dev/null || ! command -v npm >/dev/null; then
      command -v apt-get >/dev/null && ((EUID == 0)) || no_page "node and npm are not installed."
      (ensure_packages "${page_packages[@]}") || no_page "node and npm could not be installed."
    fi
    [[ -t 2 ]] && say "building the viewer's page"
    cd "$clatter_root/viewer" || exit 1
    if [[ package-lock.json -nt node_modules/.package-lock.json ]]; then
      timeout 300 npm ci --no-audit --no-fund --fetch-retries=1 --fetch-retry-mintimeout=1000 --fetch-retry-maxtimeout=5000 --fetch-timeout=30000 >"$log" 2>&1 </dev/null || no_page "npm could not fetch its packages ($log)."
    fi
    { node_modules/.bin/tsc --noEmit && CLATTER_VIEWER_OUT=$folder/page node_modules/.bin/vite build; } >"$log" 2>&1 </dev/null ||
      { cat "$log" >&2; no_page "its sources do not compile."; }
    mv "$folder/page/index.html" "$folder/viewer.html"
    rm -rf "$folder/page" "$folder/.page-failed"
    touch "$folder/viewer.html"
  ) 9>"$folder/.page-lock"
}

if [[ ${BASH_SOURCE[0]} == "$0" ]]; then
  set -euo pipefail
  ensure_packages "${build_packages[@]}" "${check_packages[@]}" "${package_packages[@]}" "${bench_packages[@]}"
  mkdir -p "$clatter_root/build/release"
  build_page release || true
  say "everything needed is installed."
fi
