// Package action holds what Go has to do with the GitHub Action of action.yml and action/: it writes the
// reference in docs/action.md, and its tests run those of the action, build its bundle again to compare it, and check the
// workflows in examples.
package action

//go:generate go test . -run TestReference_IsThatOfTheAction -update
