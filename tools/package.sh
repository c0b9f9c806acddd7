#!/usr/bin/env bash
# Makes the packages: build/packages/clatter_VERSION_amd64.deb and build/packages/clatter-VERSION-cpXY-cpXY-linux_x86_64.whl
#
#   tools/package.sh                   for any x86-64 processor. The library is compiled twice, for the baseline and for processors
#                                      with AVX2 and FMA (x86-64-v3); the loader of glibc takes the one that fits
#   tools/package.sh --from release    from the objects of that preset, for this machine's processor: nothing is compiled again. So
#                                      ./test proves the packaging
#   tools/package.sh --out FOLDER      where the packages go
set -euo pipefail
root=$(dirname "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")")
source "$root/tools/setup.sh"

preset=package
out=$root/build/packages
while (($#)); do
  case $1 in
    --from) preset=${2:?--from needs a preset} && shift 2 ;;
    --out) out=${2:?--out needs a folder} && shift 2 ;;
    -h | --help)
      sed -n '2,/^set /{/^#/s/^# \{0,1\}//p}' "${BASH_SOURCE[0]}"
      exit 0
      ;;
    *) die "tools/package.sh knows --from PRESET and --out FOLDER, not '$1'" ;;
  esac
done

ensure_packages "${build_packages[@]}" "${package_packages[@]}"
build "$preset" package_parts
levels=() # libraries for processors above the baseline
if [[ $preset == package ]]; then
  build package-v3 clatter_shared
  levels=(v3)
fi
build_page "$preset" || die "there is no package without the viewer's page."

parts=$root/build/$preset/package
version=$(<"$parts/version")
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
mkdir -p "$out"
out=$(cd "$out" && pwd -P)

# put_libraries FOLDER: the library, and those for higher levels where the loader looks for them first.
put_libraries() {
  local library level
  library=$(basename "$parts"/libclatter.so.*.*.*)
  library=${library%.*} # the name programs ask for: without the last number
  install -D -m 644 "$parts/$library" "$1/$library"
  for level in "${levels[@]}"; do
    install -D -m 644 "$root/build/package-$level/package/$library" "$1/glibc-hwcaps/x86-64-$level/$library"
  done
  find "$1" -name 'libclatter.so.*' -exec strip --strip-unneeded {} +
}

make_deb() {
  local tree=$place/deb doc=$place/deb/usr/share/doc/clatter architecture depends
  architecture=$(dpkg --print-architecture)
  install -D -m 755 "$parts/clatter" "$tree/usr/bin/clatter"
  strip --strip-unneeded "$tree/usr/bin/clatter"
  put_libraries "$tree/usr/lib/clatter"
  install -D -m 644 "$root/build/$preset/viewer.html" "$tree/usr/share/clatter/viewer.html"
  mkdir -p "$doc" "$tree/usr/share/man/man1" "$tree/DEBIAN" "$place/debian"
  gzip -9nc "$root/CHANGELOG.md" >"$doc/changelog.gz"
  gzip -9nc "$root/docs/clatter.1" >"$tree/usr/share/man/man1/clatter.1.gz"
  {
    printf 'Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/\nUpstream-Name: clatter\n\n'
    printf 'Files: *\nCopyright: the Clatter contributors\nLicense: Apache-2.0\n'
    printf ' On Debian systems the text is in /usr/share/common-licenses/Apache-2.0.\n'
  } >"$doc/copyright"
  chmod 644 "$doc"/* "$tree/usr/share/man/man1/clatter.1.gz"
  # What it needs of other packages, by the symbols it uses.
  printf 'Source: clatter\n\nPackage: clatter\nArchitecture: any\n' >"$place/debian/control"
  depends=$(cd "$place" && dpkg-shlibdeps -O --ignore-missing-info -l"$tree/usr/lib/clatter" -e"$tree/usr/bin/clatter" \
    $(find "$tree/usr/lib" -name 'libclatter.so.*' -printf '-e%p ') 2>"$place/shlibdeps.log" | sed -n 's/^shlibs:Depends=//p') ||
    { cat "$place/shlibdeps.log" >&2; die "dpkg-shlibdeps failed."; }
  [[ -n $depends ]] || { cat "$place/shlibdeps.log" >&2; die "no dependencies were found."; }
  cat >"$tree/DEBIAN/control" <<CONTROL
Package: clatter
Version: $version
Architecture: $architecture
Maintainer: The Clatter contributors <contributors@clatter.example>
Section: science
Priority: optional
Installed-Size: $(du -ks "$tree/usr" | cut -f1)
Depends: $depends
Description: simulator of machines whose parts move, flex and knock on each other
 Models are YAML files of bodies, joints, forces and contacts. Rigid and flexible
 multibody systems with impacts and friction are integrated event by event, by
 time stepping or smoothly; results close an energy ledger and are shown by a
 viewer in the browser.
CONTROL
  deb=$out/clatter_${version}_$architecture.deb
  dpkg-deb --root-owner-group --build "$tree" "$deb" >/dev/null
}

make_wheel() {
  local tree=$place/wheel/clatter
  mkdir -p "$tree"
  cp "$root"/python/clatter/*.py "$root"/python/clatter/*.pyi "$root/python/clatter/py.typed" "$tree"
  install -m 644 "$parts"/_clatter.*.so "$root/build/$preset/viewer.html" "$tree"
  strip --strip-unneeded "$tree"/_clatter.*.so
  put_libraries "$tree/lib"
  wheel=$(/usr/bin/python3 "$root/tools/wheel.py" "$place/wheel" "$version" "$out")
}

make_deb
make_wheel
for file in "$deb" "$wheel"; do printf '%s  %s\n' "$(du -h "$file" | cut -f1)" "$file"; done
