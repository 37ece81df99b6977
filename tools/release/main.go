// Command release makes in a folder what a release consists of: archives, packages of Debian and RPM, container images, a list
// of what is linked, and the sums of all of these. The same commit gives the same bytes, wherever it is built.
package main

import (
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"time"
)

// target is a computer that remuda is made for, in Go's words.
type target struct{ os, arch string }

var targets = []target{{"linux", "amd64"}, {"linux", "arm64"}, {"darwin", "arm64"}}

// release is one in the making.
type release struct {
	root, out string
	version   string // without v
	tag       string // "": a snapshot
	revision  string
	time      time.Time // of the commit
	built     map[target]*buildinfo.BuildInfo
}

func main() {
	r := release{built: map[target]*buildinfo.BuildInfo{}}
	flag.StringVar(&r.root, "root", "../..", "the repository's folder")
	flag.StringVar(&r.out, "out", "dist/release", "folder to make, in the repository's if it is not absolute; what is in it goes")
	flag.StringVar(&r.tag, "tag", "", "the release's tag, such as v1.2.3; without it what is made is a snapshot of the work tree")
	flag.StringVar(&r.version, "version", "", "version in the names of files and packages, such as 1.2.3, instead of the program's own; not with -tag")
	only := flag.String("only", "", "one target, such as linux/amd64, instead of all")
	push := flag.String("push", "", "repository in a registry, such as ghcr.io/owner/name, to push the images to")
	flag.Parse()
	if err := r.run(*only, *push); err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

func (r *release) run(only, push string) (err error) {
	if r.tag != "" && r.version != "" {
		return errors.New("-version: a release has the version of its tag")
	}
	if r.root, err = filepath.Abs(r.root); err != nil {
		return err
	}
	if !filepath.IsAbs(r.out) {
		r.out = filepath.Join(r.root, r.out)
	}
	if err := errors.Join(os.RemoveAll(r.out), os.MkdirAll(r.out, 0o755)); err != nil {
		return err
	}
	work, err := os.MkdirTemp("", "remuda-release-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)
	if err := r.commit(); err != nil {
		return err
	}
	for _, t := range targets {
		if only == "" || only == t.os+"/"+t.arch {
			if err := r.build(work, t); err != nil {
				return err
			}
		}
	}
	if len(r.built) == 0 {
		return fmt.Errorf("-only %q: must be one of %v", only, targets)
	}
	files, err := r.texts(work)
	if err != nil {
		return err
	}
	for t := range r.built {
		if err := r.archive(work, t, files); err != nil {
			return fmt.Errorf("archive for %s %s: %w", t.os, t.arch, err)
		}
		if t.os == "linux" {
			if err := r.packages(work, t.arch, files); err != nil {
				return fmt.Errorf("packages for %s: %w", t.arch, err)
			}
		}
	}
	return errors.Join(r.images(work, push), r.sbom(), r.sums())
}

// commit reads what is to be built: of git, as the toolchain knows nothing of worktrees.
func (r *release) commit() error {
	out, err := run(r.command("git", "log", "-1", "--format=%H %ct"))
	if err != nil {
		return err
	}
	var seconds int64
	if _, err := fmt.Sscan(string(out), &r.revision, &seconds); err != nil {
		return fmt.Errorf("git log: %q: %w", out, err)
	}
	r.time = time.Unix(seconds, 0).UTC()
	changed, err := run(r.command("git", "status", "--porcelain", "--untracked-files=no"))
	if err != nil {
		return err
	}
	if r.tag == "" {
		if r.version == "" { // as a module of this commit would be called
			r.version = "0.0.0-" + r.time.Format("20060102150405") + "-" + r.revision[:12]
		}
		if len(changed) > 0 {
			r.revision += "-modified"
		}
		return nil
	}
	tags, err := run(r.command("git", "tag", "--points-at", "HEAD"))
	switch {
	case err != nil:
		return err
	case !slices.Contains(strings.Fields(string(tags)), r.tag):
		return fmt.Errorf("-tag %s: must be a tag of commit %s, which has %q", r.tag, r.revision, tags)
	case !releaseTag.MatchString(r.tag):
		return fmt.Errorf("-tag %s: must be as v1.2.3", r.tag)
	case len(changed) > 0:
		return fmt.Errorf("-tag %s: the work tree has changes:\n%s", r.tag, changed)
	}
	r.version = r.tag[1:]
	return r.action()
}

// action refuses a release whose action says another version: its bundle is in the commit, and made of it.
func (r *release) action() error {
	text, err := os.ReadFile(filepath.Join(r.root, "action/package.json"))
	if err != nil {
		return err
	}
	var manifest struct{ Version string }
	if err := json.Unmarshal(text, &manifest); err != nil {
		return fmt.Errorf("action/package.json: %w", err)
	}
	if manifest.Version != r.version {
		return fmt.Errorf("action/package.json: version must be %s, that of -tag, got %q: run npm version %s in action, then make action", r.version, manifest.Version, r.version)
	}
	return nil
}

// releaseTag is what the workflow of releases starts at.
var releaseTag = regexp.MustCompile(`^v[0-9]+\.[0-9]+\.[0-9]+$`)

// build makes the program for one target and reads in it what is linked.
func (r *release) build(work string, t target) (err error) {
	flags := fmt.Sprintf("-ldflags=-s -w -X main.version=v%s -X main.revision=%s", r.version, r.revision)
	cmd := r.command("go", "build", "-trimpath", "-buildvcs=false", "-tags=grpcnotrace", flags, "-o", binary(work, t), "./cmd/remuda")
	cmd.Env = append(cmd.Env, "GOOS="+t.os, "GOARCH="+t.arch)
	if _, err := run(cmd); err != nil {
		return err
	}
	r.built[t], err = buildinfo.ReadFile(binary(work, t))
	return err
}

func binary(work string, t target) string { return filepath.Join(work, "remuda_"+t.os+"_"+t.arch) }

// own is the program for this computer.
func (r *release) own(work string) (string, error) {
	t := target{runtime.GOOS, runtime.GOARCH}
	if r.built[t] == nil {
		return "", fmt.Errorf("a release can only be made on one of its own targets, not on %s %s", t.os, t.arch)
	}
	return binary(work, t), nil
}

// command is one that runs in the repository, without this module's settings.
func (r *release) command(name string, args ...string) *exec.Cmd {
	cmd := exec.Command(name, args...)
	cmd.Dir = r.root
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=", "GOWORK=off", "PWD="+r.root, fmt.Sprintf("SOURCE_DATE_EPOCH=%d", r.time.Unix()))
	return cmd
}

func run(cmd *exec.Cmd) ([]byte, error) {
	var problems strings.Builder
	cmd.Stderr = &problems
	out, err := cmd.Output()
	if err != nil {
		err = fmt.Errorf("%s: %w: %s%s", strings.Join(cmd.Args, " "), err, out, problems.String())
	}
	return out, err
}

// sums lists what was made as sha256sum does.
func (r *release) sums() error {
	entries, err := os.ReadDir(r.out)
	if err != nil {
		return err
	}
	var list strings.Builder
	for _, e := range entries {
		content, err := os.ReadFile(filepath.Join(r.out, e.Name()))
		if err != nil {
			return err
		}
		fmt.Fprintf(&list, "%x  %s\n", sha256.Sum256(content), e.Name())
	}
	fmt.Print(list.String())
	return os.WriteFile(filepath.Join(r.out, "SHA256SUMS"), []byte(list.String()), 0o644)
}
