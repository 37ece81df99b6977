# shellcheck shell=bash disable=SC2154 # what differs is set before
# What scripts of machines, of images and of the controller's host share: a way to S3 before the program is there. They set
# region, and have log. Comments are left out of what they carry.
why=

# since MICROSECONDS prints the seconds from then to now, with one decimal.
since() {
  local tenths=$(((${EPOCHREALTIME//[!0-9]/} - $1) / 100000))
  printf '%d.%d s' $((tenths / 10)) $((tenths % 10))
}

# again COMMAND…: anything may fail while the network comes up, so everything is tried again: 1, 2, 4… s
# apart, for a minute, or for two where each try takes long. Its status is that of the last try.
again() {
  local pause status end=$((SECONDS + 120))
  for pause in 1 2 4 8 16 32 0; do
    status=0
    "$@" || status=$?
    if ((status == 0 || pause == 0 || SECONDS > end)); then return "$status"; fi
    sleep "$pause"
  done
}

# matches FILE SHA256
matches() { printf '%s  %s\n' "$2" "$1" | sha256sum --check --status; }

# is_program FILE SHA256: it is one, and the wanted one if that is known.
is_program() {
  [[ -f $1 && -x $1 ]] || return 1
  [[ -z $2 ]] || matches "$1" "$2"
}

hash() {
  local sum
  sum=$(sha256sum)
  printf %s "${sum%% *}"
}

# hmac KEY TEXT: HMAC-SHA256 (RFC 2104) in hexadecimal digits, as KEY is, of at most 64 bytes. Without openssl, which
# not every image has, and which takes a key in its arguments only, where all can read it.
hmac() {
  local i x inner='' outer='' sum
  for ((i = 0; i < 128; i += 2)); do
    printf -v x '\\x%02x' $((16#0${1:i:2} ^ 0x36))
    inner+=$x
    printf -v x '\\x%02x' $((16#0${1:i:2} ^ 0x5c))
    outer+=$x
  done
  sum=$({ printf %b "$inner" && printf %s "$2"; } | hash | sed 's/../\\x&/g')
  printf %b "$outer$sum" | hash
}

# value NAME JSON prints the text of that name.
value() { [[ $2 =~ \"$1\"[[:space:]]*:[[:space:]]*\"([^\"]+)\" ]] && printf %s "${BASH_REMATCH[1]}"; }

# metadata PATH asks the metadata service of the machine, version 2. What is secret goes through curl's standard input.
metadata() {
  local at=${AWS_EC2_METADATA_SERVICE_ENDPOINT:-http://169.254.169.254}/latest token
  token=$(curl --silent --show-error --fail --noproxy '*' --max-time 10 --request PUT \
    --header 'X-aws-ec2-metadata-token-ttl-seconds: 60' "$at/api/token") || return
  printf 'header = "X-aws-ec2-metadata-token: %s"\n' "$token" |
    curl --silent --show-error --fail --noproxy '*' --max-time 10 --config - "$at/meta-data/$1"
}

# signed URL prints what curl needs to get it from S3 as the machine's role: AWS Signature Version 4, every header
# signed (S3 API Reference, "Authenticating Requests: Using the Authorization Header"). Not by curl --aws-sigv4, which
# signs differently in nearly every version: docs/adr/0024-the-first-script-signs-itself.md.
signed() {
  local roles=iam/security-credentials/ role json id secret token empty now scope signing key part
  local rest=${1#*://} names='host;x-amz-content-sha256;x-amz-date;x-amz-security-token'
  role=$(metadata $roles) && json=$(metadata "$roles${role%%$'\n'*}") &&
    id=$(value AccessKeyId "$json") && secret=$(value SecretAccessKey "$json") && token=$(value Token "$json") || return
  empty=$(printf '' | hash)
  now=$(date -u +%Y%m%dT%H%M%SZ)
  scope=${now%T*}/$region/s3/aws4_request
  signing=$(printf 'GET\n/%s\n\nhost:%s\nx-amz-content-sha256:%s\nx-amz-date:%s\nx-amz-security-token:%s\n\n%s\n%s' \
    "${rest#*/}" "${rest%%/*}" "$empty" "$now" "$token" "$names" "$empty" | hash)
  key=$(printf 'AWS4%s' "$secret" | od -An -v -tx1 | tr -d ' \n')
  for part in "${now%T*}" "$region" s3 aws4_request; do
    key=$(hmac "$key" "$part")
  done
  printf 'header = "%s"\n' "x-amz-content-sha256: $empty" "x-amz-date: $now" "x-amz-security-token: $token" \
    "authorization: AWS4-HMAC-SHA256 Credential=$id/$scope, SignedHeaders=$names, Signature=$(
      hmac "$key" "AWS4-HMAC-SHA256"$'\n'"$now"$'\n'"$scope"$'\n'"$signing"
    )"
}

# address s3://BUCKET/KEY prints where it is: on a stand-in, if there is one, else at S3 of the region. The certificate
# of S3 is not good for names of buckets with dots.
address() {
  local object=${1#s3://} domain=amazonaws.com
  local bucket=${object%%/*}
  if [[ $region == cn-* ]]; then domain+=.cn; fi
  if [[ -n ${AWS_ENDPOINT_URL_S3:-} ]]; then
    printf %s "${AWS_ENDPOINT_URL_S3%/}/$object"
  elif [[ $bucket == *.* ]]; then
    printf %s "https://s3.$region.$domain/$object"
  else
    printf %s "https://$bucket.s3.$region.$domain/${object#*/}"
  fi
}

# get URL FILE fetches it once; why says what an operator can do if that fails. A transfer below 10 kB/s for 20 s
# has stalled. Redirections of S3 are not followed: who follows takes the credentials along.
get() {
  local url=$1 with=location out status=0
  if [[ $1 == s3://* ]]; then
    url=$(address "$1")
    with=$(signed "$url") || {
      why="the metadata service gives no credentials: the launch template needs an instance profile with a role (ec2.instanceProfile)"
      return 1
    }
  fi
  out=$(printf '%s\n' "$with" | curl --config - --silent --show-error --globoff --proto '=http,https' \
    --connect-timeout 10 --speed-limit 10000 --speed-time 20 --write-out '%{http_code}' --output "$2" -- "$url" 2>&1) || status=$?
  why=${out%???}
  if ((status != 0)); then return "$status"; fi
  out=${out: -3}
  if [[ $out == 200 ]]; then return; fi
  why="the server answers $out"
  if [[ $1 != s3://* ]]; then return 22; fi # curl's own status for it
  if [[ $(head -c 2000 "$2" | tr -d '\0') =~ \<Code\>([A-Za-z]+) ]]; then out=${BASH_REMATCH[1]}; fi
  why="S3 answers $out: "
  case $out in
  AccessDenied) why+="the role of the instance profile must be allowed s3:GetObject on it (deploy/iam/agent.json); where there is no such object, S3 may say the same" ;;
  NoSuchKey | NoSuchBucket) why+="publish it with remuda init --publish" ;;
  PermanentRedirect | AuthorizationHeaderMalformed) why+="the bucket must be in $region, as the machine is" ;;
  RequestTimeTooSkewed) why+="the clock of this machine is wrong, it shows $(date -u +%FT%TZ): let the image set it by 169.254.169.123" ;;
  SignatureDoesNotMatch) why+="something between this machine and S3 changes requests, such as a proxy" ;;
  *) why+="tried again for a minute" ;;
  esac
  return 22
}

# fetch WHAT URL FILE SHA256 fetches a file, verified.
fetch() {
  local from=${2%%\?*} begun=${EPOCHREALTIME//[!0-9]/} # a signed URL stays out of logs
  step="fetch $1 from $from"
  again get "$2" "$3" || {
    local status=$?
    step+=": $why"
    exit "$status"
  }
  step="install $1 from $from: its SHA-256 is not $4: publish it again, or correct the checksum in the configuration"
  matches "$3" "$4"
  log "$1 fetched in $(since "$begun")"
  step="install $1"
}
