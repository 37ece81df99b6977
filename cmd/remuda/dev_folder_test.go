package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/remuda-run/remuda/internal/config"
)

// Whatever says so, dev works in its own folder: elsewhere it would lead and end the machines of another installation.
func TestDev_RefusesWhatLiesOutsideItsFolder(t *testing.T) {
	other := t.TempDir()
	dir := filepath.Join(t.TempDir(), "mine")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(other, filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	production := "store: dynamodb://remuda?region=eu-west-1\npool: sqs://remuda?region=eu-west-1\nfleet: ec2://remuda?region=eu-west-1\n"
	for _, tt := range []struct {
		name, file string
		env, args  []string
		want       []string
	}{
		{"ProductionFile", production, nil, nil, []string{"store: must be", "pool: must be", "fleet: must be", "file prod.yaml:1", "dynamodb://remuda"}},
		{"Variable", "", []string{"REMUDA_FLEET=process://" + other}, nil, []string{"fleet: must be", "env REMUDA_FLEET", other, dir}},
		{"Flag", "", nil, []string{"--set", "store=sqlite://" + other + "/remuda.db"}, []string{"store: must be", "flag --set"}},
		{"Pool", "", []string{"REMUDA_POOL=sqlite://" + other + "/pool.db"}, nil, []string{"pool: must be"}},
		{"NextFolder", "", []string{"REMUDA_FLEET=process://" + dir + "-2/instances"}, nil, []string{"fleet: must be"}},
		{"Above", "", []string{"REMUDA_FLEET=process://" + dir + "/../instances"}, nil, []string{"fleet: must be"}},
		{"TheFolderItself", "", []string{"REMUDA_FLEET=process://" + dir}, nil, []string{"fleet: must be"}},
		{"ThroughALink", "", []string{"REMUDA_FLEET=process://" + dir + "/link/instances"}, nil, []string{"fleet: must be"}},
		{"InMemory", "", []string{"REMUDA_STORE=sqlite::memory:"}, nil, []string{"store: must be"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := newCLI(nil)
			c.env = tt.env
			if tt.file != "" {
				c.files["prod.yaml"] = tt.file
				c.env = append(c.env, "REMUDA_CONFIG=prod.yaml")
			}
			code := c.run(t.Context(), append([]string{"dev", "--dir", dir}, tt.args...)...)
			if code != exitUsage {
				t.Errorf("exit code = %d, want %d", code, exitUsage)
			}
			contains(t, c.err.String(), tt.want...)
			if entries, err := os.ReadDir(dir); err != nil || len(entries) != 1 {
				t.Errorf("folder holds %v, %v after a refusal, want the link alone", entries, err)
			}
		})
	}
}

// The configuration that dev wrote names its own folder, by whatever path that is reached.
func TestDev_TakesItsOwnConfiguration(t *testing.T) {
	real := t.TempDir()
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(real, link); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{real, link} {
		cfg, err := config.Read(config.Source{Flags: []config.Flag{
			{Name: "--store", Key: "store", Text: "sqlite://" + real + "/remuda.db"}, {Name: "--fleet", Key: "fleet", Text: "process://" + real + "/instances"},
		}})
		if err != nil {
			t.Fatal(err)
		}
		o := devOptions{dir: dir, sim: simOptions{listen: "127.0.0.1:0", silence: minDuration}}
		if err := o.complete(&cfg); err != nil {
			t.Errorf("complete() of %s with its own back ends: %v", dir, err)
		}
	}
}

// A folder that a controller works in is no dev's, though dev's defaults lie in it.
func TestDev_RefusesTheFolderOfAController(t *testing.T) {
	for _, name := range []string{devStore, devInstances} {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := lockDev(dir); err == nil || !strings.Contains(err.Error(), name) || !strings.Contains(err.Error(), "choose another --dir") {
			t.Errorf("lockDev() with a %s of another installation: %v, want a refusal that names it", name, err)
		}
		if _, err := os.Stat(filepath.Join(dir, devLock)); !os.IsNotExist(err) {
			t.Errorf("a refused folder got a lock: %v", err)
		}
	}
}

// A URL is read as its back end reads it: an escaped way out of the folder is one.
func TestDev_RefusesAnEscapedWayOut(t *testing.T) {
	t.Chdir(t.TempDir())
	cfg, err := config.Read(config.Source{Env: map[string]string{"REMUDA_STORE": "sqlite:..%2fremuda.db", "REMUDA_FLEET": "process:..%2finstances"}})
	if err != nil {
		t.Fatal(err)
	}
	o := devOptions{dir: ".", sim: simOptions{listen: "127.0.0.1:0", silence: minDuration}}
	err = o.complete(&cfg)
	if err == nil || !strings.Contains(err.Error(), "store: must be") || !strings.Contains(err.Error(), "fleet: must be") {
		t.Errorf("complete() = %v, want store and fleet refused", err)
	}
}

// A dev takes a free port, not the one of a controller beside it nor one that an earlier dev had, unless someone names one.
func TestDev_TakesAFreePort(t *testing.T) {
	const free = "127.0.0.1:0"
	dir := t.TempDir()
	for _, tt := range []struct {
		name, file, text string
		env              []string
		want             string
	}{
		{"Default", "", "", nil, free},
		{"OfAnEarlierDev", filepath.Join(dir, "remuda.yaml"), "http: {listen: '127.0.0.1:33479'}\n", nil, free},
		{"OfAnotherFile", "settings.yaml", "http: {listen: '127.0.0.1:9700'}\n", nil, "127.0.0.1:9700"},
		{"Off", "settings.yaml", "http: {listen: ''}\n", nil, ""},
		{"Variable", filepath.Join(dir, "remuda.yaml"), "http: {listen: '127.0.0.1:33479'}\n", []string{"REMUDA_HTTP_LISTEN=127.0.0.1:9700"}, "127.0.0.1:9700"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := freshCLI()
			c.files[tt.file], c.env = tt.text, append(tt.env, "REMUDA_CONFIG="+tt.file)
			cfg, err := c.loadConfig()
			if err != nil {
				t.Fatal(err)
			}
			o := devOptions{dir: dir, sim: simOptions{listen: free, silence: minDuration}}
			if err := o.complete(&cfg); err != nil {
				t.Fatal(err)
			}
			if cfg.HTTP.Listen != tt.want {
				t.Errorf("http.listen = %q, want %q", cfg.HTTP.Listen, tt.want)
			}
		})
	}
}
