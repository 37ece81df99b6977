package main

import (
	"context"
	"debug/buildinfo"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/remuda-run/remuda/internal/bucket"
	"github.com/remuda-run/remuda/internal/config"
	"github.com/remuda-run/remuda/internal/ensure"
	"github.com/remuda-run/remuda/internal/lazyregexp"
)

// runnerVersion is the newest of actions/runner when this program was made, and runnerSums are its archives' checksums, as its
// release notes have them (github.com/actions/runner, v2.337.0).
const runnerVersion = "2.337.0"

var runnerSums = map[string]string{
	config.ArchX86: "70920811a4f8ad4328818682bca5c6469c1c942fab52448868071d0063816613",
	config.ArchARM: "9b1dc70626422526e3c94767cf024896beb15da5342a3f4819bf2feac13e0393",
}

// goArch are Go's words for architectures, and runnerArch those of actions/runner.
var (
	goArch     = map[string]string{config.ArchX86: "amd64", config.ArchARM: "arm64"}
	runnerArch = map[string]string{config.ArchX86: "x64", config.ArchARM: "arm64"}
)

// publisher is `remuda init --publish`.
type publisher struct {
	*app
	publish           bool
	program, runner   []string // as given
	programs, runners map[string]artifactSource
}

// artifactSource is where an artifact is taken from.
type artifactSource struct {
	from string // file or URL
	sum  string // "": any, for a file of this program
}

var artifactForm = lazyregexp.New(`^(x86_64|arm64)=(.+?)(?:,([0-9A-Fa-f]{64}))?$`)

func remote(from string) bool {
	return strings.HasPrefix(from, "https://") || strings.HasPrefix(from, "http://")
}

// sources are those of a flag, by architecture.
func sources(flag string, given []string) (map[string]artifactSource, error) {
	out := map[string]artifactSource{}
	var errs []error
	for _, text := range given {
		m := artifactForm().FindStringSubmatch(text)
		switch {
		case m == nil:
			errs = append(errs, usagef("%s: must be ARCH=FILE or ARCH=URL, ARCH one of %s, then perhaps a comma and 64 hexadecimal digits, got %q", flag, strings.Join(config.Architectures(), ", "), shownURL(text)))
		case out[m[1]].from != "":
			errs = append(errs, usagef("%s: must be given once for %s, got %q and %q", flag, m[1], shownURL(out[m[1]].from), shownURL(m[2])))
		case m[3] == "" && (remote(m[2]) || flag == "--runner"):
			errs = append(errs, usagef("%s: must end with a comma and the SHA-256: only a file of this program may do without, got %q", flag, shownURL(text)))
		default:
			out[m[1]] = artifactSource{m[2], strings.ToLower(m[3])}
		}
	}
	return out, errors.Join(errs...)
}

// validate reads the flags, before anything is done.
func (p *publisher) validate(c config.Config) error {
	var wrongProgram, wrongRunner error
	p.programs, wrongProgram = sources("--program", p.program)
	p.runners, wrongRunner = sources("--runner", p.runner)
	err := errors.Join(wrongProgram, wrongRunner)
	if !p.publish && len(p.program)+len(p.runner) > 0 {
		err = errors.Join(err, usagef("--program, --runner: must not be given without --publish"))
	}
	if p.publish && c.EC2.Bucket == "" {
		err = errors.Join(err, usagef("ec2.bucket: must be set for --publish, got \"\""))
	}
	return err
}

// stackLog is the log group of a stack's host (deploy/cloudformation).
func stackLog(name string) string { return "/" + name + "/controller" }

// run uploads what is not there, and at last says so in release.json.
func (p *publisher) run(ctx context.Context, c config.Config, apply bool) error {
	b, err := openBucket(ctx, c)
	if err != nil {
		return err
	}
	add := bucket.Release{Program: map[string]bucket.Artifact{}, Runner: map[string]bucket.Artifact{}}
	var errs []error
	for _, arch := range config.Architectures() {
		used := slices.Contains(c.ArchitecturesUsed(), arch)
		host := arch == config.ArchARM && version != "" // the stack's host is of it; a build that is no release has none to offer
		for kind, given := range map[string]map[string]artifactSource{bucket.Program: p.programs, bucket.Runner: p.runners} {
			source, named := given[arch]
			if !used && !named && (!host || kind != bucket.Program) {
				continue
			}
			a, err := p.artifact(ctx, b, kind, arch, source, apply)
			if err != nil {
				errs = append(errs, fmt.Errorf("%s for %s: %w", kind, arch, err))
				continue
			}
			map[string]map[string]bucket.Artifact{bucket.Program: add.Program, bucket.Runner: add.Runner}[kind][arch] = a
		}
	}
	if err := errors.Join(errs...); err != nil || !apply {
		return err // what is published is a whole, or as before
	}
	if err := b.Announce(ctx, add); err != nil {
		return err
	}
	fmt.Fprintln(p.out, ensure.Step{Resource: "release " + b.URL(bucket.ReleaseKey), Action: ensure.Updated})
	if _, has := add.Program[config.ArchARM]; !has && c.Log.Group == stackLog(c.Name) {
		fmt.Fprintf(p.err, "Nothing is new for the stack's host, which is of %[1]s: a release publishes its program for it, a build of your own with --program %[1]s=FILE.\n", config.ArchARM)
	}
	return nil
}

// artifact uploads one, and says what it did.
func (p *publisher) artifact(ctx context.Context, b *bucket.Bucket, kind, arch string, source artifactSource, apply bool) (a bucket.Artifact, err error) {
	if source.from == "" {
		if source, err = p.usual(ctx, kind, arch); err != nil {
			return a, err
		}
	}
	f, sum, err := take(ctx, source)
	if err != nil {
		return a, err
	}
	defer func() {
		if f != nil {
			err = errors.Join(err, f.Close())
		}
	}()
	name, version := nameIn(source.from), ""
	if kind == bucket.Program {
		if f, sum, err = unpackedProgram(f, sum, source.from); err != nil {
			return a, err
		}
		name = "remuda"
		version, err = programVersion(f, arch)
	} else {
		version, err = runnerVersionOf(name, arch)
	}
	if err != nil {
		return a, fmt.Errorf("%s: %w", shownURL(source.from), err)
	}
	a, changed, err := b.Upload(ctx, kind, name, version, f, sum, apply)
	if err != nil {
		return a, err
	}
	step := ensure.Step{Resource: kind + " " + b.URL(a.Key), Action: ensure.Unchanged, Detail: version + " for " + arch}
	if changed {
		step.Action = ensure.Created
		if !apply {
			step.Action = ensure.WouldCreate
		}
	}
	fmt.Fprintln(p.out, step)
	return a, nil
}

// usual is where an artifact is taken from unless someone says otherwise.
func (p *publisher) usual(ctx context.Context, kind, arch string) (artifactSource, error) {
	if kind == bucket.Runner {
		const releases = "https://github.com/actions/runner/releases/download/v" + runnerVersion + "/actions-runner-linux-"
		return artifactSource{releases + runnerArch[arch] + "-" + runnerVersion + ".tar.gz", runnerSums[arch]}, nil
	}
	v := currentVersion()
	if v.OS == "linux" && v.Arch == goArch[arch] {
		exe, err := os.Executable()
		return artifactSource{from: exe}, err
	}
	return released(ctx, v.Version, arch)
}

// runnerName is how actions/runner names its archives: machines and the controller find the version there.
var runnerName = lazyregexp.New(`^actions-runner-linux-(x64|arm64)-([0-9]+\.[0-9]+\.[0-9]+)\.tar\.gz$`)

func runnerVersionOf(name, arch string) (string, error) {
	m := runnerName().FindStringSubmatch(name)
	if len(m) != 3 || m[1] != runnerArch[arch] {
		return "", fmt.Errorf("must be named actions-runner-linux-%s-VERSION.tar.gz, got %q", runnerArch[arch], name)
	}
	return m[2], nil
}

// programVersion reads from a program what it is.
func programVersion(f io.ReaderAt, arch string) (string, error) {
	info, err := buildinfo.Read(f)
	if err != nil {
		return "", fmt.Errorf("must be a program made by Go: %w", err)
	}
	v := buildVersion{Version: "(devel)"}
	v.read(info)
	setting := func(key string) string {
		for _, s := range info.Settings {
			if s.Key == key {
				return s.Value
			}
		}
		return ""
	}
	if own := "github.com/remuda-run/remuda"; info.Main.Path != own || setting("GOOS") != "linux" || setting("GOARCH") != goArch[arch] {
		return "", fmt.Errorf("must be %s for linux and %s, got %s for %s and %s", own, goArch[arch], info.Main.Path, setting("GOOS"), setting("GOARCH"))
	}
	return v.Version, nil
}
