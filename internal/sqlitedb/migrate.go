package sqlitedb

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
)

// versionsTable counts, for every schema in the file, the steps that were applied. SQLite's own
// user_version is one number per file and could serve one back end only.
const versionsTable = `CREATE TABLE IF NOT EXISTS remuda_schema (
	name    TEXT    PRIMARY KEY,
	version INTEGER NOT NULL
) STRICT`

// Migrate applies those steps of the named schema that the file lacks, all or none of them. A step
// is a script of statements and is never edited once released; a change is a new step. A file that
// has more steps than given was written by a newer program and is refused.
func (d *DB) Migrate(ctx context.Context, name string, steps ...string) error {
	// Most calls find everything done, and must not wait for the write lock to see that.
	have, err := d.version(ctx, name)
	if err == nil && have != len(steps) {
		err = d.Write(ctx, func(tx *sql.Tx) error { return migrate(ctx, tx, name, steps) })
	}
	if err != nil {
		return fmt.Errorf("migrate schema %s of %s: %w", name, d.path, err)
	}
	return nil
}

// version returns how many steps of the named schema the file has, without writing.
func (d *DB) version(ctx context.Context, name string) (int, error) {
	var tables int
	const exists = `SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name = 'remuda_schema'`
	if err := d.sql.QueryRowContext(ctx, exists).Scan(&tables); err != nil || tables == 0 {
		return 0, err
	}
	return applied(d.sql.QueryRowContext(ctx, selectVersion, name))
}

const selectVersion = `SELECT version FROM remuda_schema WHERE name = ?`

func applied(row *sql.Row) (int, error) {
	var n int
	if err := row.Scan(&n); err != nil && !errors.Is(err, sql.ErrNoRows) {
		return 0, err
	}
	return n, nil
}

func migrate(ctx context.Context, tx *sql.Tx, name string, steps []string) error {
	if _, err := tx.ExecContext(ctx, versionsTable); err != nil {
		return err
	}
	have, err := applied(tx.QueryRowContext(ctx, selectVersion, name))
	if err != nil {
		return err
	}
	if have > len(steps) {
		return fmt.Errorf("the file has version %d, this program knows %d: use a newer one", have, len(steps))
	}
	for i, step := range steps[have:] {
		if _, err := tx.ExecContext(ctx, step); err != nil {
			return fmt.Errorf("step %d: %w", have+i+1, err)
		}
	}
	_, err = tx.ExecContext(ctx, `INSERT INTO remuda_schema (name, version) VALUES (?, ?)
		ON CONFLICT (name) DO UPDATE SET version = excluded.version`, name, len(steps))
	return err
}
