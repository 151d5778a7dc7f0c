# Sourced by the other scripts: build PRESET [TARGET...] configures once and builds what changed.
build() {
  local preset=$1 started=$SECONDS log
  shift
  if [ ! -f "out/$preset/build.ninja" ]; then
    echo "build: configuring preset $preset in out/$preset"
    # CMake's words are of interest only when it fails.
    log=$(cmake --preset "$preset" 2>&1) || {
      printf '%s\n' "$log"
      return 1
    }
  fi
  echo "build: compiling preset $preset"
  cmake --build --preset "$preset" -j "$(nproc)" --target "${@:-all}" || return 1
  echo "build: out/$preset is up to date ($((SECONDS - started)) s)"
}
