package sqlitedb_test

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/remuda-run/remuda/internal/sqlitedb"
)

func TestMigrate_AppliesOnlyWhatIsMissing(t *testing.T) {
	db := open(t, sqlitedb.Memory)
	one, two := `CREATE TABLE a (n INTEGER) STRICT; CREATE INDEX a_n ON a (n)`, `ALTER TABLE a ADD COLUMN m INTEGER`
	for _, steps := range [][]string{{one}, {one}, {one, two}, {one, two}} {
		if err := db.Migrate(t.Context(), "other", steps...); err != nil {
			t.Fatalf("Migrate(%d steps) error = %v", len(steps), err)
		}
	}
	if _, err := db.SQL().Exec(`INSERT INTO a (n, m) VALUES (1, 2)`); err != nil {
		t.Errorf("after both steps: %v", err)
	}
}

func TestMigrate_FailedStepChangesNothing(t *testing.T) {
	db := open(t, sqlitedb.Memory)
	err := db.Migrate(t.Context(), "other", `CREATE TABLE a (n INTEGER) STRICT`, `CREATE TABLE oops (`)
	if err == nil || !strings.Contains(err.Error(), "step 2") {
		t.Fatalf("Migrate() error = %v, want one of step 2", err)
	}
	if err := db.Migrate(t.Context(), "other", `CREATE TABLE a (n INTEGER) STRICT`); err != nil {
		t.Errorf("Migrate() after the failed one: %v", err)
	}
}

func TestMigrate_NewerFileIsRefused(t *testing.T) {
	db := open(t, sqlitedb.Memory)
	if err := db.Migrate(t.Context(), "test"); err == nil || !strings.Contains(err.Error(), "newer") {
		t.Errorf("Migrate() error = %v, want a refusal that asks for a newer program", err)
	}
}

func TestMigrate_DoneNeedsNoWriteLock(t *testing.T) {
	path := filepath.Join(t.TempDir(), "locked.db")
	other := open(t, path)
	release := hold(t, other)
	defer release()
	start := time.Now()
	open(t, path) // opens and migrates
	if took := time.Since(start); took >= sqlitedb.BusyTimeout {
		t.Errorf("took %s, want no wait for the lock", took)
	}
}
