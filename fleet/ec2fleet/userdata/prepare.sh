# shellcheck shell=bash disable=SC2154 # what differs is set before
# What scripts of machines and of images share besides. They set user.
# lacking prints what runners need and the machine has not: see prepare.
lacking() {
  local all=''
  command -v curl >/dev/null || all+=' curl'
  command -v nft >/dev/null || command -v iptables >/dev/null || all+=' nft'
  [[ $(ldconfig -p) == *libicuuc.so* ]] || all+=' libicu'
  printf %s "${all# }"
}

# packages adds what jobs can expect, without questions and without what is merely recommended. apt waits for who has the
# lock, such as unattended-upgrades at the first boot.
packages() {
  local out icu
  out=$(
    exec 2>&1
    if command -v apt-get >/dev/null; then
      export DEBIAN_FRONTEND=noninteractive NEEDRESTART_SUSPEND=1
      apt-get -q -o APT::Update::Error-Mode=any -o Acquire::Retries=0 -o Acquire::http::Timeout=10 update || exit
      icu=$(apt-cache pkgnames libicu | grep -x 'libicu[0-9]*' | sort -V | tail -n 1)
      apt-get -q -y -o DPkg::Lock::Timeout=60 -o Acquire::Retries=0 -o Acquire::http::Timeout=10 --no-install-recommends install \
        ca-certificates curl git nftables tar "$icu"
    elif command -v dnf >/dev/null; then
      command -v curl >/dev/null || set -- curl-minimal
      dnf -q -y --setopt=install_weak_deps=False --setopt=timeout=10 --setopt=retries=1 install git libicu nftables tar "$@"
    else
      echo 'neither apt-get nor dnf is here'
      exit 1
    fi
  ) || {
    printf '%s\n' "$out" >&2
    why=${out##*$'\n'}
    return 1
  }
}

# hold_updates stops the updates that Debian and Ubuntu install in the background. They hold dpkg's lock and restart services
# while a job or the operator's script runs. New packages come with a new image. A run of apt that has begun ends by itself.
hold_updates() {
  local unit held=()
  for unit in apt-daily.timer apt-daily-upgrade.timer unattended-upgrades.service; do
    if [[ -e $root/lib/systemd/system/$unit ]]; then held+=("$unit"); fi
  done
  ((${#held[@]} == 0)) || systemctl --quiet --no-block --now mask "${held[@]}" ||
    log "cannot stop background updates (${held[*]}): jobs may find dpkg locked"
}

# docker_network NAMES gives Docker the proxies and certificates of the first script. A drop-in of the image is read later, and wins.
docker_network() {
  local known=$1 name value text='' dir=$root/etc/systemd/system/docker.service.d
  for name in $(compgen -e); do
    if [[ ! $name =~ $known$ ]]; then continue; fi
    value=${!name//\\/\\\\} value=${value//\"/\\\"}
    text+="Environment=\"$name=${value//%/%%}\""$'\n'
  done
  if [[ -z $text ]]; then return; fi
  mkdir -p "$dir"
  printf '[Service]\n%s' "$text" >"$dir/00-remuda-network.conf"
  systemctl daemon-reload
  systemctl try-restart docker.service || log 'docker.service does not start with the proxy'
}

# prepare makes a machine of a stock image fit for runners: the user of jobs, without a password, and what is lacking: nft
# (or iptables) for the firewall before the metadata service, libicu for the runner, curl. An image that has those is
# taken as it is. Where it fails, the agent says what that means for jobs.
prepare() {
  local begun=${EPOCHREALTIME//[!0-9]/} lack
  hold_updates
  if [[ -n $user ]] && ! id -u "$user" >/dev/null 2>&1; then
    # No ids of other users (subuid(5)): level full is refused with them (agent.allowSubordinateIds).
    if useradd --create-home --shell /bin/bash -K SUB_UID_COUNT=0 -K SUB_GID_COUNT=0 "$user"; then
      log "user $user made"
    else
      log "cannot make user $user: jobs need it (agent.runnerUser)"
    fi
  fi
  lack=$(lacking)
  if [[ -z $lack ]]; then return; fi
  again packages || {
    log "cannot install $lack: $why: use an image that has it, or let machines reach the package sources"
    return 1
  }
  log "$lack and git installed in $(since "$begun")"
}
