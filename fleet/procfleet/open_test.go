//go:build linux

package procfleet

import (
	"errors"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/utils/clock"

	"github.com/remuda-run/remuda/fleet"
)

func TestClose_LaterCallsFail(t *testing.T) {
	f := opened(t, t.TempDir(), Options{})
	for range 2 {
		if err := f.Close(); err != nil {
			t.Errorf("Close error = %v", err)
		}
	}
	if err := f.Run(t.Context()); err != nil {
		t.Errorf("Run of a closed fleet = %v, want nil", err)
	}
	_, planErr := f.Plan(t.Context(), spec("l-1", 1))
	_, launchErr := f.Launch(t.Context(), fleet.Plan{})
	_, listErr := f.List(t.Context(), "")
	_, templateErr := f.Templates(t.Context(), "small")
	for i, err := range []error{planErr, launchErr, listErr, templateErr, f.Terminate(t.Context(), newID())} {
		if !errors.Is(err, errClosed) {
			t.Errorf("call %d after Close error = %v, want that it is closed", i, err)
		}
	}
}

func TestOpen_URLs(t *testing.T) {
	wd, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ url, want string }{
		{"process:///var/lib/remuda", "/var/lib/remuda"},
		{"process:/var/lib/remuda/", "/var/lib/remuda"},
		{"process:a%20b/c", filepath.Join(wd, "a b/c")},
		{"process://dir", ""}, // a host: one slash too few
		{"process:///", ""},
		{"process:", ""},
		{"process:///x?y=1", ""},
		{"process://user:hunter2@/x", ""},
		{"ec2://", ""},
	} {
		u, err := url.Parse(tt.url)
		if err != nil {
			t.Fatal(err)
		}
		got, err := Folder(u)
		if got != tt.want || (err == nil) != (tt.want != "") {
			t.Errorf("folder(%s) = %q, %v, want %q", tt.url, got, err, tt.want)
		}
		if err != nil && strings.Contains(err.Error(), "hunter2") {
			t.Errorf("error %q shows the password", err)
		}
	}
}

func TestOpen_BadOptionsAreAllReported(t *testing.T) {
	u, err := url.Parse("process://" + t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	_, err = Open(t.Context(), u, Options{
		Capacity: -1, SpotCapacity: -1, RefusalRate: 1.5, BootDelay: -1, BootJitter: -1, MeanLife: -1, NoticeAfter: -1, NoticeLead: -1, TerminateGrace: -1,
		Types: []TypeInfo{{Name: "x"}, {Name: "y", CPU: 1, Mem: 1}, {Name: "y", CPU: 1, Mem: 1}},
	})
	for _, want := range []string{
		"Command", "Clock", " Capacity", "SpotCapacity", "RefusalRate", "BootDelay", "BootJitter", "MeanLife", "NoticeAfter", "NoticeLead", "TerminateGrace", `"x"`, `"y" is there twice`,
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Open error = %v, want %s in it", err, want)
		}
	}
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, fileMode); err != nil {
		t.Fatal(err)
	}
	u.Path = file
	if _, err := Open(t.Context(), u, Options{Command: script("true"), Clock: clock.RealClock{}}); err == nil || !strings.Contains(err.Error(), file) {
		t.Errorf("Open of a file error = %v, want its name", err)
	}
}

func TestPlan_UnsatisfiableNamesWhatWasAskedAndWhatExists(t *testing.T) {
	f := opened(t, t.TempDir(), Options{})
	s := spec("l-1", 1)
	s.CPU, s.AllowedTypes = 3, []string{"c9*"}
	_, err := f.Plan(t.Context(), s)
	if !errors.Is(err, fleet.ErrUnsatisfiable) {
		t.Fatalf("Plan error = %v, want ErrUnsatisfiable", err)
	}
	for _, want := range []string{"3 vCPU", "4096 MiB", "c9*", "c6i.large 2/4096"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("error %q, want %q in it", err, want)
		}
	}
	if strings.Contains(err.Error(), "t3.") {
		t.Errorf("error %q offers a burstable type", err)
	}
}

func TestCatalogue_IsACopy(t *testing.T) {
	Catalogue()[0].Name = "changed"
	if Catalogue()[0].Name == "changed" {
		t.Error("a caller changed the catalogue of all")
	}
}

func FuzzDecode(f *testing.F) {
	f.Add([]byte(`{"usageClass":"spot","resourceClass":"small","places":[{"instanceType":"c6i.large","cpu":2,"mem":4096,"zone":"local"}]}`))
	f.Add([]byte(`{"places":[{}]}`))
	f.Add([]byte(`null`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		in, form, err := decode(fleet.Plan{Token: "l-1", Count: 1, Params: raw})
		if err != nil && !errors.Is(err, fleet.ErrRefused) {
			t.Errorf("decode(%q) error = %v, want ErrRefused", raw, err)
		}
		if err == nil && (len(in.Places) == 0 || form == "") {
			t.Errorf("decode(%q) = %+v, %q without error", raw, in, form)
		}
	})
}
