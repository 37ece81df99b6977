package githubapi

import (
	"context"
	"fmt"
	"sync"

	"golang.org/x/sync/singleflight"
)

// shared is a value that many need and one call brings.
type shared[T any] struct {
	flight singleflight.Group
	mu     sync.Mutex
	value  T
}

// get returns the value if it is good, and else what renew returns, which sets it. The call belongs to everyone who waits
// for it, so no single caller's end may end it; its own timeout does.
func (s *shared[T]) get(ctx context.Context, what string, good func(T) bool, renew func(context.Context) (T, error)) (T, error) {
	if v := s.load(); good(v) {
		return v, nil
	}
	call := s.flight.DoChan("", func() (any, error) {
		if v := s.load(); good(v) {
			return v, nil
		}
		return renew(context.WithoutCancel(ctx))
	})
	var none T
	select {
	case r := <-call:
		if r.Err != nil {
			return none, r.Err
		}
		return r.Val.(T), nil
	case <-ctx.Done():
		return none, fmt.Errorf("%s: %w", what, context.Cause(ctx))
	}
}

func (s *shared[T]) load() T {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.value
}

func (s *shared[T]) set(v T) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.value = v
}
