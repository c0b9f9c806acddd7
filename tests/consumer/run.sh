#!/usr/bin/env bash
# The library as another project meets it: installed into an empty prefix, found by find_package(clatter), the example
# compiled and run. tests/consumer/run.sh [BUILD FOLDER]
set -euo pipefail
root=$(dirname "$(dirname "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")")")
build=${1:-$root/build/release}
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
log=$place/log
fail() { cat "$log" >&2; printf 'consumer: %s\n' "$1" >&2; exit 1; }

cmake --install "$build" --component library --prefix "$place/prefix" >"$log" 2>&1 || fail "installing failed"
cmake -S "$root/examples/cpp" -B "$place/build" -G Ninja -DCMAKE_PREFIX_PATH="$place/prefix" -DCMAKE_CXX_FLAGS=-Werror\ -Wall \
  >"$log" 2>&1 || fail "find_package(clatter) failed"
cmake --build "$place/build" >"$log" 2>&1 || fail "the example does not compile"
"$place/build/swing" "$root/models/rigid/pendulum.yaml" >"$log" 2>&1 || fail "the example fails"
# The pendulum's angle after a second is -3.133418044829 (closed form, see the model): the tip is at sin of it times 1 m.
# The model's tolerance of 1e-8 on the angle is one on the height, too.
awk '{ d = $2 + 0.008174517717; exit !($1 == 1 && d < 1e-8 && d > -1e-8) }' "$log" || fail "the example computes something else"
code=0
"$place/build/swing" "$root/no-such-model.yaml" >"$log" 2>&1 || code=$?
[[ $code == 2 ]] && grep -q 'cannot read the model file' "$log" || fail "a missing model is not told (exit code $code)"
printf 'installed, found, compiled, and the tip is where it should be\n'
