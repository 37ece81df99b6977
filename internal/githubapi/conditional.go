package githubapi

import (
	"context"
	"net/http"
	"sync"
	"time"
)

const (
	// keptFor bounds how long an answer is kept that nobody asks for, keptMost how many are: two lists of a repository,
	// and a run and its jobs for each of some thousand runs.
	keptFor  = time.Hour
	keptMost = 4096
)

// answer is what GitHub said to a GET.
type answer[T any] struct {
	value T
	next  int // page; 0: the last
	gone  bool
}

// read makes a GET. One of watching asks only for what has changed, which costs nothing of the rate limit while nothing has
// (GitHub REST, "Best practices", conditional requests); nobody may change its answer's value, which is kept.
func read[T any](ctx context.Context, c *Client, call call, rest string) (out answer[T], _ error) {
	key := call.repository + " " + rest
	var known answer[T]
	if call.group == watching {
		if k, ok := c.kept.get(key, c.clock.Now()); ok {
			call.etag = k.etag
			known, _ = k.answer.(answer[T])
		}
	}
	resp, err := c.send(ctx, call, http.MethodGet, rest, nil, &out.value)
	if err != nil {
		return answer[T]{}, err
	}
	if resp.StatusCode == http.StatusNotModified {
		return known, nil
	}
	out.next, out.gone = resp.NextPage, resp.StatusCode == http.StatusNotFound
	if call.group == watching {
		c.kept.put(key, kept{etag: resp.Header.Get("ETag"), answer: out, used: c.clock.Now()})
	}
	return out, nil
}

// kept is an answer with the tag that GitHub gave it. The tag belongs to the token too: with another one GitHub answers in full.
type kept struct {
	etag   string
	answer any
	used   time.Time
}

// keeper has the last answer of each call. Its zero value is ready.
type keeper struct {
	mu      sync.Mutex
	answers map[string]kept
}

func (k *keeper) get(key string, now time.Time) (kept, bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	a, ok := k.answers[key]
	if ok {
		a.used = now
		k.answers[key] = a
	}
	return a, ok
}

// put keeps an answer in place of the one before. It drops what nobody asked for in an hour, and one too many.
func (k *keeper) put(key string, a kept) {
	k.mu.Lock()
	defer k.mu.Unlock()
	delete(k.answers, key)
	if a.etag == "" {
		return
	}
	var oldest string
	for other, b := range k.answers {
		switch {
		case a.used.Sub(b.used) > keptFor:
			delete(k.answers, other)
		case oldest == "" || b.used.Before(k.answers[oldest].used):
			oldest = other
		}
	}
	if len(k.answers) >= keptMost {
		delete(k.answers, oldest)
	}
	if k.answers == nil {
		k.answers = map[string]kept{}
	}
	k.answers[key] = a
}
