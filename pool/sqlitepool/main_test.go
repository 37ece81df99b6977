package sqlitepool_test

import (
	"net/url"
	"testing"

	"go.uber.org/goleak"
	"k8s.io/utils/clock"

	"github.com/remuda-run/remuda/pool/sqlitepool"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// open opens a file, or memory at ":memory:". The test closes it at the end if it did not before.
func open(t testing.TB, path string) *sqlitepool.Pool {
	t.Helper()
	u := &url.URL{Scheme: "sqlite", Opaque: url.PathEscape(path)}
	p, err := sqlitepool.Open(t.Context(), u, clock.RealClock{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	})
	return p
}
