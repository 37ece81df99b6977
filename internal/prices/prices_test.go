package prices_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/remuda-run/remuda/internal/prices"
	"github.com/remuda-run/remuda/store"
)

func write(t testing.TB, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "prices.yaml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestRead_FirstLineThatMatches(t *testing.T) {
	l, err := prices.Read(write(t, "- {types: c6i.large, onDemand: 0.085, spot: 0.03}\n- {types: 'c6i.*', onDemand: 0.2}\n"))
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		usage, instanceType string
		want                float64 // 0: not known
	}{
		{store.OnDemand, "c6i.large", 0.085}, {store.Spot, "c6i.large", 0.03}, {store.OnDemand, "c6i.xlarge", 0.2},
		{store.Spot, "c6i.xlarge", 0}, {store.OnDemand, "m6i.large", 0},
	} {
		if got, known := l.PerHour(tt.usage, tt.instanceType, "eu-west-1a"); got != tt.want || known != (tt.want > 0) {
			t.Errorf("PerHour(%s, %s) = %v, %t, want %v", tt.usage, tt.instanceType, got, known, tt.want)
		}
	}
}

func TestRead_NamesWhatIsWrong(t *testing.T) {
	for text, want := range map[string]string{
		"- {types: 'c6i large', onDemand: 1}\n- {types: m*, spot: -1}": "[0].types: may hold",
		"- {types: m*, spot: -1}":                                      "[0].spot: must be dollars per hour, at least 0, got -1",
		"- {types: m*, onDemand: .nan}":                                "[0].onDemand: must be dollars per hour",
		"- {types: m*, price: 1}":                                      "field price not found",
		"c6i.large: 1":                                                 "must be a list of {types, onDemand, spot}",
	} {
		if _, err := prices.Read(write(t, text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Read(%q) error = %v, want %q in it", text, err, want)
		}
	}
	if _, err := prices.Read(filepath.Join(t.TempDir(), "none")); err == nil {
		t.Error("Read() of no file = nil")
	}
}

func FuzzRead(f *testing.F) {
	f.Add("- {types: c*, onDemand: 1e3, spot: 0}")
	f.Fuzz(func(t *testing.T, text string) {
		l, err := prices.Read(write(t, text))
		if got, known := l.PerHour(store.OnDemand, "c6i.large", ""); err == nil && known && !(got > 0) {
			t.Errorf("PerHour() = %v of %q", got, text)
		}
	})
}
