# Sourced by quickstart.sh and test.sh: build PRESET configures once and builds what changed.
build() {
  local preset=$1 started=$SECONDS
  if [ ! -f "out/$preset/build.ninja" ]; then
    echo "build: configuring preset $preset in out/$preset"
    cmake --preset "$preset" >"/tmp/kforge-configure.$$" || {
      cat "/tmp/kforge-configure.$$"
      return 1
    }
    rm -f "/tmp/kforge-configure.$$"
  fi
  echo "build: compiling preset $preset"
  cmake --build --preset "$preset" -j "$(nproc)" || return 1
  echo "build: out/$preset is up to date ($((SECONDS - started)) s)"
}
