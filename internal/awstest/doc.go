// Package awstest starts AWS services on loopback for tests: DynamoDB Local, AWS's own implementation,
// for DynamoDB; ElasticMQ for SQS; moto for SQS, IAM and STS.
//
// Each service is one process per test binary. It starts when the first test asks for it, with
// nothing in it, is shared by all tests, and ends with the binary. So tests keep apart by the names of
// their resources, see [Name]. A package that uses it has
//
//	func TestMain(m *testing.M) { awstest.Main(m) }
//
// What is needed to run a service is installed at its first use, see package awstools. A service that
// this machine cannot run skips the test in one line, "left out: <service>: <reason>", which `make test`
// repeats at its end. With REMUDA_REQUIRE_AWS_TESTS=1 the test fails instead.
//
// Ask for a service outside of a synctest bubble: its process does not live on the bubble's time.
package awstest
