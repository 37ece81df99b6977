package sqlitepool_test

import (
	"context"
	"path/filepath"
	"testing"

	"github.com/remuda-run/remuda/pool"
	"github.com/remuda-run/remuda/pool/pooltest"
)

func TestPool(t *testing.T)      { pooltest.Run(t, openFile) }
func BenchmarkPool(b *testing.B) { pooltest.Bench(b, openFile) }

func openFile(t testing.TB) pooltest.Open {
	path := filepath.Join(t.TempDir(), "remuda.db")
	return func(context.Context) (pool.Pool, error) { return open(t, path), nil }
}
