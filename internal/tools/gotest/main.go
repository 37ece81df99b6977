// Command gotest runs go test. Packages that want different arguments stand in groups, which run at once,
// as many packages mostly wait. It prints what go test prints, and at the end, in one line, what tests left
// out for want of a program. It keeps the complete stream of test events in a file, from which command
// acceptance reads which test passed.
//
// Usage: gotest -o file [arguments of go test] [-- those of another]
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code, err := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	if err != nil {
		fmt.Fprintf(os.Stderr, "gotest: %v\n", err)
	}
	os.Exit(code)
}

// run returns the exit code of go test, or 2 with the error that kept it from running.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) (int, error) {
	if len(args) < 2 || args[0] != "-o" {
		return 2, errors.New("usage: gotest -o file [arguments of go test] [-- those of another]")
	}
	name := args[1]
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return 2, fmt.Errorf("create folder of %s: %w", name, err)
	}
	file, err := os.Create(name)
	if err != nil {
		return 2, fmt.Errorf("create %s: %w", name, err)
	}
	code, err := goTest(ctx, args[2:], stdout, stderr, file)
	if closeErr := file.Close(); err == nil && closeErr != nil {
		return 2, fmt.Errorf("write %s: %w", name, closeErr)
	}
	return code, err
}
