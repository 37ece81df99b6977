// Package metrics counts what a controller does, and serves it to Prometheus.
//
// Every metric of ours is a row of one table (table.go), from which docs/metrics.md is written; what is not in the table cannot
// be made. A label has few values: those that come from outside are kept to a number and become "other" beyond it, and no id of
// an instance, request, run or repository is ever one.
//
// What happens is counted when it happens; what is (instances by state, say) is read from the controller at each scrape, in one
// pass. Nothing runs in between.
package metrics

//go:generate go test . -run TestGenerated -update
