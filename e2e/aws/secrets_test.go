package aws

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/base64"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"github.com/remuda-run/remuda/e2e/action/step"
	"github.com/remuda-run/remuda/e2e/leak"
	"github.com/remuda-run/remuda/e2e/program"
	"github.com/remuda-run/remuda/internal/awstest"
)

// A whole workflow with real credentials, an App's and a token's, in both registration modes. None of them and
// nothing that was minted by them is in a launch template, in what EC2 says of an instance, in a message, in an
// item, where registrations are sealed to the machine that waits for them, in a log or another file of anybody's, in what the
// action says, or in a command line (H43; what a job can read as its runner's user is in e2e/reuse_test.go).
func TestSecrets_H43_NowhereToBeFound(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		registration string
		app          bool
		names        []string
	}{
		{"jit", true, []string{"App key", "App's signature", "JIT configuration", "JIT secret", "token"}},
		{"token", false, []string{"registration token", "token"}},
	} {
		t.Run(tt.registration, func(t *testing.T) {
			t.Parallel()
			step.RequireNode(t)
			secrets, sent := &leak.Secrets{}, &traffic{}
			w := newWorld(t, func(w *world) {
				w.env = []string{"REMUDA_GITHUB_REGISTRATION=" + tt.registration, "REMUDA_LOG_LEVEL=debug"}
				for _, part := range []endpoints{w.parts.controller, w.parts.client, w.parts.machine} {
					for _, service := range []string{"dynamodb", "sqs", "ec2"} {
						part[service] = before(t, part[service], func(_ http.ResponseWriter, _ *http.Request, body []byte) bool {
							sent.keep(service, body)
							return true
						})
					}
				}
			})
			w.authenticate(secrets, tt.app)
			lines := w.commandLines()
			w.install()
			w.begin()
			w.workflow("4711", 2, "0")

			w.innocent("EC2", secrets, w.templates(), w.instances())
			w.emptied(2)
			for _, name := range tt.names {
				if !slices.Contains(secrets.Names(), name) {
					t.Errorf("no %s was used", name)
				}
			}
			w.innocent("EC2 at the end", secrets, w.templates(), w.instances())
			w.innocent("the table at the end", secrets, w.items())
			for service, bodies := range sent.all() {
				w.innocent("a call of "+service, secrets, bodies)
			}
			registrations := bytes.Join(sent.registrations, nil)
			if !bytes.Contains(registrations, []byte("hpke1:")) {
				t.Error("no registration was seen on its way to an instance's record: nothing was looked at")
			}
			w.innocent("a registration in a record", secrets, [][]byte{registrations})
			w.filesInnocent(secrets)
			lines.Innocent(t, secrets)
		})
	}
}

// innocent wants no secret in any of texts.
func (w *world) innocent(where string, secrets *leak.Secrets, texts ...[][]byte) {
	w.Helper()
	looked := 0
	for _, text := range slices.Concat(texts...) {
		looked += len(text)
		if found := secrets.In(text); len(found) > 0 {
			w.Errorf("%s holds the %s", where, strings.Join(found, ", "))
		}
	}
	if looked == 0 {
		w.Errorf("%s: nothing to look at", where)
	}
}

// templates returns all versions of all launch templates, as EC2 shows them and with their user data in the clear.
func (w *world) templates() [][]byte {
	w.Helper()
	client := ec2.NewFromConfig(awstest.Config(w, w.ec2))
	all, err := client.DescribeLaunchTemplates(w.Context(), &ec2.DescribeLaunchTemplatesInput{LaunchTemplateNames: []string{w.name + "-machine"}})
	w.Check(err)
	var out [][]byte
	for _, template := range all.LaunchTemplates {
		in := &ec2.DescribeLaunchTemplateVersionsInput{LaunchTemplateId: template.LaunchTemplateId}
		for pages := ec2.NewDescribeLaunchTemplateVersionsPaginator(client, in); pages.HasMorePages(); {
			page, err := pages.NextPage(w.Context())
			w.Check(err)
			for _, v := range page.LaunchTemplateVersions {
				out = append(out, w.shown(v), w.userData(v))
			}
		}
	}
	if len(out) == 0 {
		w.Error("there is no launch template")
	}
	return out
}

// userData unpacks what an instance runs first, and the files that this writes.
func (w *world) userData(v types.LaunchTemplateVersion) []byte {
	w.Helper()
	script, ok := unpack(aws.ToString(v.LaunchTemplateData.UserData))
	text := slices.Clone(script)
	for _, word := range bytes.Fields(script) {
		if file, ok := unpack(string(bytes.Trim(word, `'"`))); ok {
			text = append(append(text, '\n'), file...)
		}
	}
	for _, known := range []string{binarySum, "runnerUser: root", "[Service]"} { // script, configuration, unit
		if !ok || !bytes.Contains(text, []byte(known)) {
			w.Errorf("user data of version %d holds no %s; unpacked:\n%s", aws.ToInt64(v.VersionNumber), known, text)
		}
	}
	return text
}

// unpack decodes what is base64 and, if so, compressed. false: it is not.
func unpack(text string) ([]byte, bool) {
	raw, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		return nil, false
	}
	z, err := gzip.NewReader(bytes.NewReader(raw))
	if err != nil {
		return raw, true
	}
	plain, err := io.ReadAll(z)
	return plain, err == nil
}

// instances returns what EC2 shows of the installation's instances.
func (w *world) instances() [][]byte {
	w.Helper()
	in := &ec2.DescribeInstancesInput{Filters: []types.Filter{{Name: aws.String("tag:remuda-name"), Values: []string{w.name}}}}
	var out [][]byte
	for pages := ec2.NewDescribeInstancesPaginator(ec2.NewFromConfig(awstest.Config(w, w.ec2)), in); pages.HasMorePages(); {
		page, err := pages.NextPage(w.Context())
		w.Check(err)
		out = append(out, w.shown(page.Reservations))
	}
	return out
}

// items returns everything that is in the table.
func (w *world) items() [][]byte {
	w.Helper()
	var out [][]byte
	for _, item := range w.scan() {
		out = append(out, w.shown(item))
	}
	return out
}

func (w *world) shown(v any) []byte {
	w.Helper()
	text, err := json.Marshal(v)
	w.Check(err)
	return text
}

// filesInnocent looks into everything that was written to a disk, but the operator's secret itself and
// what a runner keeps of its own registration (docs/security.md, "What a job can read").
func (w *world) filesInnocent(secrets *leak.Secrets) {
	w.Helper()
	found, looked, err := secrets.Files(w.dir, func(path string) bool {
		return filepath.Base(path) == "github-secret" || filepath.Base(path) == ".credentials"
	})
	w.Check(err)
	for path, names := range found {
		w.Errorf("%s holds the %s", path, strings.Join(names, ", "))
	}
	if looked < 10 {
		w.Errorf("looked into %d files only", looked)
	}
}

// commandLines watches those of all processes until the test ends.
func (w *world) commandLines() *leak.CommandLines {
	lines := &leak.CommandLines{}
	w.beside(func(ctx context.Context) error { lines.Watch(ctx); return nil })
	return lines
}

// traffic is all that the parts of an installation send to AWS.
type traffic struct {
	mu            sync.Mutex
	sent          map[string]map[string]bool // bodies by service
	registrations [][]byte                   // cut out of the records of instances, where they belong
}

// before serves the API of upstream on loopback. look sees each call's body first; false: it has answered the call.
func before(t testing.TB, upstream string, look func(w http.ResponseWriter, r *http.Request, body []byte) bool) string {
	t.Helper()
	target, err := url.Parse(upstream)
	program.T{TB: t}.Check(err)
	next := &http.Transport{DisableCompression: true}
	proxy := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(target) }, Transport: next}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			panic(http.ErrAbortHandler) // the one who asked has gone
		}
		if look(w, r, body) {
			r.Body = io.NopCloser(bytes.NewReader(body))
			proxy.ServeHTTP(w, r)
		}
	}))
	t.Cleanup(func() {
		server.CloseClientConnections() // a long poll would hold up the end
		server.Close()
		next.CloseIdleConnections()
	})
	return server.URL
}

func (tr *traffic) keep(service string, body []byte) {
	tr.mu.Lock()
	defer tr.mu.Unlock()
	if service == "dynamodb" {
		body = tr.cut(body)
	}
	if form, err := url.QueryUnescape(string(body)); err == nil && service == "ec2" {
		body = []byte(form)
	}
	if tr.sent == nil {
		tr.sent = map[string]map[string]bool{}
	}
	if tr.sent[service] == nil {
		tr.sent[service] = map[string]bool{}
	}
	tr.sent[service][string(body)] = true
}

// cut takes the registration out of a record of an instance.
func (tr *traffic) cut(body []byte) []byte {
	var call map[string]json.RawMessage
	var item map[string]json.RawMessage
	if json.Unmarshal(body, &call) != nil || json.Unmarshal(call["Item"], &item) != nil ||
		!bytes.Contains(item["PK"], []byte("INSTANCE#")) || !bytes.Contains(item["SK"], []byte(`"TYPE#Instance"`)) {
		return body
	}
	tr.registrations = append(tr.registrations, item["registration"])
	delete(item, "registration")
	rest, err := json.Marshal(item)
	if err != nil {
		return body
	}
	return rest
}

func (tr *traffic) all() map[string][][]byte {
	tr.mu.Lock()
	defer tr.mu.Unlock()
	out := map[string][][]byte{}
	for service, bodies := range tr.sent {
		for body := range bodies {
			out[service] = append(out[service], []byte(body))
		}
	}
	return out
}
