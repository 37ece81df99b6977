//go:build unix

package simrunner

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/remuda-run/remuda/internal/githubapi"
	"github.com/remuda-run/remuda/internal/githubsim"
)

// longestLabel bounds a label (src/Runner.Listener/Configuration/Validators.cs).
const longestLabel = 256

// configure registers the runner (src/Runner.Listener/Configuration/ConfigurationManager.cs,
// ConfigureAsync). There are no prompts, so it always is as if --unattended were given.
func (p *Program) configure(ctx context.Context, c *commandLine) error {
	if p.configured() {
		return errors.New("Cannot configure the runner because it is already configured. To reconfigure the runner, run 'config.cmd remove' or './config.sh remove' first.") //nolint:staticcheck // the real program's words
	}
	url, err := required(c, "url")
	if err != nil {
		return err
	}
	p.section("Authentication")
	token, err := required(c, "token")
	if err != nil {
		return err
	}
	remote, err := githubsim.NewRemote(url, p.Client)
	if err != nil {
		return invalid("url")
	}
	p.success("Connected to GitHub")
	p.section("Runner Registration")
	labels, err := labelsOf(c)
	if err != nil {
		return err
	}
	name := c.arg("name")
	if name == "" {
		if name, err = os.Hostname(); err != nil {
			return invalid("name")
		}
	}
	cred, err := remote.Register(ctx, token, url, githubsim.RegisterRequest{
		Name: name, Labels: labels, Ephemeral: c.flag("ephemeral"), Replace: c.flag("replace"), Group: c.arg("runnergroup"),
	})
	if errors.Is(err, githubsim.ErrNoGroup) {
		return fmt.Errorf("Could not find any self-hosted runner group named \"%s\".", c.arg("runnergroup")) //nolint:staticcheck // the real program's words
	}
	if errors.Is(err, githubapi.ErrNameTaken) {
		p.say("A runner exists with the same name")
		return fmt.Errorf("A runner exists with the same name %s.", name) //nolint:staticcheck // as above
	}
	if err != nil {
		return p.unanswered(remote, err)
	}
	p.success("Runner successfully added")
	p.section("Runner settings")
	files, err := cred.Files(cmp.Or(c.arg("work"), githubsim.DefaultWorkFolder), c.flag("disableupdate"))
	if err != nil {
		return err
	}
	if err := p.save(files); err != nil {
		return err
	}
	p.success("Settings Saved.")
	return nil
}

// unanswered says what the real program says of a service that refuses or is away (ConfigurationManager.cs,
// GetTenantCredential, after its tries): the answer's status, or the library's words if there was none.
func (p *Program) unanswered(remote *githubsim.Remote, err error) error {
	status := http.StatusServiceUnavailable
	switch {
	case errors.Is(err, githubsim.ErrNoAnswer):
		return fmt.Errorf("An error occurred while sending the request. %w", err) //nolint:staticcheck // the real program's words
	case errors.Is(err, githubapi.ErrUnavailable):
	case errors.Is(err, githubsim.ErrUnauthorized): // of a token that expired, too
		status = http.StatusNotFound
	default:
		return err
	}
	name := strings.ReplaceAll(http.StatusText(status), " ", "")
	p.fail(fmt.Sprintf("Http response code: %s from 'POST %s' (Request Id: )", name, remote.RegistrationURL()))
	return fmt.Errorf("Response status code does not indicate success: %d (%s). %w", status, http.StatusText(status), err) //nolint:staticcheck // the same
}

// labelsOf returns the labels to register with (ConfigurationManager.cs, CreateNewAgent).
func labelsOf(c *commandLine) ([]string, error) {
	var own []string
	for l := range strings.SplitSeq(c.arg("labels"), ",") {
		if len(l) > longestLabel {
			return nil, invalid("labels")
		}
		if l != "" && !slices.ContainsFunc(own, func(o string) bool { return strings.EqualFold(o, l) }) {
			own = append(own, l)
		}
	}
	if !c.flag("no-default-labels") {
		return append([]string{"self-hosted", "Linux", architecture()}, own...), nil
	}
	if len(own) == 0 {
		return nil, errors.New("Disabling default labels via --no-default-labels without specifying --labels is not supported") //nolint:staticcheck // as above
	}
	return own, nil
}

// architecture names this machine's (src/Runner.Common/Util/VarUtil.cs, OSArchitecture).
func architecture() string {
	switch runtime.GOARCH {
	case "arm64":
		return "ARM64"
	case "arm":
		return "ARM"
	case "386":
		return "X86"
	}
	return "X64"
}

func required(c *commandLine, name string) (string, error) {
	if v := c.arg(name); v != "" {
		return v, nil
	}
	return "", invalid(name)
}

// invalid is the complaint about an argument (src/Runner.Listener/Configuration/PromptManager.cs).
func invalid(name string) error {
	return fmt.Errorf("Invalid configuration provided for %s. Terminating unattended configuration.", name) //nolint:staticcheck // as above
}

// remove undoes configure (ConfigurationManager.cs, UnconfigureAsync).
func (p *Program) remove(ctx context.Context, c *commandLine) error {
	if c.flag("local") {
		return p.deleteLocal()
	}
	p.section("Runner removal")
	if !p.configured() {
		p.say("Cannot connect to server, because config files are missing. Skipping removing runner from the server.")
		return p.deleteLocal()
	}
	if err := p.unregister(ctx, c); err != nil {
		p.fail("Failed: Removing runner from the server")
		return err
	}
	p.success("Runner removed successfully")
	return p.deleteLocal()
}

func (p *Program) unregister(ctx context.Context, c *commandLine) error {
	cred, _, err := p.load()
	if err != nil {
		return err
	}
	token, err := required(c, "token")
	if err != nil {
		return err
	}
	remote, err := githubsim.NewRemote(cred.URL, p.Client)
	if err != nil {
		return err
	}
	return remote.Unregister(ctx, token, cred.RunnerID)
}

func (p *Program) configured() bool {
	_, err := os.Stat(filepath.Join(p.Dir, githubsim.SettingsFile))
	return err == nil
}

// saveJIT writes the files of a just-in-time configuration (src/Runner.Listener/Runner.cs,
// ExecuteCommand). Only a configuration's own files are taken, whatever it names.
func (p *Program) saveJIT(encoded string) error {
	files, err := githubsim.DecodeJITFiles(encoded)
	if err != nil {
		return err
	}
	for name := range files {
		if name != githubsim.SettingsFile && name != githubsim.CredentialsFile {
			return fmt.Errorf("jit config: unknown file %q", name)
		}
	}
	return p.save(files)
}

func (p *Program) save(files map[string][]byte) error {
	for name, content := range files {
		if err := os.WriteFile(filepath.Join(p.Dir, name), content, 0o600); err != nil {
			return fmt.Errorf("save configuration: %w", err)
		}
	}
	return nil
}

// load returns the saved configuration and the work folder, made absolute.
func (p *Program) load() (githubsim.Credentials, string, error) {
	files := map[string][]byte{}
	for _, name := range []string{githubsim.SettingsFile, githubsim.CredentialsFile} {
		raw, err := os.ReadFile(filepath.Join(p.Dir, name))
		if err != nil {
			return githubsim.Credentials{}, "", fmt.Errorf("load configuration: %w", err)
		}
		files[name] = raw
	}
	cred, work, err := githubsim.ParseFiles(files)
	if err != nil {
		return githubsim.Credentials{}, "", fmt.Errorf("load configuration: %w", err)
	}
	if !filepath.IsAbs(work) {
		work = filepath.Join(p.Dir, work)
	}
	return cred, work, nil
}

// deleteLocal deletes the saved configuration (ConfigurationManager.cs, DeleteLocalRunnerConfig).
func (p *Program) deleteLocal() error {
	for _, name := range []string{githubsim.CredentialsFile, githubsim.SettingsFile} {
		err := os.Remove(filepath.Join(p.Dir, name))
		switch {
		case err == nil:
			p.success("Removed " + name)
		case errors.Is(err, os.ErrNotExist):
			p.say("Does not exist. Skipping Removing " + name)
		default:
			return fmt.Errorf("delete configuration: %w", err)
		}
	}
	return nil
}
