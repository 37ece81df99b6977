package sqspool

// What the tests look at from outside.
var (
	QueueName  = queueName
	NamePrefix = namePrefix
	Ours       = ours
	Wanted     = wanted
)

// Waiting is how many messages of class wait for the call that is under way.
func (p *Pool) Waiting(class string) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.outbox[queueName(p.prefix, class)])
}
