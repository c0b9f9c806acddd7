#!/usr/bin/env bash
# What Clatter needs from the machine, and how it is built. Sourced by ./clatter and ./test; called by itself it
# installs everything:  tools/setup.sh
#
# The packages are Debian 12's own. Only what is missing is installed, and the package lists are only fetched then.

clatter_root=$(dirname "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")")

# To build the program and its tests.
build_packages=(g++ cmake ninja-build pkg-config
  libeigen3-dev libsuitesparse-dev libmetis-dev libhdf5-dev libyaml-cpp-dev libcli11-dev libfmt-dev libgtest-dev)
# In addition: the fuzz target of the model loader (libFuzzer), the formatting check and the check of the coverage table.
check_packages=(clang clang-format libclang-rt-14-dev python3)
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

if [[ ${BASH_SOURCE[0]} == "$0" ]]; then
  set -euo pipefail
  ensure_packages "${build_packages[@]}" "${check_packages[@]}" "${bench_packages[@]}"
  say "everything needed is installed."
fi
