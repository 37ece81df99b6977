package githubsim

import "time"

// SecondaryPoints is what GitHub allows in a minute, and SecondaryWindow that minute (GitHub REST, "Rate limits for the
// REST API", "About secondary rate limits").
const (
	SecondaryPoints = 900
	SecondaryWindow = time.Minute
)

// resourceSecondary is that limit; answers do not name it.
const resourceSecondary = "points"

// points is what a call costs of the secondary limit (the same page, "Calculating points for the secondary rate limit"),
// an answer of 304 like any other.
func (c Call) points() int {
	if c.reads() {
		return 1
	}
	return 5
}

// SetSecondaryLimit allows so many points of the client's calls in each SecondaryWindow, the first of which starts now,
// and answers others with status, 403 or 429 (0: 403). No points: there is no limit, as in the beginning.
func (h *Hub) SetSecondaryLimit(points, status int) {
	l := RateLimit{Limit: points, Window: SecondaryWindow, Status: status, Secondary: true}
	if points <= 0 {
		l = RateLimit{}
	}
	h.SetRateLimit(resourceSecondary, l)
}
