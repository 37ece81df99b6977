package main

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// Of two devs on one folder the second would redirect the first one's machines and end them.
func TestDev_OnePerFolder(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "state")
	unlock, err := lockDev(dir)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := lockDev(dir); err == nil || !strings.Contains(err.Error(), dir) || !strings.Contains(err.Error(), strconv.Itoa(os.Getpid())) {
		t.Errorf("second lockDev() error = %v, want one that names the folder and the process", err)
	}
	if err := unlock(); err != nil {
		t.Fatal(err)
	}
	unlock, err = lockDev(dir)
	if err != nil {
		t.Fatalf("lockDev() after the first ended: %v", err)
	}
	if err := unlock(); err != nil {
		t.Error(err)
	}
}

func TestDev_FlagsOfTheSimulatedGitHub(t *testing.T) {
	for _, tt := range []struct{ name, reason, flag, value, want string }{
		{"Open", "others could reach it", "listen", "0.0.0.0:0", "must be a loopback address"},
		{"NoPort", "no port at all", "listen", "127.0.0.1", "must be a loopback address with a port"},
		{"Latency", "time does not run backwards", "latency", "-1s", "must not be negative, got -1s"},
		{"Silence", "a runner must be able to say something", "silence", "0s", "must be at least 1s, got 0s"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for _, args := range [][]string{{"dev", "--github-" + tt.flag}, {"dev", "github", "--" + tt.flag}} {
				c := newCLI(nil)
				code := c.run(t.Context(), append(args, tt.value)...)
				if flag := args[len(args)-1]; code != exitUsage || !strings.Contains(c.err.String(), flag+": "+tt.want) {
					t.Errorf("%v %s: exit code = %d, stderr %q, want 2 and %q (%s)", args, tt.value, code, &c.err, tt.want, tt.reason)
				}
			}
		})
	}
}
