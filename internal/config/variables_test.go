package config_test

import (
	"maps"
	"strings"
	"testing"

	"github.com/remuda-run/remuda/internal/config"
)

// A variable of jobs must have a valid name that remuda does not set. On EC2 no value may contain a password, because the launch template
// shows it.
func TestValidate_Variables_Review_R5_R7(t *testing.T) {
	for name, tt := range map[string]struct{ name, value, fleet, want string }{
		"Fine":            {"JAVA_HOME", "/opt/java", "", ""},
		"Hook":            {"ACTIONS_RUNNER_HOOK_JOB_STARTED", "/opt/hook.sh", "", ""},
		"Empty":           {"A", "", "", ""},
		"Blank":           {"A B", "", "", "agent.env.A B: must be named by letters"},
		"Digit":           {"1A", "", "", "must be named by letters"},
		"Equals":          {"A=B", "", "", "must be named by letters"},
		"NoName":          {"", "", "", "must be named by letters"},
		"Home":            {"HOME", "/", "", "must be another variable than HOME"},
		"Ours":            {"REMUDA_INSTANCE_ID", "", "", "must be another variable"},
		"Registration":    {"ACTIONS_RUNNER_INPUT_TOKEN", "x", "", "must be another variable"},
		"Zero":            {"A", "a\x00b", "", "a text without a zero byte"},
		"PasswordOnEC2":   {"HTTPS_PROXY", "http://user:secret@proxy:3128", "ec2://ci?region=eu-west-1", "without a user and a password on EC2"},
		"PasswordOnOther": {"HTTPS_PROXY", "http://user:secret@proxy:3128", "", ""},
		"ProxyOnEC2":      {"HTTPS_PROXY", "http://proxy:3128", "ec2://ci?region=eu-west-1", ""},
	} {
		t.Run(name, func(t *testing.T) {
			cfg := config.Default()
			cfg.Agent.Env = map[string]string{tt.name: tt.value}
			if tt.fleet != "" {
				cfg.Fleet = tt.fleet
			}
			err := cfg.Validate()
			if (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
				t.Errorf("Validate = %v, want %q", err, tt.want)
			}
			if err != nil && strings.Contains(err.Error(), "secret") {
				t.Errorf("the error shows the password: %v", err)
			}
		})
	}
}

// Programs read the name of a proxy in one case or the other.
func TestNetwork_Review_R5(t *testing.T) {
	got := config.Network(map[string]string{"https_proxy": "a", "HTTP_PROXY": "b", "no_proxy": "c", "NO_PROXY": "d", "SSL_CERT_FILE": "e", "PATH": "f", "ALL_PROXY": ""})
	want := map[string]string{
		"https_proxy": "a", "HTTPS_PROXY": "a", "http_proxy": "b", "HTTP_PROXY": "b", "no_proxy": "c", "NO_PROXY": "d", "SSL_CERT_FILE": "e", "all_proxy": "", "ALL_PROXY": "",
	}
	if !maps.Equal(got, want) {
		t.Errorf("Network = %v, want %v", got, want)
	}
}
