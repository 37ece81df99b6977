package page

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"
)

const (
	maxViewers = 100 // streams at once; each costs a goroutine and a connection
	// sendTimeout is how long a browser may take for one update before its stream ends; it connects again.
	sendTimeout = 10 * time.Second
)

// events sends the parts of a page as server-sent events: all of them at first, since the page is older than its stream,
// and then those that changed. Each reading of the records ends with the server's time, which shows that all is current,
// and when the next is to end, in milliseconds from then; or, if it failed, with the word that it is not.
func (p *Page) events(w http.ResponseWriter, r *http.Request) {
	s := subject{kind(r.PathValue("kind")), r.PathValue("id")}
	if contents[s.kind] == nil {
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	if r.Method == http.MethodHead {
		return
	}
	if !p.enter(r.Context(), 1) {
		http.Error(w, fmt.Sprintf("%d pages are open already", maxViewers), http.StatusServiceUnavailable)
		return
	}
	defer p.enter(context.WithoutCancel(r.Context()), -1)
	w.Header().Set("X-Accel-Buffering", "no") // nginx would keep events back
	out := stream{w, http.NewResponseController(w), p.o.Clock.Now}
	sent := map[string]string{}
	for {
		l, err := p.look(r.Context())
		if err != nil {
			return // it has gone, or the server ends
		}
		parts, err := p.fragments(l, s)
		if err == nil {
			err = out.send(parts, sent, l)
		}
		if err != nil {
			return // it takes nothing any more
		}
		select {
		case <-r.Context().Done():
			return
		case <-p.o.Clock.After(l.until.Sub(p.o.Clock.Now())):
		}
	}
}

// enter counts who looks, and reports whether there is room. The last to leave takes the records along, so that they
// use no memory while nobody looks.
func (p *Page) enter(ctx context.Context, by int) bool {
	select {
	case p.turn <- struct{}{}:
	case <-ctx.Done():
		return false
	}
	defer func() { <-p.turn }()
	if p.viewers+by > maxViewers {
		return false
	}
	if p.viewers += by; p.viewers == 0 {
		p.last = nil
	}
	return true
}

// stream is one browser.
type stream struct {
	w   http.ResponseWriter
	rc  *http.ResponseController
	now func() time.Time
}

// send writes the parts that differ from those that were sent.
func (s stream) send(parts []fragment, sent map[string]string, l *look) error {
	if err := s.rc.SetWriteDeadline(s.now().Add(sendTimeout)); err != nil && !errors.Is(err, http.ErrNotSupported) {
		return err
	}
	for _, part := range parts {
		if last, ok := sent[part.ID]; ok && last == part.rest {
			continue
		}
		data, err := json.Marshal(part)
		if err != nil {
			return err
		}
		if _, err := fmt.Fprintf(s.w, "event: part\ndata: %s\n\n", data); err != nil {
			return err
		}
		sent[part.ID] = part.rest
	}
	event := "now"
	if l.Problem != "" {
		event = "old"
	}
	if _, err := fmt.Fprintf(s.w, "event: %s\ndata: %d %d\n\n", event, l.Now.UnixMilli(), l.every.Milliseconds()); err != nil {
		return err
	}
	return s.rc.Flush()
}
