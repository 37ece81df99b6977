package awstest

import (
	"testing"

	"go.uber.org/goleak"
)

// Main runs the tests of a binary, ends its services, looks for goroutines left over and exits.
func Main(m *testing.M, options ...goleak.Option) { goleak.VerifyTestMain(tests{m}, options...) }

// tests ends the services between the tests and the search for goroutines.
type tests struct{ *testing.M }

// Run returns the exit code of the tests.
func (m tests) Run() int {
	defer Stop()
	return m.M.Run()
}

// Stop ends all services. [Main] calls it; a program whose TestMain does other things calls it after the
// tests.
func Stop() {
	for _, s := range []*server{dynamoDBLocal, moto, miniStack, elasticMQ} {
		s.stop()
	}
}
