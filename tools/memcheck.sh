#!/usr/bin/env bash
# Memory errors that sanitizers do not see (numbers used before they are set): valgrind's memcheck over
#   the tests of the loader, a model of every kind (what `clatter info` reads and compiles, and a short run), and the fuzz corpus.
#
#   tools/memcheck.sh            all of it
#   tools/memcheck.sh MODEL...   these models alone
#
# Programs for it are built without the instructions of this machine's processor (preset `memcheck`): valgrind does not know all of
# them. The last line is `N passed, N failed`.
set -uo pipefail
root=$(dirname "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")")
source "$root/tools/setup.sh"
ensure_packages "${build_packages[@]}" valgrind
cd "$root" || exit 1
build memcheck clatter_program test_base test_model || exit 1

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
passed=0
failed=0
# What the program itself answers (exit codes 0, 2, 3 and 130) is no finding; 99 is valgrind's.
checked() { # NAME COMMAND...
  local name=$1 log=$work/log
  shift
  valgrind --quiet --error-exitcode=99 --leak-check=no --track-origins=no "$@" >"$log" 2>&1
  local code=$?
  case $code in
    0 | 2 | 3 | 130) passed=$((passed + 1)) ;;
    *)
      failed=$((failed + 1))
      printf 'finding (exit code %d): %s\n' "$code" "$name"
      grep -A 12 -m 3 '^==' "$log"
      ;;
  esac
}
program=$root/build/memcheck/clatter
export XDG_CACHE_HOME=$work/cache

# One of each kind of body, contact and method.
models=(rigid/heavy_top rigid/four_bar_singular_joint rigid/knife_edge forces/actuator contact/woodpecker contact/woodpecker_time_stepping
  contact/coins_stacked_alpha contact/slider_with_play contact/pendulum_joint_friction contact/cradle_soft crowd/rolling_balls flexible/pendulum
  flexible/free_superelement flexible/elastic_block beams/bend beams/cable_pendulum yu/yv09_beam_on_sine yu/yv13_corner_to_side)
if (($#)); then
  files=("$@")
else
  files=("${models[@]/#/models/}")
  files=("${files[@]/%/.yaml}")
  checked "tests of base" "$root/build/memcheck/test_base"
  checked "tests of the loader" "$root/build/memcheck/test_model"
  for file in tests/fuzz/corpus/model/*; do checked "info $file" "$program" info "$file"; done
fi
for file in "${files[@]}"; do
  checked "info $file" "$program" info "$file"
  # A hundred steps or so: memory is used alike afterwards. What takes longer is stopped as a user would.
  checked "run $file" timeout --signal=INT 60 "$program" run "$file" --end 0.002 --output "$work/result.h5" --quiet
  rm -f "$work/result.h5"
done
printf '%d passed, %d failed\n' "$passed" "$failed"
((failed == 0))
