package sqlitestore_test

import (
	"path/filepath"
	"testing"

	"k8s.io/utils/clock"

	"github.com/remuda-run/remuda/store"
	"github.com/remuda-run/remuda/store/storetest"
)

func TestTable_File(t *testing.T)   { storetest.Run(t, openFile) }
func TestTable_Memory(t *testing.T) { storetest.Run(t, openMemory) }

func TestScan_MoreThan10000_S26_S81_H05(t *testing.T) { storetest.RunMany(t, openFile) }

func BenchmarkTable_File(b *testing.B)   { storetest.Bench(b, openFile) }
func BenchmarkTable_Memory(b *testing.B) { storetest.Bench(b, openMemory) }

func openMemory(t testing.TB) store.Table { return open(t, ":memory:", clock.RealClock{}) }

func openFile(t testing.TB) store.Table {
	return open(t, filepath.Join(t.TempDir(), "remuda.db"), clock.RealClock{})
}
