// Command demo shows the whole lifecycle on one machine: it starts a real `remuda dev`, drives it
// through the command line as a user would, watches its records from outside, and fails if
// anything happened that must never happen.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"time"

	"github.com/remuda-run/remuda/e2e/program"
)

// limit is the time the whole demonstration may take.
const limit = 90 * time.Second

func main() { os.Exit(demo()) }

// demo tells the story and returns the exit code.
func demo() int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	flag.StringVar(&program.Binary, "remuda", "", "the built `binary`")
	keep := flag.Bool("keep", false, "keep the folder with database, logs and configuration")
	flag.Parse()
	ctx, cancel := context.WithTimeoutCause(ctx, limit, fmt.Errorf("the demonstration took longer than %s", limit))
	defer cancel()
	if err := run(ctx, *keep); err != nil {
		if cause := context.Cause(ctx); cause != nil && errors.Is(err, ctx.Err()) {
			err = cause
		}
		fmt.Fprintf(os.Stderr, "\ndemo: %v\n", err)
		return 1
	}
	return 0
}

func run(ctx context.Context, keep bool) (err error) {
	if program.Binary == "" {
		return errors.New("-remuda: must name the built binary; `make demo` builds it")
	}
	if program.Binary, err = filepath.Abs(program.Binary); err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "remuda-demo-")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil || keep {
			fmt.Fprintf(os.Stderr, "\nlogs, database and configuration are in %s\n", dir)
			return
		}
		err = os.RemoveAll(dir)
	}()
	s, err := begin(ctx, dir)
	if err != nil {
		return err
	}
	return errors.Join(s.tell(ctx), s.end())
}
