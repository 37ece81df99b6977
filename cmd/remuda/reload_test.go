package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/remuda-run/remuda/internal/bubbletest"
	"github.com/remuda-run/remuda/internal/config"
	"github.com/remuda-run/remuda/internal/metrics"
)

const (
	configPath = "/etc/remuda.yaml"
	noFile     = "no file"
)

// reloading is a controller's reloader with a file that the test writes.
type reloading struct {
	*reloader
	c   *cli
	t   *testing.T
	sup supervisor
	hup chan os.Signal

	mu    sync.Mutex // guards the file, the log, and what follows
	taken []config.Config
	fails error // of take
}

// Write is that of the log.
func (r *reloading) Write(line []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.c.err.Write(line)
}

// took returns what was taken up.
func (r *reloading) took() []config.Config {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.taken)
}

// fail decides what becomes of what is taken up from now on.
func (r *reloading) fail(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.fails = err
}

func (r *reloading) write(text string) {
	r.t.Helper()
	synctest.Wait()
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.c.files[configPath] = text; text == noFile {
		delete(r.c.files, configPath)
	}
}

// says returns what was logged since, when so much time has passed.
func (r *reloading) says(after time.Duration) string {
	time.Sleep(after)
	synctest.Wait()
	r.mu.Lock()
	defer r.mu.Unlock()
	defer r.c.err.Reset()
	return r.c.err.String()
}

// gauges are those of the configuration: in order, and how many need a restart.
func (r *reloading) gauges() string {
	r.t.Helper()
	families, err := r.metrics.Registry().Gather()
	if err != nil {
		r.t.Fatal(err)
	}
	values := map[string]float64{}
	for _, f := range families {
		values[f.GetName()] = f.GetMetric()[0].GetGauge().GetValue()
	}
	return fmt.Sprint(values["remuda_config_last_reload_successful"], values["remuda_config_restart_needed"])
}

// reloads runs test with a reloader that began with what text says.
func reloads(t *testing.T, text string, test func(r *reloading)) {
	t.Helper()
	bubbletest.Run(t, func(t *testing.T) {
		c := newCLI(nil)
		c.env = []string{"REMUDA_CONFIG=" + configPath}
		c.files[configPath] = text
		if err := newRootCmd(c.app).ParseFlags(nil); err != nil {
			t.Fatal(err)
		}
		l, err := c.loadConfig()
		if err != nil {
			t.Fatal(err)
		}
		r := &reloading{c: c, t: t, hup: make(chan os.Signal, 1)}
		read := c.readFile
		c.readFile = func(path string) ([]byte, error) {
			r.mu.Lock()
			defer r.mu.Unlock()
			return read(path)
		}
		c.streams.err = r
		b := &backends{log: c.logger(config.Log{Level: l.Log.Level, Format: "json"}), metrics: metrics.New(nil)}
		r.reloader = newReloader(c.app, b, l.Config, "", r.hup)
		r.systemd = r.sup.notifier(0)
		r.take = func(_ context.Context, cfg config.Config) error {
			r.mu.Lock()
			defer r.mu.Unlock()
			if r.fails == nil {
				r.taken = append(r.taken, cfg)
			}
			return r.fails
		}
		ctx, stop := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() { defer close(done); r.run(ctx) }()
		test(r)
		stop()
		<-done
	})
}

func TestReloader_TakesUpAChange(t *testing.T) {
	reloads(t, "limits: {idle: 5m}", func(r *reloading) {
		if text := r.says(time.Minute); text != "" || len(r.took()) != 0 {
			t.Errorf("nothing has changed: %s", text)
		}
		r.write("limits: {idle: 7m}\ncaps: {maxInstances: 9}\n# grows")
		contains(t, r.says(3*lookEvery), "taken up", "limits.idle", "caps.maxInstances")
		if len(r.took()) != 1 || r.took()[0].Limits.Idle != 7*time.Minute || r.took()[0].Caps.MaxInstances != 9 || r.gauges() != "1 0" {
			t.Fatalf("taken %+v, gauges %s", r.took(), r.gauges())
		}
		r.write("limits: {idle: 7m}\ncaps: {maxInstances: 9}")
		if text := r.says(time.Minute); text != "" || len(r.took()) != 1 {
			t.Errorf("only a comment has changed: %s", text)
		}
	})
}

// A file that is being written is valid in between, and a class that is not there yet would cost its machines.
func TestReloader_WaitsUntilItIsWritten(t *testing.T) {
	reloads(t, "caps: {maxInstances: 9}", func(r *reloading) {
		time.Sleep(lookEvery / 2) // between two looks
		for n := range 5 {
			r.write(strings.Repeat("# a line\n", n))
			time.Sleep(lookEvery)
		}
		r.write("caps: {maxInstances: 10}")
		r.says(time.Minute)
		if len(r.took()) != 1 || r.took()[0].Caps.MaxInstances != 10 {
			t.Errorf("taken %+v, want the last alone", r.took())
		}
	})
}

func TestReloader_WhatIsWrongChangesNothing(t *testing.T) {
	reloads(t, "caps: {maxInstances: 9}", func(r *reloading) {
		begin := time.Now()
		for text, want := range map[string]string{
			"caps: {maxInstances: none}":                  "maxInstances",
			"caps: {maxInstances: 9":                      "yaml",
			"caps: {maxInstances: 8}\nlimits: {beat: 1m}": "limits.silence",
			"caps: {maxInstances: 8}\nagent: {scrip: /x}": "agent.script",
			"classes: {small: {cpu: 0, mem: 1}}":          "classes.small.cpu",
			"lease: {ttl: 100ms}\nclasses: {a: {cpu: 1}}": "classes.a.mem",
			"process: {capacity: 1}\nclasses: {small: {scrub: full, cpu: 1, mem: 512}}\nagent: {runnerUser: ci}": "process.capacity",
		} {
			r.write(text)
			said := r.says(time.Minute)
			contains(t, said, "refused", want)
			if now := r.refused.now.Load(); now == nil || !strings.Contains(now.text, want) || now.since.Sub(begin) > time.Minute {
				t.Errorf("%s: shown as %+v since %s, want that since the first", text, now, begin)
			}
			if n := strings.Count(said, "\n"); n != 1 || r.gauges() != "0 0" {
				t.Errorf("%s: %d lines a minute and gauges %s, want one line, and that it failed:\n%s", text, n, r.gauges(), said)
			}
		}
		r.write(noFile)
		contains(t, r.says(time.Minute), "refused", "read configuration")
		r.write("caps: {maxInstances: 9}")
		contains(t, r.says(time.Minute), "in order again")
		if len(r.took()) != 0 || r.gauges() != "1 0" || r.refused.now.Load() != nil {
			t.Errorf("taken %+v, gauges %s, refused %+v", r.took(), r.gauges(), r.refused.now.Load())
		}
	})
}

// What needs a restart is named once and left, and what needs none is taken beside it.
func TestReloader_NamesWhatNeedsARestart(t *testing.T) {
	reloads(t, "caps: {maxInstances: 9}", func(r *reloading) {
		r.write("caps: {maxInstances: 10}\nlease: {ttl: 5s}\nhttp: {listen: ''}")
		said := r.says(time.Minute)
		contains(t, said, "need a restart", `"settings":["lease.ttl","http.listen"]`, `"settings":["caps.maxInstances"]`)
		if len(r.took()) != 1 || r.took()[0].Lease.TTL != 2*time.Second || r.took()[0].HTTP.Listen == "" || r.gauges() != "1 2" {
			t.Errorf("taken %+v, gauges %s", r.took(), r.gauges())
		}
		r.write("caps: {maxInstances: 10}\nlease: {ttl: 5s}")
		contains(t, r.says(time.Minute), `"settings":["lease.ttl"]`)
		r.write("caps: {maxInstances: 10}")
		if text := r.says(time.Minute); text != "" || len(r.took()) != 1 || r.gauges() != "1 0" {
			t.Errorf("it is as in force again: %s, gauges %s", text, r.gauges())
		}
	})
}

// A signal is answered at once, also where the file says what it said: a script that it names may have changed. systemd is told.
func TestReloader_Signal(t *testing.T) {
	reloads(t, "caps: {maxInstances: 9}", func(r *reloading) {
		for n := range 2 {
			r.hup <- syscall.SIGHUP
			contains(t, r.says(0), "taken up")
			if len(r.took()) != n+1 {
				t.Errorf("taken %d times after %d signals", len(r.took()), n+1)
			}
			if told := strings.Join(r.sup.take(), " "); told != "RELOADING=1 READY=1" {
				t.Errorf("told systemd %q", told)
			}
		}
		r.write("nonsense")
		for range 2 {
			r.hup <- syscall.SIGHUP
			contains(t, r.says(0), "refused")
		}
		if len(r.took()) != 2 {
			t.Errorf("taken %d times, want those in order", len(r.took()))
		}
	})
}

// Who looks for a fault changes no more than what is said.
func TestReloader_LogLevelAlone(t *testing.T) {
	reloads(t, "log: {level: warn}", func(r *reloading) {
		r.write("log: {level: debug}")
		contains(t, r.says(time.Minute), "taken up", "log.level")
		if len(r.took()) != 0 || r.level.Level() != slog.LevelDebug || r.gauges() != "1 0" {
			t.Errorf("taken %+v, level %s, gauges %s", r.took(), r.level.Level(), r.gauges())
		}
		r.write("log: {level: error}\ncaps: {maxInstances: 7}")
		r.says(time.Minute)
		if len(r.took()) != 1 || r.took()[0].Log.Level != "error" || r.level.Level() != slog.LevelError {
			t.Errorf("taken %+v, level %s", r.took(), r.level.Level())
		}
	})
}

// What cannot be done yet is tried again, and told once.
func TestReloader_TriesAgain(t *testing.T) {
	reloads(t, "", func(r *reloading) {
		r.fail(errors.Join(errors.New("agent.script: must be a file of this machine"), fs.ErrNotExist))
		r.write("agent: {script: /script}")
		said := r.says(time.Minute)
		if contains(t, said, "refused", "agent.script"); strings.Count(said, "\n") != 1 || r.gauges() != "0 0" {
			t.Errorf("gauges %s, told:\n%s", r.gauges(), said)
		}
		r.write("agent: {script: /script}")
		r.fail(nil)
		contains(t, r.says(2*lookEvery), "taken up", "agent.script")
		if len(r.took()) != 1 || r.gauges() != "1 0" {
			t.Errorf("taken %+v, gauges %s", r.took(), r.gauges())
		}
	})
}

// The level is that of every logger there is, at once.
func TestLogger_LevelChanges(t *testing.T) {
	c := newCLI(nil)
	log := c.logger(config.Log{Level: "warn", Format: "json"}).With("component", "x")
	log.Info("left out")
	setLevel(&c.level, config.Log{Level: "debug"})
	log.Debug("let through")
	if text := c.err.String(); strings.Contains(text, "left out") || !strings.Contains(text, "let through") || !log.Enabled(t.Context(), slog.LevelDebug) {
		t.Errorf("log = %s", text)
	}
}
