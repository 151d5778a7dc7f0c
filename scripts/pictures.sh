#!/usr/bin/env bash
# Makes the pictures of docs/pictures/ anew: a search in a store of its own, its live page and its report in a browser.
#   scripts/pictures.sh [KFORGE]    the program [out/release/kforge]
# Needs what `scripts/setup.sh platforms` installs.
set -euo pipefail
cd "$(dirname "$0")/.."

kforge=$(realpath "${1:-out/release/kforge}")
python=$PWD/out/browser/bin/python
[ -x "$python" ] || { echo "pictures: $python is missing: scripts/setup.sh platforms" >&2; exit 2; }
mkdir -p docs/pictures
"$python" -B tests/python/make_pictures.py "$kforge" "$PWD/docs/pictures"
# Drawings and text have few colours: far smaller files that look the same.
for picture in docs/pictures/*.png; do
  convert "$picture" +dither -colors 96 -strip -define png:compression-level=9 "$picture"
  size=$(stat -c %s "$picture")
  echo "$picture: $((size / 1000)) kB"
  [ "$size" -lt 200000 ] || { echo "pictures: $picture is larger than 200 kB" >&2; exit 1; }
done
