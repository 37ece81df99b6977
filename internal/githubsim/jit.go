package githubsim

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
)

// Credentials are what a registered runner connects with.
type Credentials struct {
	RunnerID  int64
	Name      string
	Secret    string
	URL       string // of the repository or organisation, on the server
	Ephemeral bool
}

// Names of the files that a configured runner keeps in its folder (actions/runner,
// src/Runner.Common/HostContext.cs, GetConfigFile).
const (
	SettingsFile    = ".runner"
	CredentialsFile = ".credentials"
)

// settings is the content of SettingsFile (actions/runner, src/Runner.Common/ConfigurationStore.cs,
// RunnerSettings), as far as the simulation uses it.
type settings struct {
	AgentID       int64  `json:"agentId"`
	AgentName     string `json:"agentName"`
	PoolID        int    `json:"poolId"`
	PoolName      string `json:"poolName"`
	DisableUpdate bool   `json:"disableUpdate,omitempty"`
	Ephemeral     bool   `json:"ephemeral,omitempty"`
	ServerURL     string `json:"serverUrl"`
	GitHubURL     string `json:"gitHubUrl"`
	WorkFolder    string `json:"workFolder"`
}

// credentialData is the content of CredentialsFile (same source, CredentialData).
type credentialData struct {
	Scheme string            `json:"scheme"`
	Data   map[string]string `json:"data"`
}

// DefaultWorkFolder is where jobs run, in the runner's folder (actions/runner,
// src/Runner.Common/Constants.cs, Path.WorkDirectory).
const DefaultWorkFolder = "_work"

// Files returns the configuration files of a runner with these credentials, by name.
func (c Credentials) Files(workFolder string, disableUpdate bool) (map[string][]byte, error) {
	set, err := json.MarshalIndent(settings{
		AgentID: c.RunnerID, AgentName: c.Name, PoolID: 1, PoolName: "Default",
		DisableUpdate: disableUpdate, Ephemeral: c.Ephemeral,
		ServerURL: c.URL, GitHubURL: c.URL, WorkFolder: workFolder,
	}, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("encode %s: %w", SettingsFile, err)
	}
	cred, err := json.MarshalIndent(credentialData{
		Scheme: "OAuth", Data: map[string]string{"clientId": c.Name, "secret": c.Secret},
	}, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("encode %s: %w", CredentialsFile, err)
	}
	return map[string][]byte{SettingsFile: set, CredentialsFile: cred}, nil
}

// ParseFiles reads back what Files wrote.
func ParseFiles(files map[string][]byte) (c Credentials, workFolder string, err error) {
	var set settings
	if err := json.Unmarshal(files[SettingsFile], &set); err != nil {
		return c, "", fmt.Errorf("decode %s: %w", SettingsFile, err)
	}
	var cred credentialData
	if err := json.Unmarshal(files[CredentialsFile], &cred); err != nil {
		return c, "", fmt.Errorf("decode %s: %v", CredentialsFile, "not a credentials file") // the cause may quote a secret
	}
	return Credentials{
		RunnerID: set.AgentID, Name: set.AgentName, Secret: cred.Data["secret"],
		URL: set.ServerURL, Ephemeral: set.Ephemeral,
	}, set.WorkFolder, nil
}

// encodeJIT packs the files the way the real service does: base64 of a JSON object from file name
// to base64 of its content (actions/runner, src/Runner.Listener/Runner.cs, ExecuteCommand).
func encodeJIT(c Credentials) (string, error) {
	files, err := c.Files(DefaultWorkFolder, true)
	if err != nil {
		return "", err
	}
	raw, err := json.Marshal(files) // []byte values become base64
	if err != nil {
		return "", fmt.Errorf("encode jit config: %w", err)
	}
	return base64.StdEncoding.EncodeToString(raw), nil
}

// DecodeJITFiles unpacks an encoded configuration into its files. Errors never quote it.
func DecodeJITFiles(encoded string) (map[string][]byte, error) {
	raw, err := base64.StdEncoding.DecodeString(encoded)
	if err != nil {
		return nil, fmt.Errorf("decode jit config: not base64: %w", ErrInvalid)
	}
	var files map[string][]byte
	if err := json.Unmarshal(raw, &files); err != nil {
		return nil, fmt.Errorf("decode jit config: not an object of files: %w", ErrInvalid)
	}
	return files, nil
}

// DecodeJIT returns the credentials in an encoded configuration.
func DecodeJIT(encoded string) (Credentials, error) {
	files, err := DecodeJITFiles(encoded)
	if err != nil {
		return Credentials{}, err
	}
	c, _, err := ParseFiles(files)
	return c, err
}
