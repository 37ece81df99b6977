# What follows is the same for every host; the lines above hold what differs.
set -Eeuo pipefail
umask 022
root=${REMUDA_ROOT:-}
bin=$root/usr/local/bin/remuda
unit=remuda-controller.service
case $(uname -m) in aarch64) arch=arm64 ;; *) arch=$(uname -m) ;; esac

log() {
  printf 'remuda: %s\n' "$*" >&2
  { printf 'remuda: %s\n' "$*" >>"$root/dev/console"; } 2>/dev/null || :
}

# write PATH MODE: what comes, as a whole.
write() {
  mkdir -p "$root${1%/*}"
  cat >"$root$1.new"
  chmod "$2" "$root$1.new"
  mv -f "$root$1.new" "$root$1"
}

# cloud-init runs user data once, and what is here at every boot: one that came too early for the program, or an older
# one, has it after the next.
again_at=/var/lib/cloud/scripts/per-boot/remuda-host
if [[ $0 != "$root$again_at" ]]; then write "$again_at" 0755 <"$0"; fi

id -u remuda >/dev/null 2>&1 ||
  useradd --system --user-group --no-create-home --home-dir /var/lib/remuda --shell /usr/sbin/nologin remuda
write /etc/remuda/controller.env 0640 <<<"AWS_REGION=$region"$'\n'"REMUDA_CONFIG=ssm:/$name/config"
write "/etc/systemd/system/$unit" 0644 <<<"$service"

# published takes the program of this host's architecture out of what is published: its key says its SHA-256.
published() {
  local text sum
  command -v curl >/dev/null || { apt-get -q update && apt-get -q -y --no-install-recommends install ca-certificates curl; } >&2 || return
  get "s3://$bucket/release.json" "$bin.json" || return
  text=$(tr -d ' \n\t' <"$bin.json")
  if ! [[ $text =~ \"$arch\":\{[^}]*\"key\":\"(program/([0-9a-f]{64})/[A-Za-z0-9_.~-]+)\" ]]; then
    why="it has no program for $arch"
    return 1
  fi
  sum=${BASH_REMATCH[2]}
  if is_program "$bin" "$sum"; then return; fi
  get "s3://$bucket/${BASH_REMATCH[1]}" "$bin.new" || return
  if ! matches "$bin.new" "$sum"; then
    why="the SHA-256 of the program is not $sum"
    return 1
  fi
  chmod 0755 "$bin.new"
  mv -f "$bin.new" "$bin"
}

# The stack does not wait for the program, nor does this for long where it has one: any program is better than none.
mkdir -p "${bin%/*}"
said=
until published; do
  if [[ $why != "$said" ]]; then log "waits for the program: remuda init --publish puts it into $bucket: $why"; fi
  said=$why
  if [[ -x $bin ]]; then break; fi
  sleep "${REMUDA_PAUSE:-10}"
done
rm -f "$bin.json" "$bin.new"
systemctl daemon-reload
systemctl restart "$unit"
log "controller of $name started, $("$bin" version)"
