// Command remuda keeps a herd of warm, self-hosted GitHub Actions runners and hands them to
// workflow runs. See `remuda help` and docs/cli.md.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
	_ "time/tzdata" // schedules of floors name zones, and a machine may have no database of them
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal ends the process at once
	code := execute(ctx, newApp(osStreams()), os.Args[1:])
	stop()
	os.Exit(code)
}
