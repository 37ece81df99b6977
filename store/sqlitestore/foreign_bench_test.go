package sqlitestore_test

import (
	"net/url"
	"path/filepath"
	"testing"

	"k8s.io/utils/clock"

	"github.com/remuda-run/remuda/e2e/hostile"
	"github.com/remuda-run/remuda/store"
	"github.com/remuda-run/remuda/store/sqlitestore"
)

// BenchmarkScan_Foreign reads a table with a thousand large items that workflows wrote.
func BenchmarkScan_Foreign(b *testing.B) {
	table, err := sqlitestore.Open(b.Context(), &url.URL{Scheme: "sqlite", Path: filepath.Join(b.TempDir(), "remuda.db")}, clock.RealClock{})
	if err != nil {
		b.Fatal(err)
	}
	defer table.Close()
	for _, item := range hostile.Items("666", 1000) {
		if err := table.Put(b.Context(), item, store.Unconditional); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportAllocs()
	for b.Loop() {
		if err := table.Scan(b.Context(), func(store.Item) error { return nil }); err != nil {
			b.Fatal(err)
		}
	}
}
