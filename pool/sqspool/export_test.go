package sqspool

// What the tests look at from outside.
var (
	QueueName  = queueName
	NamePrefix = namePrefix
	Ours       = ours
	Wanted     = wanted
)
