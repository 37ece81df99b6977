package sqlitedb_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"testing"

	"go.uber.org/goleak"

	"github.com/remuda-run/remuda/internal/sqlitedb"
)

// childEnv makes the test binary act as another process: it adds its rows to the file and exits.
const childEnv = "REMUDA_SQLITEDB_CHILD"

// childRows is how many rows each such process adds.
const childRows = 20

func TestMain(m *testing.M) {
	if path := os.Getenv(childEnv); path != "" {
		if err := child(path); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	goleak.VerifyTestMain(m)
}

// child does what any process of remuda does first: open, migrate, write.
func child(path string) error {
	ctx := context.Background()
	db, err := sqlitedb.Open(ctx, path)
	if err != nil {
		return err
	}
	if err := db.Migrate(ctx, "test", testSchema...); err != nil {
		return err
	}
	for range childRows {
		if err := add(ctx, db, os.Getpid()); err != nil {
			return err
		}
	}
	return db.Close()
}

// command returns the command of such a process.
func command(t *testing.T, path string) *exec.Cmd {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), childEnv+"="+path)
	return cmd
}
