package sqlitestore_test

import (
	"bufio"
	"context"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"testing"

	"go.uber.org/goleak"
	"k8s.io/utils/clock"

	"github.com/remuda-run/remuda/store"
	"github.com/remuda-run/remuda/store/sqlitestore"
)

// childEnv makes the test binary act as another process that has the named file open: for every
// line on its standard input it notifies of the key of that name.
const childEnv = "REMUDA_SQLITESTORE_CHILD"

func TestMain(m *testing.M) {
	if path := os.Getenv(childEnv); path != "" {
		if err := notifier(path); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	goleak.VerifyTestMain(m)
}

func notifier(path string) error {
	ctx := context.Background()
	table, err := sqlitestore.Open(ctx, fileURL(path), clock.RealClock{})
	if err != nil {
		return err
	}
	for in := bufio.NewScanner(os.Stdin); in.Scan(); {
		if err := table.Notify(ctx, store.Key{Partition: in.Text(), Sort: "TYPE#Test"}); err != nil {
			return err
		}
	}
	return table.Close()
}

// command returns the command of such a process.
func command(t *testing.T, path string) *exec.Cmd {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), childEnv+"="+path)
	cmd.Stderr = os.Stderr
	return cmd
}

func fileURL(path string) *url.URL { return &url.URL{Scheme: "sqlite", Opaque: url.PathEscape(path)} }

func open(t testing.TB, path string, clk clock.WithTicker) *sqlitestore.Table {
	t.Helper()
	table, err := sqlitestore.Open(t.Context(), fileURL(path), clk)
	if err != nil {
		t.Fatal(err)
	}
	return table
}
