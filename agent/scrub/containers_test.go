package scrub

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// dockerStandIn keeps names in files below a folder, and removes them as docker does.
const dockerStandIn = `#!/bin/sh
cd "$(dirname "$0")" || exit 1
case "$*" in
"info --format {{.DockerRootDir}}") cat root ;;
"image inspect "*) [ -e "images/$5" ] ;;
info*) [ -e silent ] || { [ ! -e stopped ] && echo engine; } ;;
"ps "*) ls containers ;;
"volume ls"*) ls volumes ;;
"network ls"*) ls networks ;;
"image ls"*) cd tags && for t in *; do echo "$t=$(cat "$t")"; done; echo "<none>:<none>=sha256:0" ;;
"image tag "*) [ -e "images/$3" ] || { echo "no such image: $3" >&2; exit 1; }; echo "$3" >"tags/$4" ;;
"image rm --no-prune "*) shift 3; cd tags && rm "$@" ;;
"rm --force --volumes "*) shift 3; cd containers && rm "$@" ;;
"volume rm --force "*) shift 3; cd volumes && for v; do [ -e ../busy ] && { echo "volume is in use" >&2; exit 1; }; rm "$v"; done ;;
"network rm "*) shift 2; cd networks && rm "$@" ;;
*) echo "unknown: $*" >&2; exit 2 ;;
esac
`

// H42: containers, volumes, networks and tags of runs go, those from before stay or are what they were; an engine that
// cannot be asked, or keeps something, is not clean.
func TestContainers_H42(t *testing.T) {
	dir := t.TempDir()
	touch := func(names ...string) {
		t.Helper()
		for _, n := range names {
			path := filepath.Join(dir, n)
			if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, nil, 0o644)); err != nil {
				t.Fatal(err)
			}
		}
	}
	touch("containers/mirror", "volumes/cache", "networks/own")
	tag := func(names ...string) { // each as name=id
		t.Helper()
		for _, n := range names {
			name, id, _ := strings.Cut(n, "=")
			touch("images/" + id)
			path := filepath.Join(dir, "tags", name)
			if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(id+"\n"), 0o644)); err != nil {
				t.Fatal(err)
			}
		}
	}
	tag("node:20=sha256:a", "tools:1=sha256:a")
	ctx := context.Background()
	t.Setenv("PATH", dir+":/usr/bin:/bin")
	if err := os.WriteFile(filepath.Join(dir, engine), []byte(dockerStandIn), 0o755); err != nil {
		t.Fatal(err)
	}
	was, err := listContainers(ctx)
	if err != nil || was == nil || len(was["containers"]) != 1 || len(was[tags]) != 2 {
		t.Fatalf("listContainers = %+v, %v, want one of each", was, err)
	}
	touch("containers/c1", "containers/c2", "volumes/v1", "networks/n1")
	tag("node:20=sha256:b", "new:1=sha256:c", "new:2=sha256:a", "remuda-kept:a=sha256:d")
	if err := os.Remove(filepath.Join(dir, "tags/tools:1")); err != nil {
		t.Fatal(err)
	}
	if _, err := removeContainers(ctx, was); err != nil {
		t.Fatalf("removeContainers = %v", err)
	}
	for name, want := range map[string]bool{
		"containers/mirror": true, "volumes/cache": true, "networks/own": true,
		"containers/c1": false, "containers/c2": false, "volumes/v1": false, "networks/n1": false,
	} {
		if exists(filepath.Join(dir, name)) != want {
			t.Errorf("%s is there: %v, want %v", name, !want, want)
		}
	}
	now, err := listContainers(ctx)
	if err != nil || !slices.Equal(now[tags], was[tags]) {
		t.Errorf("tags = %v, %v, want %v", now[tags], err, was[tags])
	}
	for _, id := range []string{"b", "c", "d"} {
		if !exists(filepath.Join(dir, "tags", keptName("sha256:"+id))) {
			t.Errorf("content %s is not kept", id)
		}
	}
	touch("volumes/v2", "networks/n2", "busy")
	if _, err := removeContainers(ctx, was); err == nil || !strings.Contains(err.Error(), "v2") || !strings.Contains(err.Error(), "in use") {
		t.Errorf("removeContainers with a volume in use = %v", err)
	}
	if err := errors.Join(os.Remove(filepath.Join(dir, "busy")), os.Remove(filepath.Join(dir, "tags/node:20")), os.Remove(filepath.Join(dir, "images/sha256:a"))); err != nil {
		t.Fatal(err)
	}
	if _, err := removeContainers(ctx, was); err != nil || exists(filepath.Join(dir, "tags/node:20")) {
		t.Errorf("removeContainers after docker system prune has removed an image of the machine = %v", err)
	}
	tag("node:20=sha256:evil") // the name of an image that is gone, for another one
	if _, err := removeContainers(ctx, was); err != nil || exists(filepath.Join(dir, "tags/node:20")) {
		t.Errorf("removeContainers after the name of a removed image was given to another one = %v", err)
	}
	touch("stopped")
	if _, err := removeContainers(ctx, was); err == nil || !strings.Contains(err.Error(), "does not answer") {
		t.Errorf("removeContainers without an engine = %v", err)
	}
	if _, err := removeContainers(ctx, nil); err != nil {
		t.Errorf("removeContainers where there never was one = %v", err)
	}
	touch("silent")
	if got, err := listContainers(ctx); got != nil || err != nil {
		t.Errorf("listContainers of a program that succeeds without an engine = %v, %v", got, err)
	}
	t.Setenv("PATH", "/nowhere")
	if got, err := listContainers(ctx); got != nil || err != nil {
		t.Errorf("listContainers without a program = %v, %v", got, err)
	}
}

// The disk of an engine counts, and an engine on another computer has none here.
func TestDisks_OfTheEngine_Review_B18(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("PATH", dir+":/usr/bin:/bin")
	if err := os.WriteFile(filepath.Join(dir, engine), []byte(dockerStandIn), 0o755); err != nil {
		t.Fatal(err)
	}
	here := filepath.Join(t.TempDir(), "a b")
	if err := os.Mkdir(here, 0o700); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]bool{here: true, "/no/such/folder": false} {
		if err := os.WriteFile(filepath.Join(dir, "root"), []byte(path+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		s := Scrubber{Root: dir}
		got, err := s.disks(t.Context(), true)
		if _, counts := got[path]; err != nil || counts != want || got[dir].Bytes == 0 {
			t.Errorf("disks with an engine at %s = %v, %v, want it to count: %t", path, got, err, want)
		}
	}
}
