//go:build unix

// Package procfleet is a fleet whose machines are processes of this machine.
//
// Each machine has a folder and runs the agent as leader of a session of its own. It lives as long
// as its leader: when that ends, what is left of it is killed, as when a computer is switched off.
// Every process of a machine carries EnvInstance with the machine's id; that mark, and the leader's
// pid with its start time, are all this package trusts, so no other process is ever touched. What a
// process may do to get rid of the mark is in the comment of package process: this fleet contains
// accidents, not attacks.
//
//	<dir>/lock                        held by the one who writes
//	<dir>/launches/<token>.json       what a launch was answered; written before its machines
//	<dir>/logs/                       what ended machines printed last (package machinelog)
//	<dir>/instances/<id>/             the agent's working folder, and in it
//	    instance.json                 the machine
//	    started                       made by the agent's process just before it becomes the agent
//	    interruption                  the interruption notice, if there is one
//	    agent.log                     output of the agent
//
// The folder is the truth and the process that works on it is replaceable. Launch and Terminate only
// write what is wanted; Run carries it out, and finds the survivors of earlier processes too.
// Several processes may use one folder and even Run on it at once. Flags imitate a cloud: boot delay,
// capacity, refusals, sudden loss, interruption with notice. See docs/architecture.md#fleet.
package procfleet

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"k8s.io/utils/clock"

	"github.com/remuda-run/remuda/fleet"
	"github.com/remuda-run/remuda/internal/logkey"
	"github.com/remuda-run/remuda/internal/machinelog"
	"github.com/remuda-run/remuda/internal/process"
)

// Environment of every process of a machine.
const (
	EnvInstance     = "REMUDA_INSTANCE_ID"       // the machine's id
	EnvInterruption = "REMUDA_INTERRUPTION_FILE" // absolute path of the Notice, which exists once it is given
)

// Defaults.
const (
	// DefaultNoticeLead is what EC2 gives (EC2 User Guide, "Spot Instance interruption notices").
	DefaultNoticeLead = 2 * time.Minute
	// DefaultTerminateGrace is long enough for an agent to end its runner, and short for who waits.
	DefaultTerminateGrace = 5 * time.Second
)

// Options configure a fleet. Only Command and Clock are required.
type Options struct {
	// Command returns the agent's command line and environment for a machine, whose folder is dir
	// and its working folder. The environment is complete but for EnvInstance and EnvInterruption:
	// nothing is inherited, so that no secret of this process reaches a job. It must have no effect.
	Command func(id, dir string) (argv, env []string)
	// TemplateVersion stands for everything that Command's arguments do not show, such as the
	// version of the program and what matters in its environment.
	TemplateVersion string
	// Mask returns the patterns that hide the operator's secrets in the output of machines. Default: none.
	Mask func() machinelog.Patterns

	Clock clock.WithTicker
	Log   *slog.Logger // default: none

	Types        []TypeInfo // default: Catalogue()
	Capacity     int        // machines that may live at once; 0: any number
	SpotCapacity int        // spot machines that may live at once; 0: any number

	BootDelay   time.Duration // from a launch until its agent starts
	BootJitter  time.Duration // up to this much is added to BootDelay, uniformly
	RefusalRate float64       // chance, 0 to 1, that a place refuses a machine
	MeanLife    time.Duration // spot machines vanish at a random age with this mean; 0: never
	NoticeAfter time.Duration // age at which spot machines are given notice; 0: never
	NoticeLead  time.Duration // from the notice to the end; 0: DefaultNoticeLead
	Seed        uint64        // of everything random but the ids; it and a token decide a launch

	TerminateGrace time.Duration // from SIGTERM to SIGKILL; 0: DefaultTerminateGrace
}

// Fleet is an open process fleet. One process should be in Run: without, nothing starts or ends.
type Fleet struct {
	opts     Options
	log      *slog.Logger
	clock    clock.WithTicker
	disk     *disk
	boot     string
	template atomic.Pointer[string]

	wake   chan struct{}
	ended  chan struct{}
	closed chan struct{}
	close  sync.Once

	// failpoint, set by tests alone, is called between any two steps that a crash may separate.
	failpoint func(step string)
}

var (
	_ fleet.Fleet    = (*Fleet)(nil)
	_ fleet.Notifier = (*Fleet)(nil)
)

// Open opens the fleet in the folder that u names, process:///absolute or process:relative, and
// creates the folder if need be. It starts nothing: see Run. It fails with errors.ErrUnsupported on
// systems without Linux's /proc.
func Open(ctx context.Context, u *url.URL, opts Options) (*Fleet, error) {
	dir, err := Folder(u)
	if err != nil {
		return nil, fmt.Errorf("open fleet: %w", err)
	}
	f, err := open(ctx, dir, opts)
	if err != nil {
		return nil, fmt.Errorf("open fleet %s: %w", dir, err)
	}
	return f, nil
}

func open(ctx context.Context, dir string, opts Options) (*Fleet, error) {
	if err := opts.complete(); err != nil {
		return nil, err
	}
	boot, err := process.BootID()
	if err != nil {
		return nil, err
	}
	if _, err := process.Marked(EnvInstance); err != nil {
		return nil, err
	}
	f := &Fleet{
		opts:      opts,
		log:       opts.Log.With(logkey.Component, "procfleet"),
		clock:     opts.Clock,
		disk:      newDisk(dir),
		boot:      boot,
		wake:      make(chan struct{}, 1),
		ended:     make(chan struct{}, 1),
		closed:    make(chan struct{}),
		failpoint: func(string) {},
	}
	if len(argvOf(opts)) == 0 {
		return nil, errors.New("fleet command names no program")
	}
	f.SetTemplateVersion(opts.TemplateVersion)
	if err := f.disk.create(ctx); err != nil {
		return nil, err
	}
	return f, nil
}

// Folder returns the absolute path that a URL of this back end names: process:///absolute/folder or
// process:relative/folder. Nothing else may be in the URL.
func Folder(u *url.URL) (string, error) {
	path := u.Path
	if u.Opaque != "" {
		unescaped, err := url.PathUnescape(u.Opaque)
		if err != nil {
			return "", fmt.Errorf("url %s: %w", u.Redacted(), err)
		}
		path = unescaped
	}
	if u.Scheme != "process" || u.Host != "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" || path == "" || path == "/" {
		return "", fmt.Errorf("url %s: want process:///absolute/folder or process:relative/folder", u.Redacted())
	}
	return filepath.Abs(path)
}

// complete fills in the defaults and returns everything that is wrong, joined.
func (o *Options) complete() error {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if len(o.Types) == 0 {
		o.Types = Catalogue()
	}
	if o.Mask == nil {
		o.Mask = func() machinelog.Patterns { return nil }
	}
	if o.NoticeLead == 0 {
		o.NoticeLead = DefaultNoticeLead
	}
	if o.TerminateGrace == 0 {
		o.TerminateGrace = DefaultTerminateGrace
	}
	var errs []error
	check := func(ok bool, format string, args ...any) {
		if !ok {
			errs = append(errs, fmt.Errorf(format, args...))
		}
	}
	check(o.Command != nil, "option Command is required")
	check(o.Clock != nil, "option Clock is required")
	check(o.Capacity >= 0, "option Capacity must not be negative, got %d", o.Capacity)
	check(o.SpotCapacity >= 0, "option SpotCapacity must not be negative, got %d", o.SpotCapacity)
	check(o.RefusalRate >= 0 && o.RefusalRate <= 1, "RefusalRate must be 0 to 1, got %v", o.RefusalRate) // nor NaN
	for name, d := range map[string]time.Duration{
		"BootDelay": o.BootDelay, "BootJitter": o.BootJitter, "MeanLife": o.MeanLife,
		"NoticeAfter": o.NoticeAfter, "NoticeLead": o.NoticeLead, "TerminateGrace": o.TerminateGrace,
	} {
		check(d >= 0, "%s must not be negative, got %s", name, d)
	}
	for i, t := range o.Types {
		sound := t.Name != "" && t.CPU > 0 && t.Mem > 0 && t.Capacity >= 0
		check(sound, "type %q: name, CPU and Mem are required and Capacity must not be negative, got %+v", t.Name, t)
		twice := slices.ContainsFunc(o.Types[:i], func(earlier TypeInfo) bool { return earlier.Name == t.Name })
		check(!twice, "type %q is there twice", t.Name)
	}
	return errors.Join(errs...)
}

// SetTemplateVersion replaces Options.TemplateVersion: what Command's arguments do not show has changed.
func (f *Fleet) SetTemplateVersion(of string) {
	form, _ := json.Marshal(argvOf(f.opts)) // texts always have a form
	sum := sha256.Sum256(form)
	version := hex.EncodeToString(sum[:4])
	if of != "" {
		version = of + "-" + version
	}
	f.template.Store(&version)
}

// argvOf is the command line by its form, with placeholders for the machine.
func argvOf(o Options) []string {
	argv, _ := o.Command("<id>", "<dir>")
	return argv
}

// Templates returns the version of the present command line, which all classes share.
func (f *Fleet) Templates(ctx context.Context, classes ...string) (map[string]string, error) {
	return call(ctx, f, "read templates", func() (map[string]string, error) {
		out := map[string]string{}
		for _, class := range classes {
			out[class] = *f.template.Load()
		}
		return out, nil
	})
}

// Close makes Run return and later calls fail. The machines live on.
func (f *Fleet) Close() error {
	f.close.Do(func() { close(f.closed) })
	return nil
}

var errClosed = errors.New("fleet is closed")

func (f *Fleet) usable(ctx context.Context) error {
	select {
	case <-f.closed:
		return errClosed
	default:
		return context.Cause(ctx)
	}
}

// call does one method's work, unless f is closed or ctx has ended. What it was for is said in an error.
func call[T any](ctx context.Context, f *Fleet, what string, work func() (T, error)) (T, error) {
	var out, none T
	err := f.usable(ctx)
	if err == nil {
		out, err = work()
	}
	if err != nil {
		return none, fmt.Errorf("%s: %w", what, err)
	}
	return out, nil
}

// Ended implements fleet.Notifier, for a process that is in Run.
func (f *Fleet) Ended() <-chan struct{} { return f.ended }

// nudge makes Run look at once.
func (f *Fleet) nudge() { signal(f.wake) }

func signal(to chan struct{}) {
	select {
	case to <- struct{}{}:
	default: // it will look anyway
	}
}
