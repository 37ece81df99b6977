package ec2machine

import (
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/feature/ec2/imds"

	"github.com/remuda-run/remuda/internal/atomicfile"
	"github.com/remuda-run/remuda/internal/process"
)

// service answers as the instance metadata service does, without a network.
type service struct {
	status int
	values map[string]string
}

func (s service) Do(r *http.Request) (*http.Response, error) {
	status, text := s.status, s.values[strings.TrimPrefix(r.URL.Path, "/latest/meta-data/")]
	header := http.Header{}
	if r.Method == http.MethodPut {
		status, text = http.StatusOK, "token"
		header.Set("X-Aws-Ec2-Metadata-Token-Ttl-Seconds", "21600")
	}
	return &http.Response{StatusCode: status, Header: header, Body: io.NopCloser(strings.NewReader(text)), Request: r}, nil
}

// FuzzAsk: whatever the metadata service answers, an instance that is taken for known has an id and a
// region, and is of this installation.
func FuzzAsk_H51(f *testing.F) {
	f.Add(200, "i-0abc", "eu-west-1", "main", "")
	f.Add(200, "", "eu-west-1", "main", `{"action":"terminate","time":"2026-01-02T03:04:05Z"}`)
	f.Add(200, "i-0abc\n", " \x00", "main ", "\xff")
	f.Add(404, "", "", "", "")
	f.Fuzz(func(t *testing.T, status int, id, region, name, notice string) {
		if status < 200 || status > 599 {
			return
		}
		h := &Host{meta: imds.New(imds.Options{
			EnableFallback: aws.FalseTernary, Retryer: aws.NopRetryer{}, Endpoint: "http://localhost",
			HTTPClient: service{status, map[string]string{pathInstanceID: id, pathRegion: region, pathTag: name, pathAction: notice}},
		})}
		got, err := h.ask(t.Context(), "main")
		if err == nil && (got.InstanceID == "" || got.Region == "" || got.Name != "main") {
			t.Errorf("ask = %+v, nil: an instance that no one can name", got)
		}
		if path, text, err := h.notice(t.Context()); err != nil && path+text != "" || len(text) > maxValue {
			t.Errorf("notice = %q, %d bytes, %v", path, len(text), err)
		}
	})
}

// FuzzIdentityFile: whatever is in the cache, what counts as known is complete, and what is written is
// read back.
func FuzzIdentityFile_H49(f *testing.F) {
	boot, err := process.BootID()
	if err != nil {
		f.Fatal(err)
	}
	f.Add([]byte(`{"boot":"BOOT","instanceId":"i-0abc","region":"eu-west-1","name":"main"}`))
	f.Add([]byte(`{"boot":"BOOT","name":"main"}`))
	f.Add([]byte(`{"boot":`))
	f.Add([]byte(`null`))
	f.Fuzz(func(t *testing.T, content []byte) {
		content = []byte(strings.ReplaceAll(string(content), "BOOT", boot)) // seeds do not know it
		file := filepath.Join(t.TempDir(), identityFile)
		if err := os.WriteFile(file, content, 0o600); err != nil {
			t.Fatal(err)
		}
		got, now, err := readIdentity(file)
		if err != nil || now != boot {
			t.Fatalf("readIdentity = %v, boot %q; want none, %q", err, now, boot)
		}
		if got.known(boot, "main") && (got.InstanceID == "" || got.Region == "" || got.Name != "main" || got.Boot != boot) {
			t.Errorf("%+v counts as known", got)
		}
		if err := atomicfile.WriteJSON(file, got, 0o600); err != nil {
			t.Fatal(err)
		}
		if again, _, err := readIdentity(file); err != nil || again != got {
			t.Errorf("read again = %+v, %v, want %+v", again, err, got)
		}
	})
}
