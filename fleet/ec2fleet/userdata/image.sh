# What follows is the same for every image; the lines above hold what differs.
set -Eeuo pipefail
umask 022
root=${REMUDA_ROOT:-}
step='begin'
ready=

log() { printf 'remuda: %s\n' "$*" >&2; }

leave() {
  local status=$?
  rm -rf "$root$baked.new" "$root$dir.new"
  if [[ -z $ready ]]; then log "cannot $step (status $status): this machine is not an image for remuda"; fi
}
trap leave EXIT

step='begin: this script must be run by root'
[[ $EUID == 0 || -n $root ]]
step="begin: this script is for $arch, and this machine is $(uname -m)"
[[ $(uname -m) == "${arch/arm64/aarch64}" ]]

step='install what runners need'
prepare

step="install the program: there is none at $baked${sum:+ with SHA-256 $sum}, and no URL to fetch it from (ec2.binaryUrl)"
mkdir -p "$root${baked%/*}"
if ! is_program "$root$baked" "$sum"; then
  [[ -n $url ]]
  fetch 'the program' "$url" "$root$baked.new" "$sum"
  chmod 0755 "$root$baked.new"
  mv -f "$root$baked.new" "$root$baked"
fi

# The folder says which archive it is from: to this script, and to agents whose configuration names the archive.
if [[ -n $runner && $(cat "$root$dir/$mark" 2>/dev/null) != "$runner_sum" ]]; then
  step="make $dir: it is there and holds something else than a runner"
  [[ ! -e $root$dir || -e $root$dir/bin/Runner.Listener ]]
  step="make $dir"
  rm -rf "$root$dir.new"
  mkdir -p "$root$dir.new"
  fetch 'the runner' "$runner" "$root$dir.new/archive" "$runner_sum"
  tar -xzf "$root$dir.new/archive" --no-same-owner -C "$root$dir.new"
  rm "$root$dir.new/archive"
  printf '%s\n' "$runner_sum" >"$root$dir.new/$mark"
  rm -rf "$root${dir:?}"
  mv "$root$dir.new" "$root$dir"
fi

step='pass the check of the image: what a machine needs at its boot is missing'
if [[ -n $(lacking) ]]; then
  step+=": $(lacking)"
  false
fi
step="pass the check of the image: user $user is missing"
[[ -z $user ]] || id -u "$user" >/dev/null
step="pass the check of the image: $baked does not run"
version=$("$root$baked" version)
step="pass the check of the image: the runner in $dir does not run"
if [[ -e $root$dir/bin/Runner.Listener ]]; then
  version+=", runner $("$root$dir/bin/Runner.Listener" --version)"
  rm -rf "$root$dir/_diag" # its log of that
elif [[ -n $runner ]]; then
  false
else
  version+=', without a runner (agent.runnerUrl)'
fi
ready=yes
log "image is ready: $version"
