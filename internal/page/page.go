// Package page shows an installation to people, live: what waits and why, the machines, one run, one machine's life, what the
// pool saves, and whether a controller leads. It reads records and changes nothing.
//
// Everything is rendered here, by gomponents, which escapes whatever the records hold; html/template would more than double
// the program (see internal/repocheck). A page is complete without its script; the script takes the parts of it that
// changed from one stream of server-sent events, and swaps them in. All that is served is embedded: no request leaves the
// server.
//
// The package sets the content's own headers alone. Who may ask, under which Host, and what a page may load is the
// business of the server that mounts it.
package page

import (
	"bytes"
	"context"
	"embed"
	"net/http"
	"time"

	"k8s.io/utils/clock"

	"github.com/remuda-run/remuda/statemachine"
	"github.com/remuda-run/remuda/store"
)

//go:embed assets
var files embed.FS

// Records are what is on record at one moment. They must not change afterwards.
type Records struct {
	store.Found
	Lease   store.Lease
	Standby bool          // it is a controller that shows them, and another one leads
	Costs   []store.Costs // of the last CostDays days that have some, the oldest first
}

// Source reads the records. It is called once at a time, and only while somebody looks.
type Source func(ctx context.Context) (Records, error)

// Options are what a Page works with. All is required.
type Options struct {
	Source  Source
	Clock   clock.WithTicker
	Every   time.Duration                                 // from one reading to the next while somebody looks; one that takes long is repeated less often
	Vacancy func(lease store.Lease, now time.Time) string // since when no controller leads; "": one does
	Limits  statemachine.Limits                           // say how old the heartbeat of a healthy machine may be
	Stale   time.Duration                                 // additional age that the records of Source may have
	Scan    time.Duration                                 // how often a leader reads all records
	Sweep   time.Duration                                 // how often it compares the fleet with them
}

// Page serves the pages. It starts no goroutine.
type Page struct {
	o   Options
	mux *http.ServeMux

	turn    chan struct{} // full while someone reads the records, and guards what follows
	last    *look         // nil: none yet, or nobody looks
	viewers int           // open streams
}

// New returns a Page.
func New(o Options) *Page {
	p := &Page{o: o, mux: http.NewServeMux(), turn: make(chan struct{}, 1)}
	for pattern, kind := range map[string]kind{"/{$}": overview, "/run/{id}": aRun, "/instance/{id}": anInstance} {
		p.mux.HandleFunc("GET "+pattern, func(w http.ResponseWriter, r *http.Request) { p.page(w, r, kind) })
	}
	p.mux.HandleFunc("GET /events/{kind}/{$}", p.events)
	p.mux.HandleFunc("GET /events/{kind}/{id}", p.events)
	p.mux.Handle("GET /assets/", http.FileServerFS(files))
	return p
}

func (p *Page) ServeHTTP(w http.ResponseWriter, r *http.Request) { p.mux.ServeHTTP(w, r) }

// kind is what a page shows.
type kind string

const (
	overview   kind = "fleet"
	aRun       kind = "run"
	anInstance kind = "instance"
)

// subject is what one page shows.
type subject struct {
	kind kind
	id   string // of a run or an instance
}

// page renders a whole page.
func (p *Page) page(w http.ResponseWriter, r *http.Request, kind kind) {
	l, err := p.look(r.Context())
	if err != nil {
		return // who asked has gone
	}
	v := l.view(subject{kind, r.PathValue("id")})
	var b bytes.Buffer
	if err := showPage(v).Render(&b); err != nil {
		http.Error(w, "render page: "+err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	switch { // the page shows what comes, with whatever code it began
	case !v.Known():
		w.WriteHeader(http.StatusServiceUnavailable)
	case !v.found():
		w.WriteHeader(http.StatusNotFound)
	}
	_, _ = b.WriteTo(w) // who asked may have gone
}
