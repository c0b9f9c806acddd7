#!/usr/bin/env bash
# The packages as a user meets them: made from the objects of a build, put into empty roots, and a model run from each, its report
# included. tests/package/run.sh [PRESET]
set -euo pipefail
root=$(dirname "$(dirname "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")")")
preset=${1:-release}
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
log=$place/log
fail() { cat "$log" >&2; printf 'package: %s\n' "$1" >&2; exit 1; }
# Nothing of the build folder may be found by chance: a work folder of its own, and an environment with nothing in it.
mkdir "$place/work"
cd "$place/work"
alone() { env -i PATH=/usr/bin:/bin HOME="$place" "$@"; }

"$root/tools/package.sh" --from "$preset" --out "$place" >"$log" 2>&1 || fail "the packages were not made"
version=$(<"$root/build/$preset/package/version")

# is_report FILE: the viewer's page with the result in it.
is_report() { grep -q '<html' "$1" && grep -q 'pendulum.yaml' "$1" && (($(stat -c %s "$1") > 200000)); }

# The Debian package.
dpkg-deb -x "$place"/clatter_*.deb "$place/deb" >"$log" 2>&1 || fail "the Debian package does not unpack"
[[ $(dpkg-deb -f "$place"/clatter_*.deb Version) == "$version" ]] || fail "the Debian package has another version"
dpkg-deb -f "$place"/clatter_*.deb Depends | grep -q libhdf5 || fail "the Debian package does not name its libraries"
program=$place/deb/usr/bin/clatter
[[ $(alone "$program" --version) == "clatter $version" ]] || fail "the program has another version"
folder=$(dirname "$(find "$place/deb" -name 'libclatter.so.*')")
alone ldd "$program" >"$log"
grep -q "libclatter.so.* => $folder/\|libclatter.so.* => .*/deb/usr/bin/../lib/" "$log" || fail "the program takes another library"
alone "$program" run "$root/models/rigid/pendulum.yaml" -o pendulum.h5 >"$log" 2>&1 || fail "the program does not run a model"
alone "$program" report pendulum.h5 -o pendulum.html >"$log" 2>&1 || fail "the program writes no report"
is_report pendulum.html || fail "the program's report is none"
alone "$program" run "$root/no-such-model.yaml" >"$log" 2>&1 && fail "a missing model is not told"
[[ -s $place/deb/usr/share/man/man1/clatter.1.gz && -s $place/deb/usr/share/doc/clatter/changelog.gz ]] || fail "pages are missing"

# Where the loader finds a library for this processor's level, it takes that, and the page is found from there.
/lib64/ld-linux-x86-64.so.2 --help >"$log"
if grep -q 'x86-64-v3 (supported' "$log"; then
  install -D "$folder"/libclatter.so.* -t "$folder/glibc-hwcaps/x86-64-v3"
  alone ldd "$program" >"$log"
  grep -q 'libclatter.so.* => .*glibc-hwcaps/x86-64-v3' "$log" || fail "the library for this processor is not taken"
  alone "$program" report pendulum.h5 -o again.html >"$log" 2>&1 || fail "no report with the library for this processor"
fi

# The wheel.
/usr/bin/python3 -m pip install --no-index --no-deps --no-cache-dir --disable-pip-version-check --root-user-action=ignore \
  --target "$place/python" "$place"/clatter-*.whl >"$log" 2>&1 || fail "the wheel does not install"
cat >model.py <<PYTHON
import sys, clatter
assert clatter.__file__.startswith(sys.argv[1]), clatter.__file__
assert clatter.__version__ == sys.argv[3], clatter.__version__
result = clatter.Model(sys.argv[2]).run("wheel.h5")
result.report("wheel.html")
# The angle after two seconds, in closed form (see the model's checks).
angle = result["pin.angle"][-1]
assert result.time[-1] == 2 and abs(angle + 0.032697342573) < 1e-8, angle
PYTHON
alone PYTHONPATH="$place/python" PYTHONDONTWRITEBYTECODE=1 /usr/bin/python3 model.py "$place/python" "$root/models/rigid/pendulum.yaml" "$version" \
  >"$log" 2>&1 || fail "the wheel does not run a model"
is_report wheel.html || fail "the wheel's report is none"
# Both are the same library: the same result to the last bit.
alone "$program" export pendulum.h5 --csv program.csv >"$log" 2>&1 || fail "the program exports no table"
alone "$program" export wheel.h5 --csv wheel.csv >"$log" 2>&1 || fail "the program exports no table of the wheel's result"
cmp program.csv wheel.csv >"$log" 2>&1 || fail "program and wheel compute different results"
printf 'both packages unpacked, the same motion from each, with a report\n'
