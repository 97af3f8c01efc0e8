# Sourced by scripts/flashbench and scripts/test: packages, nvcc, the build folder. Everything said here goes to stderr.
# shellcheck shell=bash disable=SC2034,SC2154

build_packages=(g++ cmake ninja-build libcli11-dev libfmt-dev nlohmann-json3-dev libopenblas-pthread-dev libhwy-dev)
build=$root/build
oldest_cuda=12.4

say() { printf 'flashbench: %s\n' "$*" >&2; }
give_up() {
  say "$@"
  exit 2
}

# Installs those of the named Debian packages that are not there.
install_packages() {
  if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
    say "no apt on this machine; going on in the hope that the equivalents of these are here: $*"
    return
  fi
  local package missing=()
  for package; do
    [[ $(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null) == installed* ]] || missing+=("$package")
  done
  ((${#missing[@]})) || return 0

  local as_root=()
  if ((EUID != 0)); then
    command -v sudo >/dev/null ||
      give_up "these packages are missing, and without root or sudo they cannot be installed from here; ask for: apt-get install ${missing[*]}"
    as_root=(sudo)
  fi
  say "installing Debian packages: ${missing[*]}"
  local apt=("${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -q -o DPkg::Lock::Timeout=300)
  "${apt[@]}" update </dev/null >&2 || say "apt-get update failed; trying with the package lists that are here"
  "${apt[@]}" install -y --no-install-recommends "${missing[@]}" </dev/null >&2 ||
    give_up "these packages could not be installed (see above): ${missing[*]}"
}

# Every nvcc that could be meant, best first, into `nvccs`; starts no process that takes time.
find_nvccs() {
  local path
  nvccs=()
  for path in "$(type -P "${CUDACXX:-nvcc}")" "$(type -P nvcc)" /usr/local/cuda/bin/nvcc /usr/local/cuda-*/bin/nvcc; do
    [[ -x $path && " ${nvccs[*]} " != *" $path "* ]] && nvccs+=("$path")
  done
  return 0
}

# The CMake options for the first nvcc that is new enough, into `cuda_options`; says why there is none.
choose_cuda() {
  local path version refused=
  cuda_options=(-DFLASHBENCH_CUDA=OFF)
  for path in "${nvccs[@]}"; do
    version=$("$path" --version 2>/dev/null | sed -n 's/.*release \([0-9.]*\).*/\1/p')
    [[ -n $version ]] || continue
    if [[ $(printf '%s\n' "$oldest_cuda" "$version" | sort -V | head -n 1) == "$oldest_cuda" ]]; then
      cuda_options=(-DFLASHBENCH_CUDA=ON "-DCMAKE_CUDA_COMPILER=$path")
      return
    fi
    refused="$path is CUDA $version, and the GPU kernels need $oldest_cuda or newer"
  done
  local toolkit="the CUDA toolkit $oldest_cuda or newer from https://developer.nvidia.com/cuda-downloads"
  if [[ -n $refused ]]; then
    say "$refused: building for the CPU only. To measure a GPU, install $toolkit"
  elif [[ -e /dev/nvidiactl || -e /proc/driver/nvidia/version || -e /dev/dxg ]]; then
    say "a GPU driver is here but no nvcc: building for the CPU only. To measure the GPU, install $toolkit"
  fi
}

# One builder at a time: holds descriptor 9 until unlock_build.
lock_build() {
  if ! mkdir -p "$build" 2>/dev/null || [[ ! -w $build ]]; then give_up "cannot write to $build"; fi
  exec 9>"$build/.lock"
  flock -n 9 && return
  say "another call is building; waiting for it"
  flock 9
}
unlock_build() { exec 9>&-; }

# Configures build/ with the given options, from scratch where what is there was made for something else.
configure_build() {
  local cache=$build/CMakeCache.txt fresh=()
  if [[ -f $cache ]] && ! { grep -qxF "CMAKE_HOME_DIRECTORY:INTERNAL=$root" "$cache" &&
    grep -qxF 'CMAKE_GENERATOR:INTERNAL=Ninja' "$cache" && [[ -f $build/.nvccs && $(<"$build/.nvccs") == "${nvccs[*]}" ]]; }; then
    fresh=(--fresh)
  fi
  (cd "$root" && cmake --preset default "${fresh[@]}" "${cuda_options[@]}" "$@") || return
  printf '%s\n' "${nvccs[*]}" >"$build/.nvccs"
}
