package githubsim

import (
	"net/http"

	"k8s.io/utils/clock"
)

// patterns is a router that remembers what it was given.
type patterns []string

func (p *patterns) Handle(pattern string, _ http.Handler) { *p = append(*p, pattern) }

func (p *patterns) HandleFunc(pattern string, _ func(http.ResponseWriter, *http.Request)) {
	*p = append(*p, pattern)
}

// RESTRoutes returns the patterns of every route of the REST API.
func RESTRoutes() []string {
	s := &server{hub: New(Options{Clock: clock.RealClock{}})}
	var all patterns
	s.routes(&all)
	s.apps(&all)
	return all
}
