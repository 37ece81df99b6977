//go:build linux

package machine

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/remuda-run/remuda/e2e/host/hosttest"
	"github.com/remuda-run/remuda/e2e/program"
)

// changes is an operator's script that changes each part of the world of jobs: groups, home, variables, hook, daemons.
const changes = `#!/bin/sh
set -e
groupadd --gid 1700 prepared
usermod --append --groups prepared runner
printf 'export OF_SYSTEM="system a" # a comment\nTWICE=system\nhttps_proxy=http://proxy.invalid:3128\nNO_PROXY=*\n' >> /etc/environment
mkdir -p /opt/actions-runner
printf 'OF_RUNNER=as "it" is\nTWICE=runner\n' > /opt/actions-runner/.env
test "$REMUDA_JOBS_HOME" = /srv/runner
install -d -o runner -g runner -m 700 /srv/runner/.ssh
printf 'Host localhost\n  User prepared\n  Port 4711\n' > /srv/runner/.ssh/config
printf 'registry=https://prepared.invalid\n' > /srv/runner/.npmrc
chown runner:runner /srv/runner/.ssh/config /srv/runner/.npmrc
chmod 600 /srv/runner/.ssh/config /srv/runner/.npmrc
ln -s .npmrc /srv/runner/link
printf 'id -un > /tmp/hook-ran\n' > /opt/hook.sh
systemd-run --quiet --unit=prepared --uid=nobody /bin/sleep 4711000
`

// shows is a job that writes its environment to /tmp/world, and then changes as much of it as it can.
const shows = `
exec > /tmp/world 2>&1
id
getent passwd runner
env | grep -Ev '^(GITHUB_|RUNNER_|_=|PWD=|OLDPWD=)' | sort
ssh -G localhost | grep -E '^(user|port|identityfile) '
grep -lsa 'sleep.471100[0]' /proc/[0-9]*/cmdline | wc -l
cd && pwd && ls -la --time-style=full-iso . .ssh | grep -v ' \.\.$'
cat .npmrc /tmp/hook-ran
rm -rf .ssh link && echo evil > .npmrc && echo evil > .bash_profile && chmod 755 .
`

// The first and the third run find the same environment, as the operator's script has made it: groups, account, home, variables, files that
// ssh reads, daemons (bugs R1, R3, R6, R7).
func TestMachine_JobsFindWhatTheScriptPrepared_Review_Kinds1And2(t *testing.T) {
	t.Parallel()
	hosttest.Require(t)
	binary, err := os.ReadFile(program.Binary)
	if err != nil {
		t.Fatal(err)
	}
	script := filepath.Join(t.TempDir(), "prepare")
	if err := os.WriteFile(script, []byte(changes), 0o700); err != nil {
		t.Fatal(err)
	}
	w := newWorld(t, binary, "REMUDA_AGENT_SCRIPT="+script,
		"REMUDA_AGENT_ENV={OF_SETTING: setting, TWICE: setting, ACTIONS_RUNNER_HOOK_JOB_STARTED: /opt/hook.sh}")
	var worlds []string
	for _, run := range []string{"run-1", "run-2", "run-3"} {
		id := w.request(run)
		_, m := w.booted()
		w.job(run, shows)
		out, err := m.Run(w.Context(), "cat", "/tmp/world")
		w.Check(err)
		worlds = append(worlds, out)
		w.released(run, id)
		if n := len(w.cloud.Instances()); n != 1 {
			t.Fatalf("after %s %d machines were launched, want 1\n%s", run, n, m.Journal("remuda-agent.service"))
		}
	}
	for _, want := range []string{
		"1700(prepared)", ":/srv/runner:", "\nHOME=/srv/runner\n", "\nUSER=runner\n", "\nOF_SYSTEM=system a\n", "\nOF_RUNNER=as \"it\" is\n", "\nOF_SETTING=setting\n", "\nTWICE=setting\n",
		"\nhttps_proxy=http://proxy.invalid:3128\n", "\nHTTPS_PROXY=http://proxy.invalid:3128\n", "\nuser prepared\n", "\nport 4711\n", "\n1\n/srv/runner\n", "link -> .npmrc\n", "registry=https://prepared.invalid\nrunner\n",
	} {
		if !strings.Contains(worlds[0], want) {
			t.Errorf("the first run does not find %q:\n%s", want, worlds[0])
		}
	}
	for i, world := range worlds[1:] {
		if world != worlds[0] {
			t.Errorf("run %d finds\n%s\nand the first run found\n%s", i+2, world, worlds[0])
		}
	}
}
