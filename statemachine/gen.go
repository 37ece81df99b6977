package statemachine

// The test that compares docs/statemachine.md with Markdown also writes it, so that there is one
// way to make the file and it cannot drift.
//go:generate go test . -run TestMarkdown_IsTheDocument -update
