package iam_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/remuda-run/remuda/store"
)

// The store bounds the attributes that others can write by their names. An attribute that the policies allow is among those.
func TestPolicies_AllowNoAttributeOfTheController_Review_S2(t *testing.T) {
	for _, name := range slices.Concat(strings.Fields(requestAttributes), strings.Fields(clientAttributes), strings.Fields(beatAttributes), strings.Fields(reportAttributes)) {
		if store.OwnAttribute(name) {
			t.Errorf("attribute %s is written by others, and has no bound", name)
		}
	}
	for _, name := range []string{"instances", "history", "rows", "health"} {
		if !store.OwnAttribute(name) {
			t.Errorf("attribute %s of a large record of the controller has a bound", name)
		}
	}
}
