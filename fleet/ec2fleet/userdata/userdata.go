// Package userdata renders the first script of an EC2 instance, which cloud-init runs as root.
//
// It schedules the machine's end before anything else, installs the program, its configuration and what a
// stock image lacks, and starts the agent, which takes the schedule over. Without a program, it says why on the
// console and powers the machine off, which terminates it: see design of the created state in
// docs/architecture.md. It needs bash 5, coreutils, gzip and systemd, and apt-get or dnf where something is
// missing, as Amazon Linux 2023, Debian 12 and Ubuntu 22.04 have them. Image renders the same steps for an image.
//
// Nothing that varies is read as shell: values stand in single quotes, files as base64 of their
// gzip, so that no content can end anything (H47). All paths are below ${REMUDA_ROOT:-}, which lets
// a test run the script in a folder, unprivileged.
package userdata

import (
	"bytes"
	"compress/gzip"
	_ "embed"
	"encoding/base64"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/remuda-run/remuda/deploy/systemd"
	"github.com/remuda-run/remuda/internal/lazyregexp"
)

// Limit is the size that user data may have, in bytes before EC2's base64 (EC2 User Guide, "Run
// commands when you launch an EC2 instance with user data input").
const Limit = 16 << 10

// Where things are on an instance. The unit names them too; a test compares.
const (
	ProgramPath = "/usr/local/bin/remuda"
	ConfigPath  = "/etc/remuda/agent.yaml"
	EnvPath     = "/etc/remuda/agent.env"
	UnitPath    = "/etc/systemd/system/" + systemd.AgentUnit
	LimitPath   = "/var/lib/cloud/scripts/per-boot/remuda-limit" // cloud-init runs it at every start
	StateDir    = "/var/lib/remuda"
	LibPath     = "/usr/local/lib/remuda/prepare.sh"
)

// Data is what differs between installations. Everything in it can be read by anyone who may describe
// the launch template and by every process of the machine, jobs included: it must hold no secret.
type Data struct {
	Name    string        // of the installation
	Region  string        // of the instance
	Limit   time.Duration // of the created state, 1 min to 24 h: the machine goes off this long after its boot, in whole minutes rounded up, unless the agent takes over
	Program Program
	User    string // of jobs, made where there is none; "": the agent's own
	Config  []byte // YAML for the agent
	// Network holds the proxy and certificate variables for this script and for Docker.
	Network map[string]string
	Files   []File // more files, such as the operator's scripts, which Config may name
}

// Program says where the remuda program comes from. Without a URL it must be baked into the image.
type Program struct {
	URL    string // http or https, without credentials; or s3://bucket/key in Region, read with the machine's role
	SHA256 string // 64 hexadecimal digits; required with URL, otherwise "" for any
	Baked  string // absolute path in the image, used if it fits SHA256; "": ProgramPath
}

// File is a file of the instance.
type File struct {
	Path    string
	Mode    fs.FileMode // permissions only
	Content []byte
}

// boot is the part of the script that is always the same, lib what it shares with the script for images.
var (
	//go:embed boot.sh
	boot string
	//go:embed fetch.sh
	fetch string
	//go:embed prepare.sh
	prepare   string
	commented = fetch + "\n" + prepare
	lib       = comment().ReplaceAllString(commented, "")
)

// comment matches a line that is no more than a comment: half of lib, which has little room.
var comment = lazyregexp.New(`(?m)^ *#.*\n`)

// Render returns the user data, the same for the same Data. Its error names everything that is wrong
// with d, or what makes the script longer than Limit.
func Render(d Data) (string, error) {
	if err := d.validate(); err != nil {
		return "", fmt.Errorf("render user data: %w", err)
	}
	var files strings.Builder
	sizes := []part{{"the script itself", 0}}
	for _, f := range d.files() {
		payload, err := pack(f.Content)
		if err != nil {
			return "", fmt.Errorf("render user data: %s: %w", f.Path, err)
		}
		line := fmt.Sprintf("  %s %04o %s\n", quote(f.Path), f.Mode, quote(payload))
		files.WriteString(line)
		sizes = append(sizes, part{f.Path, len(line)})
	}
	baked := d.Program.Baked
	if baked == "" {
		baked = ProgramPath
	}
	var network []string
	for _, name := range slices.Sorted(maps.Keys(d.Network)) {
		network = append(network, name+"="+d.Network[name])
	}
	script := fmt.Sprintf(`#!/bin/bash
shutdown -P +%d || { systemctl poweroff; exit 1; } # the machine ends unless an agent takes this over
name=%s
url=%s
sum=%s
baked=%s
region=%s
user=%s
lib=%s
network=%s
files=(
%s)
%s`, minutes(d.Limit), quote(d.Name), quote(d.Program.URL), quote(strings.ToLower(d.Program.SHA256)), quote(baked),
		quote(d.Region), quote(d.User), quote(LibPath), quote(strings.Join(network, "\n")), &files, boot)
	sizes[0].bytes = len(script) - files.Len()
	if len(script) > Limit {
		return "", tooLarge(len(script), sizes)
	}
	return script, nil
}

// limit schedules the machine's end at a later start, as the script's first line does at the first one:
// cloud-init runs user data once, and what shutdown has scheduled is gone with a restart. An agent whose
// unit is enabled looks after itself.
const limit = `#!/bin/sh
systemctl --quiet is-enabled %s || shutdown -P +%d
`

// files are all files of the instance. The unit is last.
func (d Data) files() []File {
	env := fmt.Sprintf("AWS_REGION=%s\nREMUDA_NAME=%s\n", d.Region, d.Name)
	return slices.Concat([]File{
		{LimitPath, 0o755, fmt.Appendf(nil, limit, systemd.AgentUnit, minutes(d.Limit))},
		{LibPath, 0o644, []byte(lib)},
	}, d.Files, []File{
		{ConfigPath, 0o600, d.Config},
		{EnvPath, 0o600, []byte(env)},
		{UnitPath, 0o644, []byte(systemd.Agent)},
	})
}

// minutes rounds up: shutdown counts whole minutes.
func minutes(d time.Duration) int { return int((d + time.Minute - 1) / time.Minute) }

// quote makes s, without a zero byte, one word of the shell.
func quote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

// pack makes content shorter and harmless.
func pack(content []byte) (string, error) {
	var b bytes.Buffer
	z, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err != nil {
		return "", err
	}
	if _, err := z.Write(content); err != nil {
		return "", err
	}
	if err := z.Close(); err != nil {
		return "", err
	}
	return base64.StdEncoding.EncodeToString(b.Bytes()), nil
}

// part is a part of the script and how long it is there.
type part struct {
	name  string
	bytes int
}

// tooLarge says by how much, and because of what, largest first.
func tooLarge(total int, parts []part) error {
	slices.SortStableFunc(parts, func(a, b part) int { return b.bytes - a.bytes })
	list := make([]string, len(parts))
	for i, p := range parts {
		list[i] = fmt.Sprintf("%s %d", p.name, p.bytes)
	}
	return fmt.Errorf("render user data: must be at most %d bytes, which is all EC2 takes, got %d, packed: %s; bake large files into the image",
		Limit, total, strings.Join(list, ", "))
}
