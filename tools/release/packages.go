package main

import (
	"bytes"
	"embed"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/goreleaser/nfpm/v2"
	"github.com/goreleaser/nfpm/v2/deb"
	"github.com/goreleaser/nfpm/v2/files"
	"github.com/goreleaser/nfpm/v2/rpm"
)

// scripts run when a package comes and goes.
//
//go:embed package
var scripts embed.FS

// rpmArch has the architectures of RPM by those of Go.
var rpmArch = map[string]string{"amd64": "x86_64", "arm64": "aarch64"}

// packages makes the packages of Debian and RPM for one architecture.
func (r *release) packages(work, arch string, texts map[string]file) error {
	dir, err := os.MkdirTemp(work, "package-")
	if err != nil {
		return err
	}
	contents, err := r.contents(work, dir, arch, texts)
	if err != nil {
		return err
	}
	script := func(name string) string { return filepath.Join(dir, "package", name) }
	info := func() *nfpm.Info {
		return nfpm.WithDefaults(&nfpm.Info{
			Name: "remuda", Arch: arch, Platform: "linux", Version: r.version, Release: "1", Section: "admin", Priority: "optional",
			Maintainer: "The remuda authors <remuda@remuda.run>", Homepage: "https://github.com/remuda-run/remuda", License: "Apache-2.0",
			Description: "Warm self-hosted runners for GitHub Actions\nThe controller, the agent and the command line, with units of systemd.",
			MTime:       r.time,
			Overridables: nfpm.Overridables{
				Depends: []string{"systemd"}, Recommends: []string{"ca-certificates"}, Contents: contents,
				Scripts: nfpm.Scripts{PostInstall: script("postinst"), PreRemove: script("prerm"), PostRemove: script("postrm")},
				RPM:     nfpm.RPM{BuildHost: "localhost", Summary: "Warm self-hosted runners for GitHub Actions"},
			},
		})
	}
	if err := os.CopyFS(dir, scripts); err != nil {
		return err
	}
	for name, packager := range map[string]nfpm.Packager{
		fmt.Sprintf("remuda_%s_%s.deb", r.version, arch):          deb.Default,
		fmt.Sprintf("remuda-%s.%s.rpm", r.version, rpmArch[arch]): rpm.DefaultRPM,
	} {
		i := info()
		if err := nfpm.PrepareForPackager(i, map[bool]string{true: "deb", false: "rpm"}[strings.HasSuffix(name, ".deb")]); err != nil {
			return err
		}
		var out bytes.Buffer
		if err := packager.Package(i, &out); err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(r.out, name), out.Bytes(), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// contents writes what is in a package into a folder, and lists it.
func (r *release) contents(work, dir, arch string, texts map[string]file) (files.Contents, error) {
	own, err := r.own(work)
	if err != nil {
		return nil, err
	}
	example, err := run(r.command(own, "config", "--example"))
	if err != nil {
		return nil, err
	}
	all := map[string]file{"/etc/remuda.yaml": {example, 0o644}, "/usr/lib/sysusers.d/remuda.conf": {[]byte(sysuser), 0o644}, "/usr/share/doc/remuda/copyright": texts["LICENSE"]}
	for name, text := range texts {
		if page, ok := strings.CutPrefix(name, "man/"); ok {
			all["/usr/share/man/man1/"+page] = text
		} else if shell, ok := strings.CutPrefix(name, "completions/remuda."); ok {
			all[completions[shell]] = text
		}
	}
	all[zshOfRPM] = texts["completions/remuda.zsh"]
	for _, unit := range []string{"remuda-agent.service", "remuda-controller.service"} {
		text, err := os.ReadFile(filepath.Join(r.root, "deploy/systemd", unit))
		if err != nil {
			return nil, err
		}
		if !bytes.Contains(text, []byte("=/usr/local/bin/remuda ")) {
			return nil, fmt.Errorf("%s does not start /usr/local/bin/remuda", unit)
		}
		all["/usr/lib/systemd/system/"+unit] = file{bytes.ReplaceAll(text, []byte("=/usr/local/bin/remuda "), []byte("=/usr/bin/remuda ")), 0o644}
	}
	list := files.Contents{
		{Source: binary(work, target{"linux", arch}), Destination: "/usr/bin/remuda", FileInfo: &files.ContentFileInfo{Mode: 0o755, MTime: r.time}},
		{Destination: "/etc/remuda", Type: files.TypeDir, FileInfo: &files.ContentFileInfo{Mode: 0o750, MTime: r.time}},
	}
	for path, f := range all {
		source := filepath.Join(dir, "root", path)
		if err := os.MkdirAll(filepath.Dir(source), 0o755); err != nil {
			return nil, err
		}
		if err := os.WriteFile(source, f.content, 0o644); err != nil {
			return nil, err
		}
		kind := files.TypeFile
		if path == "/etc/remuda.yaml" {
			kind = files.TypeConfigNoReplace
		}
		list = append(list, &files.Content{Source: source, Destination: path, Type: kind, Packager: onlyIn[path], FileInfo: &files.ContentFileInfo{Mode: os.FileMode(f.mode), MTime: r.time}})
	}
	return list, nil
}

// zshOfRPM is where zsh looks on systems of RPM; completions has Debian's place.
const zshOfRPM = "/usr/share/zsh/site-functions/_remuda"

// onlyIn are files of one kind of package.
var onlyIn = map[string]string{completions["zsh"]: "deb", zshOfRPM: "rpm"}

// sysuser is the controller's user.
const sysuser = "u remuda - \"remuda controller\" /var/lib/remuda /usr/sbin/nologin\n"
