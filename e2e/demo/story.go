package main

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/remuda-run/remuda/e2e/story"
)

// tell tells the whole story, step by step, and then judges it. Nothing but the limit of the whole
// bounds a step.
func (s *stage) tell(ctx context.Context) error {
	github, err := s.github()
	if err != nil {
		return err
	}
	t := story.New(story.Options{
		Site: s, Witness: s.witness, GitHub: github, Out: os.Stdout, Patience: limit, Forgotten: 10 * time.Second,
		// run-a 3, the loser of the race 1, run-d 1, and one for the killed seat if the pool had no other.
		Launches: 6,
	})
	if err := t.Tell(ctx, story.Full); err != nil {
		return err
	}
	if err := t.Judge(ctx); err != nil {
		return err
	}
	return s.audit(ctx)
}

// audit lets the program itself look for what must never happen, as an operator would.
func (s *stage) audit(ctx context.Context) error {
	out, err := s.Remuda(ctx, "audit", "--settle", "2s")
	fmt.Fprintf(os.Stdout, "\nremuda audit: %s", out)
	return err
}
