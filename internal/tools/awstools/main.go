// Command awstools installs the programs that stand in for AWS in tests.
//
// Usage: awstools
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"sync"
	"syscall"

	"github.com/remuda-run/remuda/internal/awstest/awstools"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Stdout)
	stop()
	if err != nil {
		fmt.Fprintf(os.Stderr, "awstools: %v\n", err)
		os.Exit(1)
	}
}

// run installs all tools at once, for each waits mostly for the network, and prints where each one is.
func run(ctx context.Context, out io.Writer) error {
	tools := awstools.All()
	dirs, errs := make([]string, len(tools)), make([]error, len(tools))
	var group sync.WaitGroup
	for i, tool := range tools {
		group.Go(func() { dirs[i], errs[i] = tool.Install(ctx) })
	}
	group.Wait()
	for i, tool := range tools {
		if errs[i] != nil {
			errs[i] = fmt.Errorf("%s: %w", tool.Name, errs[i])
			continue
		}
		fmt.Fprintf(out, "%s: %s\n", tool.Name, dirs[i])
	}
	return errors.Join(errs...)
}
