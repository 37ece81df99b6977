package pool

// Stats are sizes now and counts since the start.
type Stats struct {
	Available int // candidates that could be taken
	Taken     int // hidden by Take
	Groups    int // distinct sets of attributes
	Plans     int // memoised queries
	Requests  int // for whom looks are counted
	Discards  int // messages that wait for deletion

	Takes     uint64 // calls of Take
	Exhausted uint64 // of these without a candidate
	Looks     uint64 // candidates that Take considered
	Expired   uint64 // candidates that were removed because of their threshold
	Received  uint64 // messages
	Stale     uint64 // of these of instances that were not idle
	Deleted   uint64 // messages
}

// Len returns the number of candidates that could be taken now.
func (p *Pickup) Len() int { return p.Stats().Available }

// Stats returns sizes and counts. Expired candidates are removed first.
func (p *Pickup) Stats() Stats {
	p.expire()
	p.mu.Lock()
	defer p.mu.Unlock()
	s := p.stats
	s.Available = p.index.ready
	s.Taken = len(p.index.entries) - p.index.ready
	s.Groups, s.Plans, s.Requests = len(p.index.groups), len(p.index.plans), len(p.looks)
	s.Discards = p.discards.len()
	s.Expired = p.index.lapsed
	return s
}

// expireBatch bounds the removals under one lock, to about 0.3 ms.
const expireBatch = 256

// expire removes the expired candidates that nobody has taken.
func (p *Pickup) expire() {
	now := p.clock.Now()
	for more := true; more; {
		p.mu.Lock()
		more = p.index.expire(now, expireBatch)
		p.mu.Unlock()
	}
}
