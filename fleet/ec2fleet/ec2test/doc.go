// Package ec2test stands in for EC2 and the little of IAM and Systems Manager that package ec2fleet uses, on
// loopback, for tests. It speaks the services' query protocol, so that the SDK is part of the test.
//
// Server is EC2 in this process's memory: idempotent by ClientToken, with limits, refusals beside
// instances, injected errors, permissions to take away, and a listing that lags behind. It checks that a
// request is one that EC2 would take, fails the test if not, and answers it as EC2 does: see check.
//
// moto would not do: it does not resolve InstanceRequirements to a type, replay by ClientToken, answer a
// fleet with Errors, or delete versions of launch templates (5.2).
package ec2test
