package main

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/remuda-run/remuda/internal/atomicfile"
)

// load reads what save wrote into v, and reports whether there was anything.
func load(path string, v any) (bool, error) {
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("read state: %w", err)
	}
	if err := json.Unmarshal(text, v); err != nil {
		return false, fmt.Errorf("read state %s: %w; delete it to begin anew", path, err)
	}
	return true, nil
}

// save writes v as a whole or not at all, whatever ends the process meanwhile.
func save(path string, v any) error {
	text, err := json.Marshal(v)
	if err == nil {
		err = os.MkdirAll(filepath.Dir(path), 0o750)
	}
	if err == nil {
		err = atomicfile.Write(path, append(text, '\n'), 0o600)
	}
	if err != nil {
		return fmt.Errorf("write state %s: %w", path, err)
	}
	return nil
}

// hashFile identifies what is in a file.
func hashFile(path string) (string, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return "", fmt.Errorf("hash: %w", err)
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:8]), nil
}
