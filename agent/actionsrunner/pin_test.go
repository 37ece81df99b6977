//go:build unix

package actionsrunner

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
)

// H50: a just-in-time runner keeps the version that was verified, and everything else that GitHub said.
func TestPinned_H50(t *testing.T) {
	const credentials = `{"scheme": "OAuth", "data": {"clientId": "x"}}`
	for name, tt := range map[string]struct{ given, want string }{
		"Absent":  {`{"AgentId": "12", "AgentName": "i-1-1.1", "ServerUrlV2": "https://x/"}`, `{"AgentId": "12", "AgentName": "i-1-1.1", "ServerUrlV2": "https://x/", "disableUpdate": true}`},
		"Other":   {"\xef\xbb\xbf" + `{"DisableUpdate": "False", "AgentId": 12}`, `{"disableUpdate": true, "AgentId": 12}`},
		"Already": {`{"disableUpdate": true}`, `{"disableUpdate": true}`},
	} {
		raw, err := json.Marshal(map[string][]byte{".runner": []byte(tt.given), ".credentials": []byte(credentials)})
		if err != nil {
			t.Fatal(err)
		}
		out, err := base64.StdEncoding.DecodeString(pinned(base64.StdEncoding.EncodeToString(raw)))
		if err != nil {
			t.Fatal(err)
		}
		var files map[string][]byte
		if err := json.Unmarshal(out, &files); err != nil {
			t.Fatal(err)
		}
		var got, want any
		if err := errors.Join(json.Unmarshal(files[".runner"], &got), json.Unmarshal([]byte(tt.want), &want)); err != nil {
			t.Fatal(err)
		}
		if diff := gocmp.Diff(want, got); diff != "" || string(files[".credentials"]) != credentials || len(files) != 2 {
			t.Errorf("%s: .runner (-want +got):\n%s.credentials = %s", name, diff, files[".credentials"])
		}
	}
	for _, odd := range []string{"", "no base64!", "bm8gSlNPTg==", base64.StdEncoding.EncodeToString([]byte(`{".runner": "bm9wZQ=="}`)), base64.StdEncoding.EncodeToString([]byte(`{}`))} {
		if got := pinned(odd); got != odd {
			t.Errorf("pinned(%q) = %q, want it unchanged", odd, got)
		}
	}
}
