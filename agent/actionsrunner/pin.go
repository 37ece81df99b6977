//go:build unix

package actionsrunner

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"strings"
)

// pinned returns a just-in-time configuration under which the program keeps its version, as
// config.sh --disableupdate does for others: what was verified must not replace itself, nor could it.
// The service is told with each poll and sends no update (src/Runner.Listener/BrokerMessageListener.cs,
// GetNextMessageAsync, from src/Runner.Common/ConfigurationStore.cs, RunnerSettings.DisableUpdate). The
// form is that of src/Runner.Listener/Runner.cs, ExecuteCommand; another one is returned as it is.
func pinned(encoded string) string {
	raw, err := base64.StdEncoding.DecodeString(encoded)
	if err != nil {
		return encoded
	}
	var files map[string][]byte // base64 in base64
	if err := json.Unmarshal(raw, &files); err != nil {
		return encoded
	}
	var options map[string]json.RawMessage
	if err := json.Unmarshal(bytes.TrimPrefix(files[settings], []byte(mark)), &options); err != nil || options == nil {
		return encoded
	}
	for name := range options {
		if strings.EqualFold(name, disableUpdate) { // the program ignores case
			delete(options, name)
		}
	}
	options[disableUpdate] = json.RawMessage("true")
	if files[settings], err = json.Marshal(options); err != nil {
		return encoded
	}
	if raw, err = json.Marshal(files); err != nil {
		return encoded
	}
	return base64.StdEncoding.EncodeToString(raw)
}

// disableUpdate is the option's name in the settings file, mark what .NET begins UTF-8 files with.
const (
	disableUpdate = "disableUpdate"
	mark          = "\xef\xbb\xbf"
)
