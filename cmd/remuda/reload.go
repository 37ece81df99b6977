package main

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"maps"
	"os"
	"slices"
	"time"

	"k8s.io/utils/clock"

	"github.com/remuda-run/remuda/internal/awscfg"
	"github.com/remuda-run/remuda/internal/config"
	"github.com/remuda-run/remuda/internal/logkey"
	"github.com/remuda-run/remuda/internal/metrics"
	"github.com/remuda-run/remuda/internal/reference"
	"github.com/remuda-run/remuda/store"
)

// lookEvery is how often the configuration file is looked at. What two looks find alike is taken up: an editor that writes in
// place may be seen in the middle of it, and half a file can be a valid one.
const lookEvery = 3 * time.Second

// logLevel is the setting that changes nothing but what is said: the controller need not begin anew for it.
const logLevel = "log.level"

// reloader takes up a changed configuration while the controller runs.
type reloader struct {
	read    func(fresh bool) ([]byte, error)           // what is in the file; what AWS keeps as it was within a minute unless fresh; nil: there is none to look at
	judge   func(text []byte) (config.Config, error)   // what it says, if it is in order
	take    func(context.Context, config.Config) error // has the controller work by it, or changes nothing
	running config.Config
	metrics *metrics.Metrics
	systemd *notifier // nil: nobody asked to be told
	hup     <-chan os.Signal
	again   <-chan struct{} // has it take up what there is once more
	clock   clock.WithTicker
	log     *slog.Logger

	level        *slog.LevelVar // of the log
	refused      *refusals
	seen, judged sight
	told         refusal // the last, until what is looked at is in order
}

// sight is what a look at the file finds.
type sight struct{ text, failure string }

// refusal is what is wrong with what was found.
type refusal struct {
	of   sight
	text string
}

// newReloader returns the reloader of a controller that runs with cfg. hup has it look at once.
func newReloader(a *app, b *backends, cfg config.Config, agentConfig string, hup <-chan os.Signal) *reloader {
	r := &reloader{running: cfg, metrics: b.metrics, refused: &b.refused, hup: hup, again: a.republished, clock: a.clock, log: b.log}
	if file := cmp.Or(a.global.config, environment(a.environ())[config.EnvFile]); file != "" {
		var kept *reference.Kept
		r.read = func(fresh bool) ([]byte, error) {
			if fresh || kept == nil { // what was kept until now is forgotten: it may be older than what this finds
				kept = &reference.Kept{Reader: a.references, Text: file, Clock: a.clock}
			}
			return kept.Get(context.Background())
		}
	}
	r.judge = func(text []byte) (config.Config, error) {
		l, err := a.readConfig(func(string) ([]byte, error) { return text, nil })
		if err == nil {
			err = l.Validate()
		}
		return l.Config, err
	}
	r.take = func(ctx context.Context, cfg config.Config) error { return b.renew(ctx, a, cfg, agentConfig) }
	r.level = &a.level
	return r
}

// renew has the controller of b work by cfg, or changes nothing.
func (b *backends) renew(ctx context.Context, a *app, cfg config.Config, agentConfig string) error {
	if err := controllable(a.system, cfg); err != nil {
		return err
	}
	machines, then, err := b.fleet.renew(awscfg.WithTold(ctx, b.metrics.AWSCalled), cfg)
	if err != nil {
		return err
	}
	if agentConfig != "" {
		if err := writeConfig(agentConfig, cfg); err != nil {
			return err
		}
	}
	then()
	former := b.fleet.Fleet
	b.fleet.Fleet = machines
	if err := b.op.Renew(cfg.Controller(""), machines, b.chores(a, cfg)); err != nil {
		return err // a bug: it is validated
	}
	if former != machines {
		if err := former.Close(); err != nil {
			b.log.Warn("closing the former fleet failed", logkey.Error, err)
		}
	}
	b.metrics.SetClasses(slices.Sorted(maps.Keys(cfg.Classes)))
	b.page.Store(newPage(a.clock, cfg, store.New(b.table), fromOperator(b.op, store.New(b.table))))
	return nil
}

// run looks until ctx ends.
func (r *reloader) run(ctx context.Context) {
	var looks <-chan time.Time
	if r.read != nil {
		ticker := r.clock.NewTicker(lookEvery)
		defer ticker.Stop()
		looks = ticker.C()
	}
	for {
		select {
		case <-ctx.Done():
			return
		case <-r.hup:
			r.systemd.reloading()
			r.reload(ctx, r.look(true), true)
			r.systemd.reloaded()
		case <-r.again:
			r.reload(ctx, r.look(true), true)
		case <-looks:
			now := r.look(false)
			if now == r.seen && now != r.judged {
				r.reload(ctx, now, false)
			}
			r.seen = now
		}
	}
}

// look reads the file.
func (r *reloader) look(fresh bool) sight {
	if r.read == nil {
		return sight{}
	}
	text, err := r.read(fresh)
	if err != nil {
		return sight{failure: "read configuration: " + err.Error()}
	}
	return sight{text: string(text)}
}

// reload takes up what was found. asked: also if the file says what it said, since what it names may have changed.
func (r *reloader) reload(ctx context.Context, found sight, asked bool) {
	r.judged = found
	next, err := config.Config{}, errors.New(found.failure)
	if found.failure == "" {
		next, err = r.judge([]byte(found.text))
	}
	out, taken, held := r.running.Reload(next)
	if err == nil {
		err = out.Validate() // what needs a restart may not go with what does not
	}
	beginsAnew := slices.ContainsFunc(taken, func(key string) bool { return key != logLevel })
	if err == nil && (asked || beginsAnew) {
		if err = r.take(ctx, out); err != nil {
			r.judged = sight{} // what is missing may come: the next look tries again
		}
	}
	if err != nil {
		r.refuse(refusal{found, err.Error()}, asked)
		return
	}
	mended := r.told != (refusal{})
	r.told = refusal{}
	r.refused.now.Store(nil)
	if len(held) > 0 {
		r.log.Warn("changed settings are not taken up: they need a restart of the controller", logkey.Settings, held)
	}
	switch {
	case asked || len(taken) > 0:
		r.running = out
		setLevel(r.level, out.Log)
		r.metrics.ConfigTaken(r.clock.Now(), len(held))
		r.log.Info("the configuration was taken up", logkey.Settings, taken)
	case mended:
		r.log.Info("the configuration file is in order again, and says what is in force")
		fallthrough
	default:
		r.metrics.ConfigLooked(true, len(held))
	}
}

// refuse tells what is wrong: once, unless somebody asked.
func (r *reloader) refuse(now refusal, asked bool) {
	r.metrics.ConfigLooked(false, 0)
	r.refused.hold(now.text, r.clock.Now())
	if now != r.told || asked {
		r.told = now
		r.log.Error("the configuration is refused, and the one in force stays", logkey.Error, now.text)
	}
}
