package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"github.com/remuda-run/remuda/internal/config"
	"github.com/remuda-run/remuda/internal/githubapi"
	"github.com/remuda-run/remuda/internal/reference"
)

// checkScript returns an error if no instance could run the script. Each launch would cost money for nothing.
func checkScript(field, path string, text []byte) error {
	line, _, _ := bytes.Cut(text, []byte("\n"))
	wrong := ""
	switch {
	case bytes.HasPrefix(text, []byte("\x7fELF")):
		return nil
	case len(bytes.TrimSpace(text)) == 0:
		wrong = "is empty"
	case bytes.HasPrefix(text, []byte("\ufeff")), bytes.IndexByte(line, 0) >= 0:
		wrong = "has a byte order mark or is not text: save it as UTF-8 without BOM"
	case bytes.Contains(text, []byte("\r\n")), bytes.HasSuffix(line, []byte("\r")):
		wrong = "has Windows line endings (CR LF): convert it, for example with dos2unix"
	case bytes.HasPrefix(text, []byte("#cloud-config")):
		wrong = "is a cloud-init file: write its steps as a script"
	case !bytes.HasPrefix(text, []byte("#!")) || !strings.HasPrefix(strings.TrimSpace(string(line[2:])), "/"):
		wrong = "names no absolute interpreter in its first line, such as #!/bin/bash"
	default:
		return nil
	}
	return fmt.Errorf("%s: must be a runnable script, got %q, which %s", field, path, wrong)
}

// runnable returns an error if this machine cannot run a file as a script.
func runnable(field, path string, info fs.FileInfo) error {
	if info.Mode().Perm()&0o111 == 0 {
		return fmt.Errorf("%s: must be executable (chmod +x), got %q of mode %04o", field, path, info.Mode().Perm())
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("%s: must be readable: %w", field, err)
	}
	if err := checkScript(field, path, text); err != nil || !bytes.HasPrefix(text, []byte("#!")) {
		return err
	}
	line, _, _ := strings.Cut(string(text[2:]), "\n")
	if _, err := os.Stat(strings.Fields(line)[0]); err != nil {
		return fmt.Errorf("%s: must name an interpreter of this machine in the first line of %q: %w", field, path, err)
	}
	return nil
}

// instanceFiles reads the scripts that go to EC2 instances: agent.script, then agent.scrub. It skips empty settings.
func instanceFiles(a *app, c config.Config) (texts [2][]byte, _ error) {
	var errs []error
	for i, f := range [][2]string{{"agent.script", c.Agent.Script}, {"agent.scrub", c.Agent.Scrub}} {
		if f[1] == "" {
			continue
		}
		text, err := a.readFile(f[1])
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: must be a readable file on this host, from which it goes to the instances: %w", f[0], err))
			continue
		}
		texts[i] = text
		errs = append(errs, checkScript(f[0], f[1], text))
	}
	return texts, errors.Join(errs...)
}

// inputs checks the files of this host that c names. It calls no service.
func inputs(a *app, c config.Config) error {
	errs := []error{agentFiles(c)}
	if c.OnEC2() {
		_, err := instanceFiles(a, c)
		errs = append(errs, err)
	}
	if c.GitHub.TokenFile != "" {
		_, err := a.readToken(c.GitHub)
		errs = append(errs, err)
	}
	if c.GitHub.AppKeyFile != "" {
		key, err := a.readFile(c.GitHub.AppKeyFile)
		if err == nil {
			err = githubapi.CheckKey(key)
		}
		errs = append(errs, in("github.appKeyFile "+c.GitHub.AppKeyFile, err))
	}
	if c.GitHub.Secret != "" && !reference.Remote(c.GitHub.Secret) {
		text, err := a.readFile(c.GitHub.Secret)
		if err == nil {
			_, err = parseGitHubSecret(text)
		}
		errs = append(errs, in("github.secret "+c.GitHub.Secret, err))
	}
	return errors.Join(errs...)
}

// in adds the name of the input to an error.
func in(what string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", what, err)
}
