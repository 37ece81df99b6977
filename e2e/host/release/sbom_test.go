//go:build linux

package release

import (
	"bytes"
	"debug/buildinfo"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/remuda-run/remuda/e2e/host/hosttest"
)

// The archives hold the program of their target, and the SBOM each module that is linked into one of them.
func TestRelease_ListsWhatIsLinked(t *testing.T) {
	everyTarget(t)
	dir := release(t)
	text, err := os.ReadFile(one(t, dir, "*.spdx.json"))
	if err != nil {
		t.Fatal(err)
	}
	var sbom struct {
		SPDXVersion string `json:"spdxVersion"`
		Packages    []struct{ Name, VersionInfo string }
	}
	if err := json.Unmarshal(text, &sbom); err != nil || sbom.SPDXVersion != "SPDX-2.3" {
		t.Fatalf("SBOM: %v, version %q", err, sbom.SPDXVersion)
	}
	listed := map[string]bool{}
	for _, p := range sbom.Packages {
		listed[p.Name+" "+p.VersionInfo] = true
	}
	for _, target := range []string{"linux_amd64", "linux_arm64", "darwin_arm64"} {
		into := t.TempDir()
		output(t, "tar", "-xzf", one(t, dir, "*_"+target+".tar.gz"), "-C", into)
		info, err := buildinfo.ReadFile(filepath.Join(into, "remuda"))
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range info.Deps {
			if !listed[m.Path+" "+m.Version] {
				t.Errorf("%s links %s %s, which the SBOM lacks", target, m.Path, m.Version)
			}
		}
		for _, name := range []string{"LICENSE", "completions/remuda.bash", "man/remuda.1"} {
			if _, err := os.Stat(filepath.Join(into, name)); err != nil {
				t.Error(err)
			}
		}
	}
	sums := exec.CommandContext(t.Context(), "sha256sum", "--check", "--quiet", "SHA256SUMS")
	sums.Dir = dir
	if out, err := sums.CombinedOutput(); err != nil {
		t.Errorf("sha256sum: %v\n%s", err, out)
	}
}

// SPDX's own validator finds nothing to say of the SBOM, its licences included.
func TestSBOM_IsValid(t *testing.T) {
	sbom := one(t, release(t), "*.spdx.json")
	hosttest.Require(t, "python3", "python3-venv")
	venv := filepath.Join(t.TempDir(), "venv")
	output(t, "python3", "-m", "venv", venv)
	output(t, filepath.Join(venv, "bin/pip"), "install", "--quiet", "--disable-pip-version-check", "--no-deps", "-r", "testdata/requirements.txt")
	validator := filepath.Join(venv, "bin/pyspdxtools")
	if said := output(t, validator, "--infile", sbom, "--version", "SPDX-2.3"); said != "" {
		t.Errorf("pyspdxtools: %s", said)
	}
	text, err := os.ReadFile(sbom)
	if err != nil {
		t.Fatal(err)
	}
	broken := filepath.Join(t.TempDir(), "broken.spdx.json")
	if err := os.WriteFile(broken, bytes.Replace(text, []byte(`"Apache-2.0"`), []byte(`"Apache 2"`), 1), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.CommandContext(t.Context(), validator, "--infile", broken, "--version", "SPDX-2.3").CombinedOutput(); err == nil {
		t.Errorf("pyspdxtools passes a licence that is none: %s", out)
	}
}
