package sqlitepool

import "context"

// Inject adds a message with any body.
func (p *Pool) Inject(ctx context.Context, class, body string) error { return p.add(ctx, class, body) }

// PollEvery is how soon another process's message is seen.
const PollEvery = pollEvery
