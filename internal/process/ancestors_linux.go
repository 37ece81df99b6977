package process

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
)

func parentAt(pid int) (int, error) {
	line, err := os.ReadFile(filepath.Join(procDir, strconv.Itoa(pid), "stat"))
	if err != nil {
		return 0, err
	}
	return parentOf(line), nil
}

// commandAt returns the first word of a process's command line, "" if it has none.
func commandAt(pid int) (string, error) {
	line, err := os.ReadFile(filepath.Join(procDir, strconv.Itoa(pid), "cmdline"))
	name, _, _ := bytes.Cut(line, []byte{0})
	return string(name), err
}
