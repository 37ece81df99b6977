package ec2test

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
)

// Shim stands before one moto server, which several shims and tests may share: limits count only the
// machines of one installation.
type Shim struct {
	URL string

	tb   testing.TB
	moto string
	http *http.Client

	mu      sync.Mutex
	tokens  map[string]memory
	deleted map[string]bool // "<template>/<version>"
	turn    int             // of the zones
	limits  map[string]int  // by installation
	refused map[Pool]failure
	odds    Odds
	unseen  int // calls for which the newest version is not found
}

// NewShim starts a shim before the moto server at endpoint that ends with the test.
func NewShim(tb testing.TB, endpoint string) *Shim {
	transport := &http.Transport{}
	s := &Shim{
		tb: tb, moto: endpoint, http: &http.Client{Transport: transport}, tokens: make(map[string]memory),
		deleted: make(map[string]bool), limits: make(map[string]int), refused: make(map[Pool]failure),
	}
	web := httptest.NewServer(s)
	tb.Cleanup(func() { web.Close(); transport.CloseIdleConnections() })
	s.URL = web.URL
	return s
}

// Limit lets at most n machines of the installation live at once; a negative n lifts it.
func (s *Shim) Limit(name string, n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.limits[name] = n; n < 0 {
		delete(s.limits, name)
	}
}

// Refuse makes CreateFleet report code for the pools that p covers; "" lifts it.
func (s *Shim) Refuse(p Pool, code string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.refused[p] = (failure{code: code, message: "refused by the test"}); code == "" {
		delete(s.refused, p)
	}
}

// ServeHTTP answers what moto cannot and passes everything else on.
func (s *Shim) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	form, err := url.ParseQuery(string(body))
	if err != nil || !form.Has("Action") {
		s.pass(w, r, body) // of another protocol, so not EC2's
		return
	}
	q := parse(form)
	var content string
	var failed *failure
	switch action := q.str("Action"); action {
	case "CreateFleet":
		content, failed = s.createFleet(q, form)
	case "DeleteLaunchTemplateVersions":
		content = s.deleteVersions(q)
	case "DescribeLaunchTemplateVersions":
		content, failed = s.describeVersions(form)
	case "CreateLaunchTemplate", "CreateLaunchTemplateVersion":
		if failed = malformed(s.tb, action, checkTemplate(q)); failed == nil {
			s.versionMade()
			s.pass(w, r, body)
			return
		}
	case "DescribeInstanceTypes", "DescribeInstanceTypeOfferings":
		content, failed = s.static(form)
	default:
		s.pass(w, r, body)
		return
	}
	if failed != nil {
		failed.answer(w, false)
		return
	}
	answer(w, q.str("Action"), content)
}

// pass hands a request to moto and its answer back.
func (s *Shim) pass(w http.ResponseWriter, r *http.Request, body []byte) {
	out, err := http.NewRequestWithContext(r.Context(), r.Method, s.moto+r.URL.RequestURI(), bytes.NewReader(body))
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadGateway)
		return
	}
	out.Header = r.Header.Clone()
	answer, err := s.http.Do(out)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadGateway)
		return
	}
	defer answer.Body.Close()
	for key, values := range answer.Header {
		w.Header()[key] = values
	}
	w.WriteHeader(answer.StatusCode)
	if _, err := io.Copy(w, answer.Body); err != nil {
		s.tb.Logf("pass answer of moto on: %v", err)
	}
}

// call makes a call of moto itself. moto now and then answers one of several at once with a page that says that
// it met an error of its own: such a call is made again, unless it could launch twice.
func (s *Shim) call(service string, form url.Values) (*element, *failure) {
	const tries = 5
	for try := 1; ; try++ {
		root, failed := s.callOnce(service, form)
		launches := form.Get("Action") == "CreateFleet" || form.Get("Action") == "RunInstances"
		if failed == nil || failed.code != ownError || launches || try == tries {
			return root, failed
		}
		s.tb.Logf("moto %s: made again: %s", form.Get("Action"), failed.message)
	}
}

// ownError is the code of a call that moto answers with a page instead of XML.
const ownError = "InternalError.Moto"

// callOnce makes one call. moto reads the service out of the credential's scope.
func (s *Shim) callOnce(service string, form url.Values) (*element, *failure) {
	version := map[string]string{"ec2": "2016-11-15", "iam": "2010-05-08"}[service]
	form = url.Values(http.Header(form).Clone())
	form.Set("Version", version)
	r, err := http.NewRequest(http.MethodPost, s.moto, strings.NewReader(form.Encode()))
	if err != nil {
		return nil, &failure{500, "InternalError", err.Error()}
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("Authorization", "AWS4-HMAC-SHA256 Credential=test/20260101/us-east-1/"+service+"/aws4_request, SignedHeaders=host, Signature=0")
	got, err := s.http.Do(r)
	if err != nil {
		return nil, &failure{500, "InternalError", err.Error()}
	}
	defer got.Body.Close()
	raw, err := io.ReadAll(got.Body)
	if err != nil {
		return nil, &failure{500, "InternalError", err.Error()}
	}
	root, err := parseXML(raw)
	if err != nil {
		return nil, &failure{500, ownError, fmt.Sprintf("moto %s: %v: %.500s", form.Get("Action"), err, raw)}
	}
	if got.StatusCode != http.StatusOK {
		for _, path := range [][]string{{"Errors", "Error"}, {"Error"}} {
			if code := root.get(append(path, "Code")...); code != "" {
				return nil, &failure{got.StatusCode, code, root.get(append(path, "Message")...)}
			}
		}
		return nil, &failure{got.StatusCode, "InternalError", string(raw)}
	}
	return root, nil
}

// form makes a request of pairs of key and value.
func form(action string, pairs ...string) url.Values {
	f := url.Values{"Action": {action}}
	for pair := range slices.Chunk(pairs, 2) {
		f.Set(pair[0], pair[1])
	}
	return f
}

// statics are answers that no call changes, by endpoint and request: moto takes most of a second for
// each, and every test asks.
var statics struct {
	sync.Mutex
	answers map[string]*element
}

// static answers a question about instance types.
func (s *Shim) static(form url.Values) (string, *failure) {
	root, failed := s.staticTree(form)
	if failed != nil {
		return "", failed
	}
	return root.content(), nil
}

func (s *Shim) staticTree(form url.Values) (*element, *failure) {
	statics.Lock()
	defer statics.Unlock()
	form = url.Values(http.Header(form).Clone())
	form.Del("Version")
	key := s.moto + " " + form.Encode()
	if known := statics.answers[key]; known != nil {
		return known, nil
	}
	root, failed := s.call("ec2", form)
	if failed == nil {
		if statics.answers == nil {
			statics.answers = make(map[string]*element)
		}
		statics.answers[key] = root
	}
	return root, failed
}

// deleteVersions only notes what is deleted: moto has no such call.
func (s *Shim) deleteVersions(q *node) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	id := q.str("LaunchTemplateId")
	for _, number := range q.strings("LaunchTemplateVersion") {
		s.deleted[id+"/"+number] = true
	}
	return deletedAnswer(id, q.strings("LaunchTemplateVersion"), nil)
}

func (s *Shim) describeVersions(form url.Values) (string, *failure) {
	root, failed := s.call("ec2", form)
	if failed != nil {
		return "", failed
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, part := range root.all("launchTemplateVersionSet") {
		part.kids = slices.DeleteFunc(part.kids, func(v *element) bool {
			return s.deleted[v.get("launchTemplateId")+"/"+v.get("versionNumber")]
		})
	}
	return root.content(), nil
}
