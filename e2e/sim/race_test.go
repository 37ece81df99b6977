//go:build race

package sim_test

// raced: the race detector slows all down some ten times, and lets goroutines take turns by chance.
const raced = true
