package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/secretsmanager/types"

	"github.com/remuda-run/remuda/internal/githubapi"
	"github.com/remuda-run/remuda/internal/reference"
)

// appTarget is where an App's id and key go.
type appTarget struct {
	*app
	text  string // as github.secret names it
	force bool   // replace what is there
}

// check fails unless the App can be stored, as far as that can be known before: GitHub shows its key only once.
func (t appTarget) check(ctx context.Context) error {
	if reference.Remote(t.text) {
		text, err := t.references.Read(ctx, t.text)
		none := (*types.ResourceNotFoundException)(nil)
		switch {
		// The service's answer for a secret that is there and has never had a value.
		case errors.Is(err, reference.ErrEmpty), errors.As(err, &none) && strings.Contains(none.ErrorMessage(), "staging label"):
			return nil
		case err != nil:
			return err
		case t.force:
			return nil
		}
		if s, err := parseGitHubSecret(text); err == nil && s.AppID > 0 {
			return usagef("%s: must be empty, or --force given; it holds the App %d", t.text, s.AppID)
		}
		return usagef("%s: must be empty, or --force given; it holds something", t.text)
	}
	switch _, err := os.Lstat(t.text); {
	case err == nil && !t.force:
		return usagef("%s: must not be there yet, or --force given", t.text)
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return asUsage(err)
	}
	f, err := os.CreateTemp(filepath.Dir(t.text), ".remuda-*")
	if err != nil {
		return usagef("%s: must be in a folder that can be written to: %w", t.text, err)
	}
	return errors.Join(f.Close(), os.Remove(f.Name()))
}

// store keeps an App, and returns where. What the target does not take goes to a file, beside an error.
func (t appTarget) store(ctx context.Context, made githubapi.MadeApp) (where string, err error) {
	text, err := json.Marshal(githubSecret{AppID: made.ID, Key: made.Key})
	if err != nil {
		return "", err
	}
	if reference.Remote(t.text) {
		err = t.references.Store(ctx, t.text, text)
	} else {
		err = writeSecret(t.text, text, t.force)
	}
	if err == nil {
		return t.text, nil
	}
	name := fmt.Sprintf("remuda-github-app-%d.json", made.ID)
	for _, dir := range []string{".", os.TempDir()} {
		path, badDir := filepath.Abs(filepath.Join(dir, name))
		if cmp.Or(badDir, writeSecret(path, text, false)) == nil {
			return path, fmt.Errorf("store %s: %w; its id and key are in %s instead: move them", made, err, path)
		}
	}
	return "", fmt.Errorf("store %s: %w; its key is lost: generate another in the App's settings at GitHub", made, err)
}

// writeSecret makes the file at path as a whole, for its owner alone. Unless replace is set it must not be there.
func writeSecret(path string, text []byte, replace bool) (err error) {
	f, err := os.CreateTemp(filepath.Dir(path), ".remuda-*") // mode 0600
	if err != nil {
		return err
	}
	defer func() {
		if gone := os.Remove(f.Name()); !errors.Is(gone, fs.ErrNotExist) {
			err = errors.Join(err, gone)
		}
	}()
	_, err = f.Write(append(text, '\n'))
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	if replace {
		return os.Rename(f.Name(), path)
	}
	return os.Link(f.Name(), path) // fails where something is, which a rename would replace
}
