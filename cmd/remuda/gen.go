package main

// The test that compares docs/cli.md and docs/config.md with the program also writes them, so that
// there is one way to make them and they cannot drift.
//go:generate go test . -run TestGenerated -update
