//go:build linux

package machine

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/remuda-run/remuda/e2e/host/hosttest"
	"github.com/remuda-run/remuda/e2e/program"
	"github.com/remuda-run/remuda/statemachine"
	"github.com/remuda-run/remuda/store"
)

// prepare is the operator's script: it makes an image for containers, which is there before the first run.
const prepare = `#!/bin/sh
set -e
mkdir -p /opt/tools/bin
cp /bin/busybox /opt/tools/bin/
for program in cat chroot nc sh sleep touch; do ln -s busybox /opt/tools/bin/$program; done
tar -C /opt/tools -c . | docker import - tools:1
`

// leaves is a job that leaves all that systemd and a container engine can keep of it. It may use the engine, and so is as good
// as root. What it has left is there when it ends.
const leaves = `
test "$(id -un)" = runner

docker run --detach --name left --restart always --volume left:/left tools:1 sleep 1000000
docker network create left
docker run --detach --name twin --network left --pid host tools:1 sh -c 'while :; do sleep 1000000; done'
docker tag tools:1 left:1
mkdir -p evil/bin && cp /bin/busybox evil/bin/sh && tar -C evil -c . | docker import - tools:1
test "$(docker ps --quiet | wc -l)" = 2

docker run --rm --volume /:/host left:1 chroot /host loginctl enable-linger runner
export XDG_RUNTIME_DIR=/run/user/$(id -u)
until test -S "$XDG_RUNTIME_DIR/systemd/private"; do sleep 0.1; done
units=/srv/runner/.config/systemd/user
mkdir -p $units
printf '[Service]\nExecStart=/bin/sleep 1000000\nRestart=always\n[Install]\nWantedBy=default.target\n' > $units/left.service
printf '[Timer]\nOnActiveSec=1s\nOnUnitActiveSec=1s\nUnit=left.service\n[Install]\nWantedBy=timers.target\n' > $units/left.timer
systemctl --user daemon-reload
systemctl --user enable --now left.service left.timer
systemd-run --user --unit=left-too --on-active=1s /bin/sleep 1000000
systemctl --user is-active left.service left.timer left-too.timer
test -e /var/lib/systemd/linger/runner
`

// finds is a job that fails if it finds any of that. It waits in its middle for a file.
const finds = `
test -z "$(docker ps --all --quiet)"
test -z "$(docker volume ls --quiet)"
test -z "$(docker network ls --quiet --filter type=custom)"
test "$(docker run --rm tools:1 cat /etc/hostname | wc -l)" = 1
if docker image inspect left:1 2>/dev/null; then exit 1; fi
test ! -e /var/lib/systemd/linger/runner
test ! -e /srv/runner/.config
if grep -lsa "sleep.100000[0]" /proc/[0-9]*/cmdline; then exit 1; fi
touch /tmp/second-run-waits
until test -e /var/second-run-goes-on; do sleep 0.1; done
`

// metadata is a job that tries to reach the metadata service in each way that it has. nc ends well where it is connected.
const metadata = `
reaches() { timeout 20 "$@" < /dev/null > /dev/null 2>&1; }
if reaches /bin/busybox nc -w 5 169.254.169.254 80; then echo the user reaches it; exit 1; fi
if reaches docker run --rm --network host --user 1500:1500 tools:1 nc -w 5 169.254.169.254 80; then echo a container of the user does; exit 1; fi
if reaches docker run --rm --network host --user 4711:4711 tools:1 nc -w 5 169.254.169.254 80; then echo a container of another user does; exit 1; fi
docker network create own
reaches docker run --rm --network own tools:1 nc -w 5 10.99.0.1 80 || { echo the container has no network; exit 1; }
if reaches docker run --rm --network own tools:1 nc -w 5 169.254.169.254 80; then echo a container with an address of its own does; exit 1; fi
reaches docker run --rm --network host tools:1 nc -w 5 169.254.169.254 80 || { echo a container of root in the network of the host does not, so nothing was tried; exit 1; }
`

// One machine boots by the user data of its launch template, fetches the program, and its systemd starts the agent. It serves
// two runs, and the second finds nothing of what the first left with systemd and with a container engine; a restarted agent
// goes on with its job. The metadata service is root's alone. A third run is never given back: the machine powers itself off at
// its threshold, and EC2 terminates it for that (S20 S85 H42 H49).
func TestMachine_TwoRuns_S20_S85_H42_H49(t *testing.T) {
	t.Parallel()
	hosttest.Require(t)
	binary, err := os.ReadFile(program.Binary)
	if err != nil {
		t.Fatal(err)
	}
	script := filepath.Join(t.TempDir(), "prepare")
	if err := os.WriteFile(script, []byte(prepare), 0o700); err != nil {
		t.Fatal(err)
	}
	w := newWorld(t, binary, "REMUDA_AGENT_SCRIPT="+script)

	first := w.request("run-1")
	id, m := w.booted()
	if id != first {
		t.Fatalf("%s serves run-1, %s booted", first, id)
	}
	w.inside(m, "active", "systemctl", "is-active", "remuda-agent.service")
	w.inside(m, "table inet remuda", "nft", "list", "table", "inet", "remuda")
	w.inside(m, id, "sh", "-c", `curl -fsS -H "X-aws-ec2-metadata-token: $(curl -fsS -X PUT -H 'X-aws-ec2-metadata-token-ttl-seconds: 60' http://169.254.169.254/latest/api/token)" http://169.254.169.254/latest/meta-data/instance-id`)
	w.job("run-1", metadata)
	w.job("run-1", leaves)
	w.released("run-1", id)

	if second := w.request("run-2"); second != id {
		t.Fatalf("%s serves run-2, want %s again\n%s", second, id, m.Journal("remuda-agent.service"))
	}
	done := make(chan error, 1)
	go func() {
		_, err := program.Run(w.Context(), w.dir, w.environ(), "dev", "submit", "--run", "run-2", "--wait", "--script", "set -e\n"+finds)
		done <- err
	}()
	w.until("the job of run-2 waits, or has failed", func() bool {
		_, err := m.Run(t.Context(), "test", "-e", "/tmp/second-run-waits")
		return err == nil || len(done) > 0
	})
	w.inside(m, "", "systemctl", "kill", "--signal=KILL", "--kill-whom=main", "remuda-agent.service")
	w.until("systemd starts the agent anew", func() bool {
		out, err := m.Run(t.Context(), "systemctl", "show", "--value", "--property=NRestarts,ActiveState", "remuda-agent.service")
		w.Check(err)
		return out == "1\nactive\n"
	})
	w.inside(m, "", "touch", "/var/second-run-goes-on")
	w.Check(<-done)
	w.released("run-2", id)

	if third := w.request("run-3", "--max-runtime", "1m"); third != id {
		t.Fatalf("%s serves run-3, want %s again", third, id)
	}
	w.gone(id, m)
	if n := len(w.cloud.Instances()); n != 1 {
		t.Errorf("%d machines were launched, want 1", n)
	}
	_, err = w.github.Unregistered(w.Context(), patience)
	w.Check(err)
}

// inside runs a command as root in a machine, and wants its output to hold a text.
func (w *world) inside(m *hosttest.Machine, want string, command ...string) {
	w.Helper()
	out, err := m.Run(w.Context(), command...)
	w.Check(err)
	if !strings.Contains(out, want) {
		w.Errorf("%s = %q, want %q", strings.Join(command, " "), out, want)
	}
}

// released gives a run's machine back, and waits until it is ready for another one, or gone.
func (w *world) released(run, id string) {
	w.Helper()
	w.remuda("release", "--id", run)
	w.until(id+" is idle again or gone", func() bool {
		in := w.instance(id)
		return in.State == statemachine.Terminated || in.State == statemachine.Idle && !in.PooledAt.IsZero()
	})
}

func (w *world) instance(id string) store.Instance {
	w.Helper()
	all, err := program.JSON[struct{ Instances []store.Instance }](w.remuda("status", "-o", "json"), nil)
	w.Check(err)
	at := slices.IndexFunc(all.Instances, func(in store.Instance) bool { return string(in.ID) == id })
	if at < 0 {
		return store.Instance{}
	}
	return all.Instances[at]
}
