// Package ec2test has two stand-ins for EC2 and the little of IAM that package ec2fleet uses, on
// loopback, for tests. Both speak the services' query protocol, so that the SDK is part of the test.
//
// Server is EC2 in this process's memory: idempotent by ClientToken, with limits, refusals beside
// instances, injected errors, permissions to take away, and a listing that lags behind.
//
// Shim stands before moto and does what moto 5.2 does not: it resolves InstanceRequirements to a type
// (moto: 500), replays by ClientToken (moto launches again), answers with Errors (moto never does),
// deletes versions of launch templates (moto cannot), and sets the tags that EC2 itself would set.
//
// Both check that a request is one that EC2 would take, fail the test if not, and answer it as EC2
// does: see check.
package ec2test
