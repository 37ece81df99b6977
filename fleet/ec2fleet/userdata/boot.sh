# What follows is the same for every installation; the lines above hold what differs.
set -Eeuo pipefail
umask 022
root=${REMUDA_ROOT:-}
bin=$root/usr/local/bin/remuda
unit=remuda-agent.service
step='begin'
started=
begun=${EPOCHREALTIME//[!0-9]/} # µs

# The console is what EC2 keeps of a machine that is gone (GetConsoleOutput).
log() {
  printf 'remuda: %s\n' "$*" >&2
  { printf 'remuda: %s\n' "$*" >>"$root/dev/console"; } 2>/dev/null || :
}

# Proxies and certificates: those of the image, then those of the configuration, which win.
known='^((https?|no|all)_proxy|(HTTPS?|NO|ALL)_PROXY|SSL_CERT_(FILE|DIR)|CURL_CA_BUNDLE)'
if [[ -r $root/etc/environment ]]; then
  while IFS= read -r line || [[ -n $line ]]; do
    line=${line%%#*}
    line=${line#"${line%%[![:space:]]*}"}
    line=${line#export }
    if [[ $line =~ $known=[\"\']?([^\"\']*) ]]; then export "${BASH_REMATCH[1]}=${BASH_REMATCH[5]%"${BASH_REMATCH[5]##*[![:space:]]}"}"; fi
  done <"$root/etc/environment"
fi
while IFS= read -r line; do if [[ -n $line ]]; then export "${line?}"; fi; done <<<"$network"
# curl reads one case of the name, and other programs the other.
for line in http_proxy https_proxy no_proxy all_proxy; do
  if [[ -n ${!line:-} && -z $(printenv "${line^^}") ]]; then export "${line^^}=${!line}"; fi
  if [[ -z ${!line:-} && -n $(printenv "${line^^}") ]]; then export "$line=$(printenv "${line^^}")"; fi
done

# However this script ends before the agent runs: a machine without an agent is of no use. Power-off,
# not halt: only that ends the instance, by its shutdown behaviour.
leave() {
  local status=$?
  trap - EXIT
  if [[ -n $started ]]; then exit 0; fi
  log "cannot $step (status $status): powering off"
  systemctl poweroff || shutdown -P now || poweroff -f || log 'cannot power off'
  exit 1
}
trap leave EXIT
trap 'exit 143' TERM INT HUP

# put PATH MODE PAYLOAD replaces a file as a whole. Nobody else can read it before it has its mode.
put() {
  local file=$root$1
  step="write $1"
  mkdir -p "${file%/*}"
  rm -f "$file.new"
  (umask 077 && printf '%s' "$3" | base64 -d | gzip -dc >"$file.new")
  chmod "$2" "$file.new"
  mv -f "$file.new" "$file"
}

# Before the program, which may take minutes to come: the first file is what ends the machine should it
# be started anew meanwhile.
for ((i = 0; i + 2 < ${#files[@]}; i += 3)); do
  put "${files[i]}" "${files[i + 1]}" "${files[i + 2]}"
done
step='prepare'
# shellcheck source=/dev/null
. "$root$lib"

prepare & # while the program comes
preparing=$!

step='install the program'
mkdir -p "${bin%/*}"
if is_program "$root$baked" "$sum"; then
  log "program is baked in: $baked"
  if [[ $root$baked != "$bin" ]]; then ln -sfn "$root$baked" "$bin"; fi
elif [[ -z $url ]]; then
  log "no program at $baked${sum:+ with SHA-256 $sum}, and no URL to fetch it from"
  exit 1
else
  if ! command -v curl >/dev/null; then wait "$preparing" || :; fi
  fetch 'the program' "$url" "$bin.new" "$sum"
  chmod 0755 "$bin.new"
  mv -f "$bin.new" "$bin"
fi
wait "$preparing" || : # it has said why

step="start $unit"
systemctl daemon-reload
docker_network "$known"
systemctl enable --now "$unit"
started=yes
log "agent of $name started after $(since "$begun")"
