package githubapi

import (
	"context"
	"errors"
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
			if known, _ = k.answer.(answer[T]); k.resumed {
				call.asked(key)
				return known, nil
			}
		}
	}
	resp, err := c.send(ctx, call, http.MethodGet, rest, nil, &out.value)
	if err != nil {
		return answer[T]{}, err
	}
	call.asked(key)
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

	resumed bool // it is an answer to a question that was put off in the middle, and counts once more without a call
}

// resumes is for how long a question that was put off may go on where it stopped. What runs do meanwhile is seen late, not wrong.
const resumes = 15 * time.Minute

// asked notes that a call of a question was answered.
func (c call) asked(key string) {
	if c.trail != nil {
		*c.trail = append(*c.trail, key)
	}
}

// putOff notes that a question of several calls was put off for want of room. Asked again soon it goes on where it stopped: were it
// begun anew each time, the calls of its beginning would take all the room there is.
func (k *keeper) putOff(err error, trail []string) {
	if !errors.Is(err, ErrThrottled) {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, key := range trail {
		if a, ok := k.answers[key]; ok {
			a.resumed = true
			k.answers[key] = a
		}
	}
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
		again := a
		again.used, again.resumed = now, false
		k.answers[key] = again
		a.resumed = a.resumed && now.Sub(a.used) < resumes
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
