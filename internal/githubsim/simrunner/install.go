//go:build unix

package simrunner

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/remuda-run/remuda/internal/githubsim"
)

// Subcommand is the word after which the installed scripts hand over the runner's folder and the
// command line: <exe> simrunner <dir> <args…>. The program must call RunnerMain with them.
const Subcommand = "simrunner"

// listener stands for the program that finds its files by its own place (src/Runner.Common/
// HostContext.cs, GetDirectory), so that the folder may be copied elsewhere. It executes, so that the
// caller's pid is the program's and signals reach it.
const listener = `#!/bin/sh
dir=$(CDPATH= cd -P -- "$(dirname -- "$0")/.." && pwd) || exit 1
exec %s ` + Subcommand + ` "$dir" "$@"
`

// config is src/Misc/layoutroot/config.sh with env.sh, which keeps PATH and some variables, of which
// LANG stands for all, in files that the program reads each time it starts.
const config = `#!/bin/sh
if [ "$(id -u)" -eq 0 ] && [ -z "$RUNNER_ALLOW_RUNASROOT" ]; then
	echo "Must not run with sudo"
	exit 1
fi
cd -- "$(dirname -- "$0")" || exit 1
[ -f .env ] || : >.env
printf '%s\n' "$PATH" >.path
if [ -n "$LANG" ] && ! grep -q '^LANG=' .env; then echo "LANG=$LANG" >>.env; fi
case $1 in
[Rr][Ee][Mm][Oo][Vv][Ee]) exec ./bin/Runner.Listener "$@" ;;
*) exec ./bin/Runner.Listener configure "$@" ;;
esac
`

// run is src/Misc/layoutroot/run.sh with run-helper.sh: it hides the listener's exit codes and starts
// it again after a retryable error.
const run = `#!/bin/sh
if [ "$(id -u)" -eq 0 ] && [ -z "$RUNNER_ALLOW_RUNASROOT" ]; then
	echo "Must not run interactively with sudo"
	exit 1
fi
cd -- "$(dirname -- "$0")" || exit 1
while :; do
	./bin/Runner.Listener run "$@"
	code=$?
	case $code in
	2 | 3 | 4)
		echo "Runner listener exit with retryable error, re-launch runner in 5 seconds."
		sleep 5
		echo "Restarting runner..."
		;;
	7)
		[ "$ACTIONS_RUNNER_RETURN_VERSION_DEPRECATED_EXIT_CODE" = 1 ] && exit 7
		exit 0
		;;
	*)
		echo "Exiting runner..."
		exit 0
		;;
	esac
done
`

// Install writes a runner folder into dir, which it makes. exe is the absolute path of the program
// behind the scripts; see Subcommand.
func Install(dir, exe string) error {
	if !filepath.IsAbs(exe) {
		return fmt.Errorf("install simulated runner: program %s: path must be absolute", exe)
	}
	for _, d := range []string{"bin", githubsim.DefaultWorkFolder} {
		if err := os.MkdirAll(filepath.Join(dir, d), 0o755); err != nil {
			return fmt.Errorf("install simulated runner: %w", err)
		}
	}
	for name, text := range map[string]string{
		"bin/Runner.Listener": fmt.Sprintf(listener, quote(exe)),
		"config.sh":           config,
		"run.sh":              run,
	} {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o755); err != nil {
			return fmt.Errorf("install simulated runner: %w", err)
		}
		// WriteFile keeps the mode of a file that exists, and the umask may take bits away.
		if err := os.Chmod(path, 0o755); err != nil {
			return fmt.Errorf("install simulated runner: %w", err)
		}
	}
	return nil
}

// quote makes s one word of a POSIX shell.
func quote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }
