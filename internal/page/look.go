package page

import (
	"context"
	"strings"
	"sync"
	"time"
)

// look is one reading of the records, and what was rendered of it. All who look at the same time share it.
type look struct {
	*model
	until time.Time     // when the records are read again
	every time.Duration // from one reading to the next

	mu       sync.Mutex
	rendered map[subject][]fragment
}

// fragment is one part of a page.
type fragment struct {
	ID   string `json:"id"`
	HTML string `json:"html"`
	rest string // what is left of HTML without the durations, which the script counts on by itself
}

const (
	// readTimeout is how long a reading of the records may take: a scan of 100,000 items from DynamoDB takes some 20 s.
	readTimeout = time.Minute
	// rests is how many times as long as it took the records are left alone: looking takes at most a fifth of what the store can give.
	rests = 4
)

// look returns the last reading, or reads anew if that is due. What fails leaves the records before it, and is shown with
// them. It returns an error only if ctx has ended.
func (p *Page) look(ctx context.Context) (*look, error) {
	select {
	case p.turn <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	defer func() { <-p.turn }()
	start := p.o.Clock.Now()
	if p.last != nil && start.Before(p.last.until) {
		return p.last, nil
	}
	reading, cancel := context.WithTimeout(ctx, readTimeout)
	defer cancel()
	records, err := p.o.Source(reading)
	if ctx.Err() != nil {
		return nil, ctx.Err() // who looks next reads by itself
	}
	now := p.o.Clock.Now()
	m := &model{Now: now, readAt: now, limits: p.o.Limits, stale: p.o.Stale, Records: records}
	if err != nil {
		m.Problem, m.readAt, m.Records = err.Error(), time.Time{}, Records{}
		if p.last != nil {
			m.Records, m.readAt = p.last.Records, p.last.readAt
		}
	}
	m.build(p.o)
	every := max(p.o.Every, (1+rests)*now.Sub(start))
	p.last = &look{model: m, until: start.Add(every), every: every, rendered: map[subject][]fragment{}}
	return p.last, nil
}

// fragments renders the parts of one page, once.
func (p *Page) fragments(l *look, s subject) ([]fragment, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if done, ok := l.rendered[s]; ok {
		return done, nil
	}
	v := l.view(s)
	var out []fragment
	for _, part := range parts(s.kind) {
		var b strings.Builder
		if err := part.show(v).Render(&b); err != nil {
			return nil, err
		}
		out = append(out, fragment{ID: part.id, HTML: b.String(), rest: withoutTimes(b.String())})
	}
	l.rendered[s] = out
	return out, nil
}

// withoutTimes leaves out the texts of all <time> elements, whose instants stay.
func withoutTimes(html string) string {
	var b strings.Builder
	for {
		at := strings.Index(html, "<time ")
		if at < 0 {
			b.WriteString(html)
			return b.String()
		}
		open := at + strings.IndexByte(html[at:], '>') + 1
		b.WriteString(html[:open])
		html = html[open:]
		html = html[max(0, strings.Index(html, "</time>")):]
	}
}
