// Package repocheck holds the repository to its own documents: the import rules of CONTRIBUTING.md,
// the records of docs/data-model.md, the picture and commands of README.md, and every link and file
// name in a document. It has tests only.
package repocheck

// The test that compares README.md with the state table also writes it.
//go:generate go test . -run TestReadme_ShowsTheStateTable -update
