package page_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
	"weak"

	"k8s.io/utils/clock"

	"github.com/remuda-run/remuda/internal/bubbletest"
	"github.com/remuda-run/remuda/internal/page"
	"github.com/remuda-run/remuda/statemachine"
	"github.com/remuda-run/remuda/store"
)

// table is where the tests' pages read: what changes, and how often it was read.
type table struct {
	mu      sync.Mutex
	records page.Records
	err     error
	takes   time.Duration // to read
	reads   int
}

func (s *table) read(ctx context.Context) (page.Records, error) {
	s.mu.Lock()
	s.reads++
	takes := s.takes
	s.mu.Unlock()
	select {
	case <-time.After(takes):
	case <-ctx.Done():
		return page.Records{}, ctx.Err()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.records, s.err
}

// set changes what is read from now on. Maps that were read before stay as they are.
func (s *table) set(change func(*page.Records)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	runs := map[store.RequestID]store.RunRecords{}
	for id, r := range s.records.Runs {
		runs[id] = r
	}
	s.records.Runs = runs
	s.records.Instances = slices.Clone(s.records.Instances)
	change(&s.records)
}

func (s *table) readSo() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.reads
}

// viewer is one open stream.
type viewer struct {
	*httptest.ResponseRecorder
	mu    sync.Mutex // of its body
	leave context.CancelFunc
	done  chan struct{}
	taken int
}

// look opens a stream. It ends with the test at the latest.
func look(t *testing.T, h http.Handler, path string) *viewer {
	ctx, leave := context.WithCancel(t.Context())
	v := &viewer{ResponseRecorder: httptest.NewRecorder(), leave: leave, done: make(chan struct{})}
	go func() {
		defer close(v.done)
		h.ServeHTTP(v, httptest.NewRequestWithContext(ctx, http.MethodGet, path, nil))
	}()
	t.Cleanup(v.left)
	synctest.Wait()
	return v
}

func (v *viewer) Write(p []byte) (int, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.ResponseRecorder.Write(p)
}

// body is all that came so far.
func (v *viewer) body() string {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.Body.String()
}

func (v *viewer) left() {
	v.leave()
	<-v.done
}

// next returns what has come since the last call: the parts by their ids, and how often the time was told.
func (v *viewer) next(t *testing.T) (parts map[string]string, times int) {
	t.Helper()
	synctest.Wait()
	all := v.body()
	text := all[v.taken:]
	v.taken = len(all)
	parts = map[string]string{}
	var event string
	for in := bufio.NewScanner(strings.NewReader(text)); in.Scan(); {
		key, value, _ := strings.Cut(in.Text(), ": ")
		switch {
		case key == "event":
			event = value
		case key == "data" && event == "part":
			var part struct{ ID, HTML string }
			if err := json.Unmarshal([]byte(value), &part); err != nil {
				t.Fatal(err)
			}
			parts[part.ID] = part.HTML
		case key == "data":
			times++
		}
	}
	return parts, times
}

func ids(parts map[string]string) (out []string) {
	for id := range parts {
		out = append(out, id)
	}
	slices.Sort(out)
	return out
}

func live(t *testing.T) (*table, *page.Page) {
	s := &table{records: page.Records{
		Found: store.Found{Runs: map[store.RequestID]store.RunRecords{}},
		Lease: store.Lease{Holder: "host-1", Term: 7, Version: 9, Renewed: store.At(time.Now().Add(time.Hour))},
	}}
	return s, serveFrom(s.read, clock.RealClock{})
}

// What was written is on the page within two seconds, and nothing is sent besides.
func TestEvents_SendsWhatChanged(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		s, h := live(t)
		waits := pending("100", 0, "cap", "no room")
		waits.Status.PendingAt, waits.Status.Deadline = store.At(time.Now()), store.At(time.Now().Add(time.Minute))
		in := machine("i-1", statemachine.Idle, "")
		in.Threshold, in.Since = store.At(time.Now().Add(time.Hour)), store.At(time.Now())
		s.set(func(r *page.Records) { r.Instances = []store.Instance{in} })
		v := look(t, h, "/events/fleet/")
		parts, times := v.next(t)
		if want := []string{"costs", "ended", "fleet", "health", "over", "pool", "verdict", "waiting", "working"}; !slices.Equal(ids(parts), want) || times != 1 {
			t.Errorf("first parts = %q, times %d, want %q and one", ids(parts), times, want)
		}
		if got := v.Header().Get("Content-Type"); got != "text/event-stream" {
			t.Errorf("content type = %q", got)
		}
		time.Sleep(10 * time.Second)
		if parts, times := v.next(t); len(parts) > 0 || times != 10 {
			t.Errorf("sent %q and %d times while nothing changed, want the time once a second", ids(parts), times)
		}
		s.set(func(r *page.Records) { r.Runs["100"] = waits })
		time.Sleep(2 * time.Second)
		if parts, _ := v.next(t); !slices.Equal(ids(parts), []string{"verdict", "waiting"}) || !strings.Contains(parts["waiting"], "no room") {
			t.Errorf("after a request came: %q, want it among those that wait", parts)
		}
		s.set(func(r *page.Records) {
			in.State, in.PooledAt, in.Reason = statemachine.Terminated, store.Time{}, "the fleet says it is gone"
			r.Instances[0] = in
			delete(r.Runs, "100")
		})
		time.Sleep(2 * time.Second)
		if parts, _ := v.next(t); !slices.Equal(ids(parts), []string{"ended", "fleet", "verdict", "waiting"}) || strings.Contains(parts["fleet"], "i-1") {
			t.Errorf("after a machine ended: %q, want it gone", parts)
		}
	})
}

// All who look share one reading, whenever they came, and there is none while nobody looks.
func TestEvents_ViewersShareOneReading(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		s, h := live(t)
		var viewers []*viewer
		for range 10 {
			viewers = append(viewers, look(t, h, "/events/fleet/"), look(t, h, "/events/run/100"))
			time.Sleep(130 * time.Millisecond)
		}
		before := s.readSo()
		time.Sleep(10 * time.Second)
		if got := s.readSo() - before; got < 9 || got > 10 {
			t.Errorf("%d readings in 10 s for 20 viewers, want one a second", got)
		}
		for _, v := range viewers {
			v.left()
		}
		before = s.readSo()
		time.Sleep(time.Hour)
		if got := s.readSo() - before; got != 0 {
			t.Errorf("%d readings while nobody looked", got)
		}
	})
}

// A store that is slow, or large, is left alone for four fifths of the time.
func TestEvents_SlowReadingsAreFewer(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		s, h := live(t)
		s.takes = 2 * time.Second
		look(t, h, "/events/fleet/")
		time.Sleep(100 * time.Second)
		if got := s.readSo(); got != 10 && got != 11 {
			t.Errorf("%d readings of 2 s in 100 s, want one in 10 s", got)
		}
	})
}

// Who leaves while the records are read for all keeps nobody else from seeing them.
func TestEvents_ReaderLeaves(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		s, h := live(t)
		s.takes = time.Second
		reader, other := look(t, h, "/events/fleet/"), look(t, h, "/events/fleet/")
		reader.left()
		time.Sleep(time.Second)
		if parts, _ := other.next(t); len(parts) == 0 || strings.Contains(parts["verdict"], "cannot be read") {
			t.Errorf("the other sees %q, want the records", parts)
		}
	})
}

// Records that cannot be read leave those before them, with a word.
func TestEvents_StoreFails(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		s, h := live(t)
		s.set(func(r *page.Records) {
			r.Runs["100"] = pending("100", 0, "cap", "no room")
			r.Instances = []store.Instance{{ID: "i-1", Principal: "p-1", State: statemachine.Running, ResourceClass: "small"}}
			r.Vitals = map[store.Principal]store.Vitals{"p-1": {Heartbeat: store.Heartbeat{UpdatedAt: store.At(time.Now())}}}
		})
		v := look(t, h, "/events/fleet/")
		v.next(t)
		s.mu.Lock()
		s.err = errors.New("database is locked")
		s.mu.Unlock()
		time.Sleep(2 * time.Minute)
		parts, _ := v.next(t)
		if strings.Contains(v.body(), "silent</strong>") || !strings.Contains(v.body(), "event: old") {
			t.Errorf("the page says that a machine is silent of which nothing was read, or does not say that it is old: %s", v.body())
		}
		if !strings.Contains(parts["verdict"], "database is locked") || !strings.Contains(parts["verdict"], "1 request waits.") {
			t.Errorf("the page says %q, want that and what was known", parts)
		}
		s.mu.Lock()
		s.err = nil
		s.mu.Unlock()
		time.Sleep(2 * time.Second)
		if parts, _ := v.next(t); !strings.Contains(parts["verdict"], "Works") {
			t.Errorf("the page says %q, want that it works", parts)
		}
	})
}

func TestEvents_TooManyViewers(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		_, h := live(t)
		var last *viewer
		for range 100 {
			last = look(t, h, "/events/fleet/")
		}
		if v := look(t, h, "/events/fleet/"); v.Code != http.StatusServiceUnavailable {
			t.Errorf("the 101st stream got %d, want 503", v.Code)
		}
		last.left()
		if v := look(t, h, "/events/fleet/"); v.Code != http.StatusOK || v.body() == "" {
			t.Errorf("a stream after one left got %d, want it served", v.Code)
		}
	})
}

// What was read uses no memory while nobody looks.
func TestEvents_RecordsGoWithTheLastViewer(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		s, h := live(t)
		read := pending("100", 0, "cap", "no room")
		held := weak.Make(read.Status)
		s.set(func(r *page.Records) { r.Runs["100"] = read })
		read = store.RunRecords{}
		one, other := look(t, h, "/events/fleet/"), look(t, h, "/events/fleet/")
		s.set(func(r *page.Records) { delete(r.Runs, "100") }) // which the page has not read yet
		one.left()
		if runtime.GC(); held.Value() == nil {
			t.Error("the records went while somebody looked")
		}
		other.left()
		if runtime.GC(); held.Value() != nil {
			t.Error("the records are held while nobody looks")
		}
		runtime.KeepAlive(h)
	})
}
