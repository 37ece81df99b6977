package e2e

import (
	"context"
	"database/sql"
	"errors"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/remuda-run/remuda/e2e/program"
	"github.com/remuda-run/remuda/internal/sqlitedb"
	"github.com/remuda-run/remuda/store"
)

// commands are what the scripts can do besides testscript's own. scripts/README.md describes them.
var commands = map[string]func(*testscript.TestScript, bool, []string){
	"app":        app,
	"controller": controller,
	"crashed":    crashed,
	"dev":        dev,
	"eventually": eventually,
	"exits":      exits,
	"github":     github,
	"gone":       gone,
	"killed":     killed,
	"hup":        hup,
	"locked":     locked,
	"scraped":    scraped,
	"signal":     signal,
	"simulated":  simulated,
	"start":      start,
	"tampered":   tampered,
}

// siteKey finds the site of a script.
type siteKey struct{}

// longScripts are those that take over 10 s, most of which they wait.
var longScripts = []string{
	"attempts", "audit", "controller-gone", "floor-schedule", "forgotten-release", "interrupted-client", "locked-file", "reload", "runs-approval-waits",
	"runs-lost-beside-failure", "runs-lost-job", "runs-lost-two", "sudden-loss", "two-controllers", "usage-class",
}

// setup gives each script a site, a configuration with short limits and the program.Binary in its path.
func setup(env *testscript.Env) error {
	settings, err := os.ReadFile(filepath.Join("testdata", "remuda.yaml"))
	if err != nil {
		return err
	}
	file := filepath.Join(env.WorkDir, "settings.yaml")
	if err := os.WriteFile(file, settings, 0o600); err != nil {
		return err
	}
	s := &site{}
	s.at(env.WorkDir)
	env.Setenv("PATH", filepath.Dir(program.Binary)+string(os.PathListSeparator)+env.Getenv("PATH"))
	env.Setenv("REMUDA_CONFIG", file)
	env.Setenv("SETTINGS", file)
	env.Setenv("STATE", s.state)
	env.Setenv("NO_COLOR", "1")
	env.Values[siteKey{}] = s
	env.Defer(func() {
		if err := s.stop(); err != nil {
			env.T().Log(err)
		}
		for _, text := range s.tails() {
			env.T().Log(text)
		}
	})
	return nil
}

// siteOf returns the site of a script, with the script's present environment.
func siteOf(ts *testscript.TestScript) *site {
	s := ts.Value(siteKey{}).(*site)
	s.environ = func() []string {
		var env []string
		for _, name := range slices.Concat([]string{"PATH", "HOME", "NO_COLOR", "REMUDA_CONFIG", "REMUDA_SIMULATED_TOKEN"}, settingEnvs) {
			if value := ts.Getenv(name); value != "" {
				env = append(env, name+"="+value)
			}
		}
		return env
	}
	return s
}

// check ends the script unless the number of arguments is right.
func check(ts *testscript.TestScript, ok bool, usage string) {
	if !ok {
		ts.Fatalf("usage: %s", usage)
	}
}

// eventually LIMIT REGEXP COMMAND… runs a command until it succeeds with output that matches. With !
// until its output no longer matches or it fails. stdout then looks at its last output.
func eventually(ts *testscript.TestScript, neg bool, args []string) {
	check(ts, len(args) >= 3, "[!] eventually LIMIT REGEXP COMMAND...")
	limit, err := time.ParseDuration(args[0])
	ts.Check(err)
	want, err := regexp.Compile(args[1])
	ts.Check(err)
	s := siteOf(ts)
	deadline := time.Now().Add(limit)
	for pause := 50 * time.Millisecond; ; pause = min(2*pause, 400*time.Millisecond) { // a command costs as much as the pause
		out, err := attempted(ts, s, args[2], args[3:])
		if (err == nil && want.Match(out)) != neg {
			_, err := ts.Stdout().Write(out)
			ts.Check(err)
			return
		}
		if time.Now().After(deadline) {
			ts.Fatalf("eventually %s: not within %s; last output, %v:\n%s", args[1], limit, err, out)
		}
		time.Sleep(pause)
	}
}

// attempted runs a command that may fail: a program, or simulated.
func attempted(ts *testscript.TestScript, s *site, name string, args []string) ([]byte, error) {
	switch name {
	case "simulated":
		return askHub(ts, args)
	case "scraped":
		return scrape(s, args)
	case "remuda":
		name = program.Binary
	}
	cmd := exec.Command(name, args...)
	cmd.Dir, cmd.Env = s.dir, s.environ()
	return cmd.CombinedOutput()
}

// exits CODE COMMAND… runs a command that must end with the code.
func exits(ts *testscript.TestScript, neg bool, args []string) {
	check(ts, len(args) >= 2 && !neg, "exits CODE COMMAND...")
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got := 0
	err = ts.Exec(args[1], args[2:]...)
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		got, err = exit.ExitCode(), nil
	}
	ts.Check(err)
	if got != want {
		ts.Fatalf("exit code %d, want %d", got, want)
	}
}

// dev ARG… starts `remuda dev` in $STATE, waits until it serves, and points $REMUDA_CONFIG to it.
func dev(ts *testscript.TestScript, neg bool, args []string) {
	check(ts, !neg, "dev ARG...")
	s := siteOf(ts)
	ts.Check(os.MkdirAll(s.state, 0o700))
	d, err := s.start("dev", append([]string{"--config", ts.Getenv("SETTINGS"), "dev", "--dir", s.state}, args...)...)
	ts.Check(err)
	_, err = d.Await("everything is in")
	ts.Check(err)
	ts.Setenv("REMUDA_CONFIG", filepath.Join(s.state, "remuda.yaml"))
}

// github ARG… starts a simulated GitHub for controllers that come and go.
func github(ts *testscript.TestScript, neg bool, args []string) {
	check(ts, !neg, "github ARG...")
	s := siteOf(ts)
	ts.Check(os.MkdirAll(s.state, 0o700))
	settings, err := os.ReadFile(ts.Getenv("SETTINGS"))
	ts.Check(err)
	g, config, err := s.github(settings, args...)
	ts.Check(err)
	ts.Setenv("REMUDA_CONFIG", config)
	ts.Setenv("REMUDA_SIMULATED_TOKEN", g.Token)
}

// controller NAME starts a controller. `! controller NAME` kills it with -9.
func controller(ts *testscript.TestScript, neg bool, args []string) {
	check(ts, len(args) == 1, "[!] controller NAME")
	if neg {
		signal(ts, false, []string{args[0], "KILL"})
		return
	}
	_, err := siteOf(ts).start(args[0], "controller")
	ts.Check(err)
}

// start NAME ARG… starts any remuda in the background.
func start(ts *testscript.TestScript, neg bool, args []string) {
	check(ts, len(args) >= 2 && !neg, "start NAME ARG...")
	_, err := siteOf(ts).start(args[0], args[1:]...)
	ts.Check(err)
}

// signals by the names that scripts use.
var signals = map[string]syscall.Signal{"INT": syscall.SIGINT, "TERM": syscall.SIGTERM, "KILL": syscall.SIGKILL}

// signal NAME SIGNAL [CODE] signals what was started under a name, waits for its end, and expects the
// exit code.
func signal(ts *testscript.TestScript, neg bool, args []string) {
	check(ts, (len(args) == 2 || len(args) == 3) && !neg && signals[args[1]] != 0, "signal NAME INT|TERM|KILL [CODE]")
	d, err := siteOf(ts).find(args[0])
	ts.Check(err)
	code, err := d.Stop(signals[args[1]])
	ts.Check(err)
	if len(args) == 3 && strconv.Itoa(code) != args[2] {
		ts.Fatalf("%s ended with exit code %d, want %s", d.Name, code, args[2])
	}
}

// hup NAME has what was started under a name read its configuration.
func hup(ts *testscript.TestScript, neg bool, args []string) {
	check(ts, len(args) == 1 && !neg, "hup NAME")
	d, err := siteOf(ts).find(args[0])
	ts.Check(err)
	ts.Check(d.Signal(syscall.SIGHUP))
}

// scraped NAME prints the metrics of a controller that serves HTTP.
func scraped(ts *testscript.TestScript, neg bool, args []string) {
	check(ts, len(args) == 1 && !neg, "scraped NAME")
	out, err := scrape(siteOf(ts), args)
	ts.Check(err)
	_, err = ts.Stdout().Write(out)
	ts.Check(err)
}

func scrape(s *site, args []string) ([]byte, error) {
	d, err := s.find(args[0])
	if err != nil {
		return nil, err
	}
	address, err := d.Await(`"msg":"serving HTTP","address":"([^"]+)"`)
	if err != nil {
		return nil, err
	}
	defer http.DefaultClient.CloseIdleConnections()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+address+"/metrics", http.NoBody)
	if err != nil {
		return nil, err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	return io.ReadAll(resp.Body)
}

// killed FILE kills the agent of the instance that a file names, with -9.
func killed(ts *testscript.TestScript, neg bool, args []string) {
	check(ts, len(args) == 1 && !neg, "killed FILE")
	ts.Check(siteOf(ts).killAgent(strings.TrimSpace(ts.ReadFile(args[0]))))
}

// crashed FILE kills everything of the machine that a file names, with -9 and at once, as a host that fails does.
func crashed(ts *testscript.TestScript, neg bool, args []string) {
	check(ts, len(args) == 1 && !neg, "crashed FILE")
	ts.Check(siteOf(ts).crash(strings.TrimSpace(ts.ReadFile(args[0]))))
}

// gone LIMIT waits until no process of any machine is left. With ! some must be.
func gone(ts *testscript.TestScript, neg bool, args []string) {
	check(ts, len(args) == 1, "[!] gone LIMIT")
	limit, err := time.ParseDuration(args[0])
	ts.Check(err)
	s := siteOf(ts)
	ts.Check(program.Until(limit, "processes of machines", func() bool {
		left, err := s.Left()
		ts.Check(err)
		return (len(left) == 0) != neg
	}))
}

// locked DURATION holds the write lock of the store's file for so long.
func locked(ts *testscript.TestScript, neg bool, args []string) {
	check(ts, len(args) == 1 && !neg, "locked DURATION")
	hold, err := time.ParseDuration(args[0])
	ts.Check(err)
	db, err := sqlitedb.Open(context.Background(), filepath.Join(siteOf(ts).state, "remuda.db"))
	ts.Check(err)
	taken, freed := make(chan error, 1), make(chan error, 1)
	go func() {
		err := db.Write(context.Background(), func(*sql.Tx) error {
			taken <- nil
			time.Sleep(hold)
			return errors.New("give up the lock")
		})
		select {
		case taken <- err: // it never got it
		default:
		}
		freed <- db.Close()
	}()
	ts.Check(<-taken)
	ts.Defer(func() { ts.Check(<-freed) })
}

// tampered FILE OLD NEW replaces a text in the stored record of the instance that a file names, as somebody
// may who can write to the store's file.
func tampered(ts *testscript.TestScript, neg bool, args []string) {
	check(ts, len(args) == 3 && !neg, "tampered FILE OLD NEW")
	db, err := sqlitedb.Open(context.Background(), filepath.Join(siteOf(ts).state, "remuda.db"))
	ts.Check(err)
	key := store.InstanceKey(store.Principal(strings.TrimSpace(ts.ReadFile(args[0]))), store.KindInstance)
	var changed int64
	err = db.Write(context.Background(), func(tx *sql.Tx) error {
		done, err := tx.Exec("UPDATE store_item SET attributes = replace(attributes, ?1, ?2) WHERE partition = ?3 AND sort = ?4 AND instr(attributes, ?1)",
			args[1], args[2], key.Partition, key.Sort)
		if err != nil {
			return err
		}
		changed, err = done.RowsAffected()
		return err
	})
	ts.Check(errors.Join(err, db.Close()))
	if changed != 1 {
		ts.Fatalf("no record of %s holds %s", key.Partition, args[1])
	}
}
