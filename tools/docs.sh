#!/usr/bin/env bash
# The documentation as a site, from nothing:  tools/docs.sh  leaves build/site/index.html
# Builds the program and the viewer's page, runs every model for the gallery, runs the commands of tutorials and concepts,
# photographs the viewer, checks all links.
set -euo pipefail
root=$(dirname "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")")
source "$root/tools/setup.sh"
ensure_packages "${build_packages[@]}" python3 python3-markdown chromium
"$root/clatter" --version >/dev/null
"$root/build/release/clatter" verify "$root/models" --quiet --gallery "$root/build/release/gallery"
exec /usr/bin/python3 "$root/tools/site.py" --gallery "$root/build/release/gallery" --out "$root/build/site"
