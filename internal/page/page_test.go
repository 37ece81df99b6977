package page_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"k8s.io/utils/clock"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/remuda-run/remuda/internal/page"
	"github.com/remuda-run/remuda/reconciler"
	"github.com/remuda-run/remuda/statemachine"
	"github.com/remuda-run/remuda/store"
)

// dawn is when the tests look.
var dawn = time.Date(2026, 3, 1, 3, 0, 0, 0, time.UTC)

// serve returns a page of records that do not change.
func serve(records page.Records, err error) *page.Page {
	return serveFrom(func(context.Context) (page.Records, error) { return records, err }, clocktesting.NewFakeClock(dawn))
}

func serveFrom(source page.Source, clk clock.WithTicker) *page.Page {
	return page.New(page.Options{Source: source, Clock: clk, Every: time.Second, Limits: statemachine.DefaultLimits(), Scan: 5 * time.Minute, Sweep: time.Minute,
		Vacancy: func(l store.Lease, now time.Time) string {
			if l.Led(now, 10*time.Second) {
				return ""
			}
			return "it was left"
		},
	})
}

// get returns what a page answers.
func get(t testing.TB, h http.Handler, path string) (int, string) {
	t.Helper()
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, nil))
	return w.Code, w.Body.String()
}

// led are records of an installation with a leader and nothing else.
func led() page.Records {
	return page.Records{
		Found: store.Found{Runs: map[store.RequestID]store.RunRecords{}, Vitals: map[store.Principal]store.Vitals{}, Bad: map[store.Key]error{}},
		Lease: store.Lease{Holder: "host-1", Term: 7, Version: 9, Renewed: store.At(dawn)},
	}
}

func ago(d time.Duration) store.Time { return store.At(dawn.Add(-d)) }

// pending is a request that waits for what reason says.
func pending(id store.RequestID, since time.Duration, reason, message string) store.RunRecords {
	return store.RunRecords{
		Request: &store.RunRequest{ID: id, Attempt: 1, Count: 3, ResourceClass: "small", UsageClasses: []string{"spot"}, CreatedAt: ago(since)},
		Status: &store.RunStatus{
			ID: id, Attempt: 1, Phase: statemachine.Pending, Reason: reason, Message: message, ReasonSince: ago(since / 2),
			PendingAt: ago(since), ChangedAt: ago(since), Deadline: store.At(dawn.Add(time.Minute)), Counts: store.Counts{Wanted: 3, Ready: 1, Created: 2},
		},
	}
}

func machine(id store.InstanceID, state statemachine.State, run store.RequestID) store.Instance {
	in := store.Instance{
		Principal: store.Principal(id), ID: id, State: state, RunID: run, ResourceClass: "small",
		CreatedAt: ago(time.Hour), Since: ago(time.Minute), Threshold: store.At(dawn.Add(5 * time.Minute)),
	}
	switch state {
	case statemachine.Idle:
		in.PooledAt = ago(time.Minute)
	case statemachine.Terminated:
		in.Threshold = store.Time{}
	case statemachine.None, statemachine.Created, statemachine.Claimed, statemachine.Running:
		in.Attempt = 1
	}
	return in
}

func TestPage_EscapesWhateverRecordsHold(t *testing.T) {
	const evil = `<script>alert(1)</script>"'><img src=x onerror=alert(2)>`
	r := led()
	r.Lease.Holder = evil
	r.Runs[evil] = pending(evil, time.Minute, evil, evil)
	in := machine(evil, statemachine.Running, evil)
	in.ResourceClass, in.InstanceType, in.Zone, in.Detail, in.Reason = evil, evil, evil, evil, evil
	in.History = in.History.With(in.CreatedAt, store.Entry{At: dawn, Code: evil, Detail: evil})
	in.Registration = store.Registration{Serial: 1, Name: evil, Secret: "the registration's secret"}
	gone := machine("i-2", statemachine.Terminated, "")
	gone.Reason = evil
	r.Instances = []store.Instance{in, gone}
	r.Bad[store.Key{Partition: evil, Sort: evil}] = errors.New(evil)
	h := serve(r, errors.New(evil))
	h2 := serve(r, nil)
	quoted := regexp.MustCompile(`"[^"]*"`)
	inline := regexp.MustCompile(`(?i)<script[^>]*>[^<]|<style|<[a-z][^>]*\s(on[a-z]+|style)\s*=|<img`)
	for _, path := range []string{"/", "/run/" + url.PathEscape(evil), "/instance/" + url.PathEscape(evil), "/instance/i-2", "/run/other" + url.PathEscape(evil)} {
		for _, h := range []http.Handler{h, h2} {
			_, body := get(t, h, path)
			if found := inline.FindString(quoted.ReplaceAllString(body, `""`)); found != "" {
				t.Errorf("%s holds %q, want it escaped", path, found)
			}
			if n := strings.Count(body, "<script"); n != 1 {
				t.Errorf("%s has %d scripts, want its own", path, n)
			}
			if !strings.Contains(body, "&lt;script&gt;alert(1)&lt;/script&gt;") {
				t.Errorf("%s lacks the text of the id", path)
			}
			if strings.Contains(body, "secret") {
				t.Errorf("%s holds the secret of a registration", path)
			}
		}
	}
	_, body := get(t, h2, "/")
	if link := `href="/run/%3Cscript%3Ealert%281%29%3C%2Fscript%3E`; !strings.Contains(body, link) {
		t.Errorf("the page lacks the link %s", link)
	}
}

func TestPage_ShowsWhatWaitsFirst(t *testing.T) {
	r := led()
	r.Runs["100"] = pending("100", time.Minute, "cap", "caps.maxInstances is reached")
	r.Runs["200"] = pending("200", 2*time.Minute, "behind", "place 1 in line")
	r.Runs["300"] = store.RunRecords{Request: &store.RunRequest{ID: "300", Attempt: 1, Count: 1, CreatedAt: ago(time.Second)}}
	r.Instances = []store.Instance{machine("i-1", statemachine.Idle, ""), machine("i-2", statemachine.Terminated, "")}
	code, body := get(t, serve(r, nil), "/")
	if code != http.StatusOK {
		t.Errorf("GET / = %d", code)
	}
	inOrder(t, body, "Works", "3 requests wait.", "host-1", `id="w-200"`, "place 1 in line", "for <time", ">1m00s<", `id="w-100"`,
		"caps.maxInstances is reached", "<code>cap</code>", `id="w-300"`, "no controller has taken it up yet", `id="m-i-1"`, ">5m00s<", `id="e-i-2"`)
}

// inOrder holds a text to parts that follow each other.
func inOrder(t *testing.T, body string, parts ...string) {
	t.Helper()
	rest := body
	for _, part := range parts {
		at := strings.Index(rest, part)
		if at < 0 {
			t.Fatalf("%q is not there, or not after the part before it:\n%s", part, body)
		}
		rest = rest[at:]
	}
}

func TestPage_Verdict(t *testing.T) {
	busy := led()
	busy.Runs["100"] = pending("100", time.Minute, "cap", "")
	for _, tt := range []struct {
		name   string
		change func(*page.Records)
		err    error
		want   []string
	}{
		{"Works", func(*page.Records) {}, nil, []string{"Works", "1 request waits."}},
		{"NoLeader", func(r *page.Records) { r.Lease.Renewed = ago(11 * time.Second) }, nil, []string{"Broken", "No controller leads", "since 02:59:49"}},
		{"NeverLed", func(r *page.Records) { r.Lease = store.Lease{} }, nil, []string{"Broken", "No controller ever led"}},
		{"NoLeaderAndNoWork", func(r *page.Records) { r.Lease, r.Runs = store.Lease{}, nil }, nil, []string{"Needs a look", "No controller ever led"}},
		{"LeftLongAgo", func(r *page.Records) { r.Lease.Renewed, r.Runs = ago(72*time.Hour), nil }, nil, []string{"Needs a look", "No controller leads", "none, last host-1"}},
		{"ReadsNothing", func(r *page.Records) { r.Lease.Health.ScannedAt = ago(26 * time.Minute) }, nil,
			[]string{"Needs a look", "The controller has not read all records, which it does every 5m00s.", "since 02:34:00"}},
		{"SweepsNothing", func(r *page.Records) { r.Lease.Health.SweptAt = ago(6 * time.Minute) }, nil, []string{"Needs a look", "has not compared the fleet"}},
		{"Standby", func(r *page.Records) { r.Standby = true }, nil, []string{"Works", "This controller is a standby: host-1 leads."}},
		{"Breaker", func(r *page.Records) { r.Lease.Health.BreakerOpenAt = ago(time.Minute) }, nil, []string{"Needs a look", "circuit breaker is open", "since 02:59:00"}},
		{"Configuration", func(r *page.Records) {
			r.Lease.Health.ConfigRefused, r.Lease.Health.ConfigRefusedAt = "caps.maxInstances: must be at least 1, got 0", ago(time.Minute)
		}, nil, []string{"Needs a look", "The configuration is refused, and an earlier one stays in force: caps.maxInstances: must be at least 1, got 0.", "since 02:59:00"}},
		{"Listing", func(r *page.Records) { r.Lease.Health.ListingIncompleteAt = ago(time.Minute) }, nil, []string{"Needs a look", "is not believed"}},
		{"Outage", func(r *page.Records) {
			r.Lease.Health.FleetOutage = store.Outage{Reason: reconciler.ReasonFleetDown, Since: ago(time.Minute)}
		}, nil, []string{"Needs a look", "Outage: the fleet does not answer.", "since 02:59:00"}},
		{"GitHub", func(r *page.Records) {
			r.Lease.Health.GitHub = store.GitHubBudget{Remaining: 499, Limit: 5000, ResetAt: store.At(dawn.Add(time.Minute))}
		}, nil, []string{"Needs a look", "GitHub allows 499 more calls of 5000 until 03:01 UTC."}},
		{"Unreadable", func(r *page.Records) {
			r.Bad[store.RequestKey("9", store.KindRunStatus)] = errors.New("status 9: phase")
		}, nil, []string{"Needs a look", "A record cannot be read: status 9: phase"}},
		{"NoStore", func(*page.Records) {}, errors.New("database is locked"), []string{"Broken", "The records cannot be read: database is locked", "Not known."}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := busy
			r.Bad = map[store.Key]error{}
			tt.change(&r)
			code, body := get(t, serve(r, tt.err), "/")
			if known := tt.err == nil; (code == http.StatusOK) != known || !known && strings.Contains(body, "No request") {
				t.Errorf("GET / = %d, want 200 if the records are known, else 503 and nothing said of them", code)
			}
			inOrder(t, body, append([]string{`id="verdict"`}, tt.want...)...)
		})
	}
}

func TestPage_FailedRequestIsNews(t *testing.T) {
	r := led()
	failed := pending("100", 2*time.Hour, "no_capacity", "capacity is missing everywhere")
	failed.Status.Phase, failed.Status.FailedAt = statemachine.Failed, ago(59*time.Minute)
	r.Runs["100"] = failed
	_, body := get(t, serve(r, nil), "/")
	inOrder(t, body, "Needs a look", "1 request failed in the last hour.", `id="o-100"`, "failed", "capacity is missing everywhere")
	failed.Status.FailedAt = ago(time.Hour)
	_, body = get(t, serve(r, nil), "/")
	inOrder(t, body, "Works", `id="o-100"`)
}

func TestPage_ManyMachines_ThoseFirstWhoseTimeIsOverNext(t *testing.T) {
	r := led()
	for i := range 241 {
		in := machine(store.InstanceID(fmt.Sprint("i-", i)), statemachine.Idle, "")
		in.Threshold = store.At(dawn.Add(time.Duration(i+1) * time.Minute))
		r.Instances = append(r.Instances, in)
	}
	_, body := get(t, serve(r, nil), "/")
	inOrder(t, body, "Machines", "241", "small", "idle", "241", `id="m-i-0"`, ">1m00s<", "and 1 more")
	if n := strings.Count(body, `id="m-`); n != 240 || strings.Contains(body, `id="m-i-240"`) {
		t.Errorf("%d machines are shown, want all but the last", n)
	}
	for i := range 3 {
		r.Instances = append(r.Instances, machine(store.InstanceID(fmt.Sprint("j-", i)), "hibernated", ""))
	}
	_, body = get(t, serve(r, nil), "/")
	inOrder(t, body, "and 4 more", "hibernated", `id="m-j-0"`, `id="m-j-2"`)
	r.Instances = r.Instances[1:241]
	_, body = get(t, serve(r, nil), "/")
	if n := strings.Count(body, `id="m-`); n != 240 {
		t.Errorf("%d machines are shown, want 240", n)
	}
}

func TestPage_LongListsSayHowMuchMore(t *testing.T) {
	r := led()
	for i := range 73 {
		id := store.RequestID(fmt.Sprint(1000 + i))
		r.Runs[id] = pending(id, time.Duration(i)*time.Second, "behind", "")
	}
	_, body := get(t, serve(r, nil), "/")
	inOrder(t, body, "Waiting", "73", `id="w-1072"`, `id="w-1023"`, "and 23 more")
	if strings.Contains(body, `id="w-1022"`) {
		t.Error("more than 50 requests are shown")
	}
}

func TestPage_Savings(t *testing.T) {
	r := led()
	add := func(id store.RequestID, class string, took, since time.Duration, warm ...bool) {
		done := pending(id, since+took, "", "")
		done.Request.ResourceClass = class
		done.Status.Phase, done.Status.ReadyAt = statemachine.Ready, ago(since)
		for i, w := range warm {
			done.Status.Instances = append(done.Status.Instances, store.Seat{InstanceID: store.InstanceID(fmt.Sprint("i-", i)), Warm: w})
		}
		r.Runs[id] = done
	}
	for i := range 20 {
		add(store.RequestID(fmt.Sprint("w", i)), "small", time.Duration(i+1)*time.Second, time.Hour, true)
	}
	add("c1", "large", 31*time.Second, time.Hour, true, false)
	add("old", "large", time.Hour, 24*time.Hour, false)
	_, body := get(t, serve(r, nil), "/")
	inOrder(t, body, "Pool, last day", ">all<", ">21<", "95.5 %", "21 of 22", ">10.0 s<", ">19.0 s<", ">31.0 s<", ">31.0 s<", ">large<", "50.0 %", ">small<", "100.0 %")
}

// A running machine whose heartbeat was read at the last poll of a leader is not silent.
func TestPage_HeartbeatOfTheLastPoll_NotSilent_ReviewW11(t *testing.T) {
	for age, silent := range map[time.Duration]bool{20 * time.Second: false, 31 * time.Second: true} {
		r := led()
		r.Instances = []store.Instance{machine("i-1", statemachine.Running, "100")}
		r.Vitals["i-1"] = store.Vitals{Heartbeat: store.Heartbeat{UpdatedAt: ago(age), Beat: store.Beat{Busy: true}}}
		source := func(context.Context) (page.Records, error) { return r, nil }
		_, body := get(t, page.New(page.Options{
			Source: source, Clock: clocktesting.NewFakeClock(dawn), Every: time.Second, Limits: statemachine.DefaultLimits(), Stale: 15 * time.Second,
			Vacancy: func(store.Lease, time.Time) string { return "" },
		}), "/instance/i-1")
		if got := strings.Contains(body, "silent</strong>"); got != silent {
			t.Errorf("a heartbeat of %s ago: silent %v, want %v", age, got, silent)
		}
	}
}

// A floor launches an instance and later releases it, without any run.
func TestPage_OfAFloor_ReviewW8(t *testing.T) {
	r := led()
	in := machine("i-1", statemachine.Idle, "")
	in.History = in.History.With(in.CreatedAt, store.Entry{At: dawn.Add(-time.Minute), Code: store.CodeLaunched, Detail: "pool-small"})
	in.History = in.History.With(in.CreatedAt, store.Entry{At: dawn.Add(-time.Second), Code: store.CodeUnclaimed, Detail: "drain"})
	r.Instances = []store.Instance{in}
	_, body := get(t, serve(r, nil), "/instance/i-1")
	inOrder(t, body, "minimum idle of small", "released before it was ready")
	for _, wrong := range []string{"/run/pool-small", "handed over (drain)"} {
		if strings.Contains(body, wrong) {
			t.Errorf("the page says %q: %s", wrong, body)
		}
	}
}

func TestPage_RunAndMachine(t *testing.T) {
	r := led()
	run := pending("100", time.Minute, "boot", "an instance boots")
	run.Status.History = run.Status.History.With(run.Status.PendingAt, store.Entry{At: dawn.Add(-time.Minute), Code: store.CodeAccepted, Detail: "3"})
	r.Runs["100"] = run
	in := machine("i-1", statemachine.Created, "100")
	in.CreatedAt, in.Since = ago(40*time.Second), ago(40*time.Second)
	in.History = in.History.With(in.CreatedAt, store.Entry{At: in.CreatedAt.Time, Code: store.CodeLaunched, Detail: "100"})
	r.Instances = []store.Instance{in, machine("i-2", statemachine.Idle, "")}
	r.Vitals["i-1"] = store.Vitals{Heartbeat: store.Heartbeat{UpdatedAt: ago(16 * time.Second), Beat: store.Beat{Busy: true}}}
	h := serve(r, nil)
	_, body := get(t, h, "/run/100")
	inOrder(t, body, "Run 100", "It has waited for 1m00s", "an instance boots", "Machines it has", "/instance/i-1", "silent", "How its machines came", "boot+script 40.0 s so far", "taken up: 3 wanted")
	_, body = get(t, h, "/instance/i-1")
	inOrder(t, body, "Machine i-1", "created", "/run/100", "a job runs", "silent", "launched for 100")
	for _, path := range []string{"/run/101", "/instance/i-3"} {
		if code, body := get(t, h, path); code != http.StatusNotFound || !strings.Contains(body, "There is no record of it.") {
			t.Errorf("GET %s = %d %s, want a page that says that there is none", path, code, body)
		}
	}
	for _, path := range []string{"/other", "/events/other/1", "/assets/none.js"} {
		if code, _ := get(t, h, path); code != http.StatusNotFound {
			t.Errorf("GET %s = %d, want 404", path, code)
		}
	}
}
