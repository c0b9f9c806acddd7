#!/usr/bin/env bash
# Memory errors that sanitizers do not see (numbers used before they are set): valgrind's memcheck over
#   the tests of the loader,
#   the fuzz corpus: models through `clatter info`, meshes, matrices and tables through a model that reads them,
#   a model of every kind: `clatter info`, and a run for half a minute of valgrind (half a second or so without it),
#   what is done with results: info, report, view, plots, tables, and a run that goes on from a checkpoint.
#
#   tools/memcheck.sh              all of it, half an hour with two processors
#   tools/memcheck.sh MODEL...     these models alone
#   tools/memcheck.sh --sanitized  the same by the build of ./test --sanitize, which calls this, instead of valgrind; there the tests of
#                                  the loader ran with all others
#
# Programs for valgrind are built without the instructions of this machine's processor (preset `memcheck`): it does not know all
# of them. What failed leaves its log in build/memcheck/findings/; the last line is `N passed, N failed`.
set -uo pipefail
root=$(dirname "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")")
source "$root/tools/setup.sh"
cd "$root" || exit 1
preset=memcheck
seconds=30 # a run
if [[ ${1-} == --sanitized ]]; then
  preset=sanitize
  seconds=10
  shift
  ensure_packages "${build_packages[@]}" clang libclang-rt-14-dev curl
  build sanitize clatter_program || exit 1
  checker=env
  sanitizer_options
else
  ensure_packages "${build_packages[@]}" valgrind curl
  build memcheck clatter_program test_base test_model || exit 1
  checker="valgrind --quiet --error-exitcode=99 --leak-check=no"
fi

program=$root/build/$preset/clatter
findings=$root/build/$preset/findings
rm -rf "$findings"
mkdir -p "$findings"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export root program findings work seconds checker XDG_CACHE_HOME=$work/cache
# Beside the program, where `view` and `report` look for it: any page with a place for the data will do.
page=$root/build/$preset/viewer.html
[[ -f $page ]] ||
  printf '<!doctype html><html><head></head><body><!--clatter:data--></body></html>\n' >"$page"

# verdict NAME LOG CODE CODES: passed when nothing was found (what is found is told in LOG; the exit code is 99 then, unless the
# program was stopped) and the program ended as expected.
verdict() {
  local name=$1 log=$2 code=$3 codes=$4 found='^==[0-9]*==\|runtime error: '
  if [[ " $codes " == *" $code "* ]] && ! grep -q "$found" "$log"; then
    printf 'passed: %s\n' "$name"
    rm -f "$log"
  else
    printf 'failed: %s (exit code %d, expected %s): %s\n' "$name" "$code" "$codes" "${log#"$root"/}"
    grep -A 12 -m 2 "$found" "$log" || tail -n 5 "$log"
    return 1
  fi
}
log_of() { printf '%s/%s.log' "$findings" "$(tr -c 'a-zA-Z0-9\n' _ <<<"$1")"; }
checked() { # NAME CODES COMMAND...
  local name=$1 codes=$2 log
  log=$(log_of "$name")
  shift 2
  $checker "$@" >"$log" 2>&1
  verdict "$name" "$log" $? "$codes"
}

# Not under valgrind: two tests against extended precision, which it has not (its long double is a double), and one of speed.
one_test_program() {
  checked "$1" 0 "$root/build/memcheck/$1" --gtest_filter=-RotationExponential.AgreesWithTheTaylorSeriesInExtendedPrecision:RotationCoefficients.AreExactToRoundOffOverTheWholeRange:Loading.TenThousandBodiesTakeUnderTwoSeconds
}

# Exit code 2 is the answer to a model with mistakes.
one_input() { checked "info ${1#"$work"/}" "0 2" "$program" info "$1"; }

# A run is stopped after a time as a user would stop it (exit code 130): memory is used alike afterwards.
one_model() { # MODEL
  local name="run $1" log
  log=$(log_of "$name")
  one_input "$1"
  timeout --preserve-status --signal=INT --kill-after=300 "$seconds" $checker \
    "$program" run "$1" --output "$log.h5" >"$log" 2>&1
  verdict "$name" "$log" $? "0 130"
  rm -f "$log.h5"
}

one_result() { # MODEL END QUANTITY
  local name=${1##*/} result kind
  name=${name%.yaml}
  result=$work/$name.h5
  checked "run $name to $2 s" 0 "$program" run "$1" --end "$2" --output "$result" --quiet || return
  checked "info of the result of $name" 0 "$program" info "$result"
  checked "report of $name" 0 "$program" report "$result" -o "$work/$name.html"
  checked "table of $name" 0 "$program" export "$result" --csv "$work/$name.csv"
  checked "files of $name for ParaView" 0 "$program" export "$result" --vtk "$work/$name"
  for kind in svg pdf png; do
    checked "plot of $name as $kind" 0 "$program" plot "$result" "$3" -o "$work/$name.$kind"
  done
  one_view "$name" "$result"
  checked "run $name further" 0 "$program" run --continue "$result" --end "$(awk "BEGIN {print 2 * $2}")" --quiet
  checked "info of the longer result of $name" 0 "$program" info "$result"
}

one_view() { # NAME RESULT: every kind of answer of the server, to good and to bad requests
  local name="view of $1" log address request
  log=$(log_of "$name")
  $checker "$program" view "$2" --no-browser >"$log" 2>&1 &
  local server=$!
  for _ in {1..200}; do
    address=$(grep -so -m 1 'http://[^ ]*' "$log") && break
    kill -0 "$server" 2>/dev/null || break
    sleep 0.3
  done
  [[ ! ${address-} ]] || for request in '' data/meta data/progress data/checks 'data/events?first=0&count=5' 'data/rows?c=0&count=3&stride=2' \
    'data/rows?table=ledger&c=0' 'data/series?c=0&k=0&points=20' 'data/series?c=0&k=length' 'data/surface?i=0&part=vertices' \
    'data/surface?i=99' 'data/rows?c=x' nothing; do
    curl --silent --output /dev/null --max-time 60 "${address%/}/$request" ||
      printf 'failed: %s does not answer /%s\n' "$name" "$request"
  done
  kill -TERM "$server" 2>/dev/null
  wait "$server"
  verdict "$name" "$log" $? "0 130"
}
export -f verdict log_of checked one_test_program one_input one_model one_result one_view

# One of each kind of body, coordinates, contact and method.
models=(rigid/heavy_top rigid/heavy_top_joint rigid/heavy_top_alpha rigid/heavy_top_adams rigid/governor_bdf rigid/bennett_joint_radau5
  rigid/four_bar_singular_joint rigid/knife_edge forces/actuator forces/tabulated_spring
  contact/woodpecker contact/woodpecker_time_stepping contact/coins_stacked_events contact/coins_stacked_alpha
  contact/slider_with_play contact/pendulum_joint_friction contact/cradle_soft contact/box_on_incline_smooth contact/collapsing_column
  crowd/rolling_balls crowd/unlike_masses crowd/capsules crowd/logs crowd/pieces
  flexible/pendulum flexible/free_superelement flexible/elastic_block flexible/spin_up flexible/bending_stress
  beams/bend beams/cable_pendulum beams/conical_cable beams/crossing_cables yu/yv05_beam_drop yu/yv09_beam_on_sine
  yu/yv13_corner_to_side yu/yv13_corner_to_side_penalty)
# Models that read the meshes, matrices and tables of the fuzz corpus.
write_readers() {
  local file
  for file in "$root"/tests/fuzz/corpus/{gmsh,abaqus}/*; do
    printf 'clatter: 1\nbodies:\n  b: {type: flexible, mesh: %s, reduce: all, material: {density: 1000, young: 1e9, poisson: 0.3}}\n' \
      "$file" >"$work/reads_${file##*/}.yaml"
  done
  for file in "$root"/tests/fuzz/corpus/matrix_market/*; do
    printf 'clatter: 1\nbodies:\n  b: {type: flexible, mesh: {matrices: {stiffness: %s, mass: %s, nodes: %s}}, reduce: all}\n' \
      "$file" "$file" "${file%/*}/table.txt" >"$work/reads_${file##*/}.yaml"
  done
}
list_jobs() {
  if (($#)); then
    printf 'one_model %s\n' "$@"
    return
  fi
  write_readers
  [[ $preset == sanitize ]] || printf 'one_test_program %s\n' test_model test_base
  printf 'one_model tests/memcheck/%s.yaml\n' beam_closes_on_itself beam_closes_on_itself_smooth
  printf 'one_model models/%s.yaml\n' "${models[@]}"
  printf 'one_input %s\n' tests/fuzz/corpus/model/* "$work"/reads_*.yaml
  printf 'one_result models/%s\n' "contact/woodpecker.yaml 0.01 wood.*" "flexible/bending_stress.yaml 0.01 bar.*" \
    "crowd/rolling_balls.yaml 0.05 roller.velocity" "beams/cable_pendulum.yaml 0.02 cable.end.position"
}
# A line is a function and its arguments, divided by spaces; globs in it are for the program.
run_job() {
  read -r -a words <<<"$1"
  "${words[@]}"
}
export -f run_job
list_jobs "$@" | xargs -d '\n' -P "$(nproc)" -I {} bash -c 'run_job "$1"' - {} | tee "$findings/verdicts.txt"

passed=$(grep -c '^passed: ' "$findings/verdicts.txt")
failed=$(grep -c '^failed: ' "$findings/verdicts.txt")
printf '%d passed, %d failed\n' "$passed" "$failed"
((failed == 0 && passed > 0))
