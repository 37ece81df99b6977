package main

import (
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"github.com/remuda-run/remuda/store"
)

// refusals holds what is wrong with a changed configuration, and shows it over HTTP.
type refusals struct{ now atomic.Pointer[refusedConfig] } // nil: nothing

// refusedConfig is what is wrong at this moment, and since when something is.
type refusedConfig struct {
	text  string
	since time.Time
}

// refusedPath is where a controller shows it: nothing, with status 204, if all is in order.
const refusedPath = "/configuration"

func (r *refusals) hold(text string, now time.Time) {
	next := &refusedConfig{store.Head(strings.ReplaceAll(text, "\n", "; "), store.MaxMessage), now}
	if was := r.now.Load(); was != nil {
		next.since = was.since
	}
	r.now.Store(next)
}

func (r *refusals) ServeHTTP(w http.ResponseWriter, _ *http.Request) {
	now := r.now.Load()
	if now == nil {
		w.WriteHeader(http.StatusNoContent)
		return
	}
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	fmt.Fprintf(w, "configuration refused since %s: %s\n", refusedAt(now.since), now.text)
}

func refusedAt(t time.Time) string { return t.UTC().Format(time.RFC3339) }
