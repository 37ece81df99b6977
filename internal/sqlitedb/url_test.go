package sqlitedb_test

import (
	"net/url"
	"strings"
	"testing"

	"github.com/remuda-run/remuda/internal/sqlitedb"
)

func TestPath(t *testing.T) {
	tests := []struct{ url, want string }{
		{"sqlite:///var/lib/remuda/remuda.db", "/var/lib/remuda/remuda.db"},
		{"sqlite:/var/lib/remuda.db", "/var/lib/remuda.db"},
		{"sqlite:remuda.db", "remuda.db"},
		{"sqlite:a%20b/c%3Fd.db", "a b/c?d.db"},
		{"sqlite:///a%20b/c%3Fd.db", "/a b/c?d.db"},
		{"sqlite::memory:", sqlitedb.Memory},
		{"sqlite://remuda.db", ""}, // a host: one slash too few
		{"sqlite:///", ""},
		{"sqlite:", ""},
		{"sqlite:///x.db?mode=ro", ""},
		{"sqlite:///x.db#a", ""},
		{"sqlite://user:hunter2@/x.db", ""},
		{"dynamodb://table", ""},
	}
	for _, tt := range tests {
		u, err := url.Parse(tt.url)
		if err != nil {
			t.Fatal(err)
		}
		got, err := sqlitedb.Path(u)
		if got != tt.want || (err == nil) != (tt.want != "") {
			t.Errorf("Path(%s) = %q, %v, want %q", tt.url, got, err, tt.want)
		}
		if err != nil && strings.Contains(err.Error(), "hunter2") {
			t.Errorf("Path() error = %v, want the password hidden", err)
		}
	}
}
