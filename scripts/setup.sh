#!/usr/bin/env bash
# Installs the Debian packages KForge needs, and nothing when they are there already.
#   scripts/setup.sh             what building and testing the core needs
#   scripts/setup.sh programs    only what building the programs needs
#   scripts/setup.sh onnxruntime only the baseline that nearly everybody has: onnxruntime, from PyPI into out/venv
#   scripts/setup.sh platforms   everything: also profilers, compilers and emulators of other machines, OpenCL and Vulkan
#                                on the processor, OpenVINO, and PyTorch; KFORGE_TORCH2=1 also fetches PyTorch 2 (several GB)
# Works as root, or as an ordinary user through sudo. An extra that cannot be had is named and left out; it
# disables what it is for, never the build.
set -euo pipefail
cd "$(dirname "$0")/.."

programs=(
  build-essential cmake ninja-build pkg-config git
  libonnx-dev libprotobuf-dev protobuf-compiler libdnnl-dev
  libcurl4-openssl-dev nlohmann-json3-dev libtomlplusplus-dev libcli11-dev libfmt-dev
  libsqlite3-dev sqlite3 libssl-dev openssl bubblewrap libseccomp-dev libcpp-httplib-dev libkainjow-mustache-dev
  libgtest-dev libgmock-dev
)
core=("${programs[@]}" libbenchmark-dev libonnx-testdata libsimde-dev clang-format clang-tidy-19)
# package=what is missing without it
extras=(
  "llvm-19=llvm-mca and listings in profiles"
  "linux-perf=perf profiles"
  "valgrind=callgrind profiles"
  "kcachegrind=pictures of profiles"
  "xvfb=pictures of profiles"
  "imagemagick=pictures of profiles"
  "x11-utils=pictures of profiles"
  "dbus=pictures of profiles"
  "gfortran=platform fortran"
  "rustc=platform rust"
  "g++-aarch64-linux-gnu=platform arm64"
  "g++-riscv64-linux-gnu=platform riscv64"
  "clang-19=platform riscv64, and emulation of CUDA and Metal"
  "lld-19=platform riscv64"
  "qemu-user=running programs of platforms arm64 and riscv64"
  "pocl-opencl-icd=platform opencl where there is no GPU"
  "ocl-icd-opencl-dev=platform opencl"
  "opencl-c-headers=platform opencl"
  "oclgrind=races and accesses out of bounds of OpenCL programs"
  "glslang-tools=platform vulkan"
  "spirv-tools=platform vulkan"
  "libvulkan-dev=platform vulkan"
  "mesa-vulkan-drivers=platform vulkan where there is no GPU"
  "chromium=tests of pages in a browser"
  "chromium-driver=tests of pages in a browser"
  "vulkan-validationlayers=a closer look at Vulkan programs in check mode"
  "libjemalloc2=a fair allocator for the torch baseline"
  "python3-numpy=the Python baselines"
  "python3-venv=the Python baselines"
  "python3-torch=the torch baseline"
  "libopenblas0-pthread=a fast BLAS for the torch baseline"
)

say() { printf 'setup: %s\n' "$*"; }

if [ "$(id -u)" -eq 0 ]; then as_root=(); else as_root=(sudo); fi

# Prints those of its arguments that are not installed: one dpkg-query for all of them.
missing_of() {
  local installed package
  # dpkg-query fails when it does not know one of the names; what it knows it prints all the same.
  installed=" $({ dpkg-query -W -f='${db:Status-Abbrev}${Package}\n' "$@" 2>/dev/null || true; } |
    sed -n 's/^ii *//p' | tr '\n' ' ')"
  for package in "$@"; do
    [[ "$installed" == *" $package "* ]] || printf '%s\n' "$package"
  done
}

need_root() {
  [ ${#as_root[@]} -eq 0 ] || command -v sudo >/dev/null && return
  say "these packages must be installed by root, and there is no sudo here: $*"
  say "run as root: apt-get install --no-install-recommends $*"
  exit 2
}

apt() {
  ${as_root[@]+"${as_root[@]}"} env DEBIAN_FRONTEND=noninteractive apt-get -q -o DPkg::Lock::Timeout=300 "$@"
}

# The package lists are fetched only when something is to be installed, and at most once.
updated=no
update_lists() {
  [ "$updated" = yes ] && return
  updated=yes
  say "fetching the package lists (apt-get update)"
  apt update >/dev/null || say "the package lists could not be fetched; going on with the ones here"
}

install() {
  need_root "$@"
  update_lists
  say "installing: $*"
  apt install -y --no-install-recommends "$@" >/dev/null
}

# Debian's packages given as arguments; without them there is no going on.
install_needed() {
  local missing
  mapfile -t missing < <(missing_of "$@")
  if [ ${#missing[@]} -eq 0 ]; then
    say "all $# core packages are here"
    return
  fi
  if ! install "${missing[@]}"; then
    say "could not install: ${missing[*]}"
    say "KForge is made for Debian 12; look at the messages of apt-get above"
    exit 2
  fi
  say "core packages installed"
}

install_extras() {
  local names=() entry missing
  for entry in "${extras[@]}"; do names+=("${entry%%=*}"); done
  mapfile -t missing < <(missing_of "${names[@]}")
  if [ ${#missing[@]} -eq 0 ]; then
    say "all ${#names[@]} extra packages are here"
  elif ! install "${missing[@]}"; then
    # One of them cannot be had: take the others one by one.
    local package
    for package in "${missing[@]}"; do
      install "$package" && continue
      for entry in "${extras[@]}"; do
        [ "${entry%%=*}" = "$package" ] && say "without $package: no ${entry#*=}"
      done
    done
  fi
}

# has PYTHON PACKAGE: whether it is installed there.
has() {
  "$1" -c 'import importlib.metadata, sys; importlib.metadata.version(sys.argv[1])' "$2" >/dev/null 2>&1
}

# make_venv FOLDER [OPTIONS]: a virtual environment, where there is none.
make_venv() {
  local folder=$1
  shift
  [ -x "$folder/bin/python" ] && return
  mkdir -p out
  # A machine without the module venv gets it; one where that fails hears below what it does without.
  /usr/bin/python3 -c 'import venv, ensurepip' 2>/dev/null || install python3-venv || true
  /usr/bin/python3 -m venv "$@" "$folder"
}

# install_wheel FOLDER PACKAGE IMPORT-CHECK PIP-ARGUMENTS...: from PyPI, and only when it is not there.
install_wheel() {
  local folder=$1 package=$2 check=$3
  shift 3
  if has "$folder/bin/python" "$package"; then
    say "$package is here, in $folder"
  elif say "fetching $package from PyPI into $folder" &&
    "$folder/bin/pip" install -q --disable-pip-version-check --timeout 20 --retries 1 "$@" &&
    "$folder/bin/python" -c "$check"; then
    say "$package is here, in $folder"
  else
    say "without $package: nothing that needs it (PyPI could not be reached, or has none for this Python)"
    return 1
  fi
}

# Debian's PyTorch was built for numpy 1. Without this pip would take numpy 2 where Debian's own is not installed yet.
venv_numpy='numpy<2'

# onnxruntime and OpenVINO are not in Debian: they come from PyPI into out/venv, which also sees Debian's numpy and torch.
install_baselines() {
  local package
  if ! make_venv out/venv --system-site-packages; then
    say "without a virtual environment: none of these baselines: $*"
    return
  fi
  for package in "$@"; do
    case "$package" in
      onnxruntime) install_wheel out/venv onnxruntime 'import onnxruntime' 'onnxruntime>=1.16,<2' "$venv_numpy" || true ;;
      openvino) install_wheel out/venv openvino 'import openvino' openvino "$venv_numpy" || true ;;
    esac
  done
  # An environment of an earlier set-up may have the other one.
  if ! out/venv/bin/python -c 'import numpy, sys; sys.exit(int(numpy.__version__.split(".")[0]) >= 2)' 2>/dev/null; then
    install_wheel out/venv "numpy below version 2" 'import numpy' "$venv_numpy" || true
  fi
}

# The official clients of the Model Context Protocol, both major versions: tests of `kforge mcp` speak with them.
install_mcp_clients() {
  make_venv out/mcp1 && install_wheel out/mcp1 mcp 'import mcp' 'mcp<2' || true
  make_venv out/mcp2 && install_wheel out/mcp2 mcp 'import mcp' 'mcp>=2' || true
}

# Tests of `kforge serve` look at its pages in Debian's browser, and at how everybody can use them.
install_browser_tests() {
  make_venv out/browser && install_wheel out/browser selenium 'import selenium' 'selenium>=4,<5' &&
    install_wheel out/browser axe-core-python 'import axe_core_python' 'axe-core-python>=0.1,<1' || true
}

# Several GB, so only where it is asked for. The packages for processors alone are much smaller where they can be reached.
install_torch2() {
  local index=https://download.pytorch.org/whl/cpu
  make_venv out/torch2 || return 0
  install_wheel out/torch2 torch 'import torch, numpy' --index-url "$index" 'torch>=2' numpy ||
    install_wheel out/torch2 torch 'import torch, numpy' 'torch>=2' numpy || return 0
  # Its newer exporter to ONNX, which some modules need.
  install_wheel out/torch2 onnxscript 'import onnxscript' onnxscript || true
}

case "${1:-}" in
  "") install_needed "${core[@]}" ;;
  programs) install_needed "${programs[@]}" ;;
  onnxruntime) install_baselines onnxruntime ;;
  platforms)
    install_needed "${core[@]}"
    install_extras
    install_baselines onnxruntime openvino
    install_mcp_clients
    install_browser_tests
    if [ "${KFORGE_TORCH2:-0}" = 1 ]; then install_torch2; fi
    ;;
  *)
    echo "usage: scripts/setup.sh [programs|onnxruntime|platforms]" >&2
    exit 2
    ;;
esac
