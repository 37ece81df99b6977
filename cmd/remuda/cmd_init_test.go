package main

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/smithy-go"

	"github.com/remuda-run/remuda/internal/awserr"
	"github.com/remuda-run/remuda/internal/bubbletest"
	"github.com/remuda-run/remuda/internal/config"
	"github.com/remuda-run/remuda/internal/ensure"
	"github.com/remuda-run/remuda/store"
)

func TestInit_EmbeddedNeedsNothing(t *testing.T) {
	c := newCLI(nil)
	if code := c.run(t.Context(), "init"); code != exitDone || !strings.Contains(c.out.String(), "Nothing to make") {
		t.Errorf("remuda init = %d, %q, want %d and that nothing is to be made", code, c.out.String(), exitDone)
	}
}

// The launch template is that of the version that leads: another's init makes the rest and says so.
func TestInit_UnderAnotherVersion(t *testing.T) {
	own := currentVersion().Version
	for name, tt := range map[string]struct {
		holder, version string
		none            bool // no table: what it needs is on this machine
		left            bool
	}{
		"Another": {"host-1", "v0.0.1", false, true}, "TheSame": {"host-1", own, false, false}, "NotKnown": {"host-1", "", false, false},
		"NobodyLeads": {"", "", false, false}, "NoTable": {"", "", true, false},
	} {
		t.Run(name, func(t *testing.T) {
			st := memory(t, nil)
			c := newCLI(st)
			if tt.holder != "" {
				lease, err := st.Lease(t.Context())
				if err == nil {
					lease.Holder, lease.Renewed, lease.Health.ControllerVersion = tt.holder, store.At(time.Now()), tt.version
					_, err = st.PutLease(t.Context(), lease)
				}
				if err != nil {
					t.Fatal(err)
				}
			}
			table := st.Table()
			if tt.none {
				table = nil
			}
			got := underAnother(t.Context(), c.app, config.Default(), table, []resource{{name: "store"}, {name: "fleet"}})
			if left := len(got) == 1 && got[0].name == "store"; left != tt.left || !left && len(got) != 2 {
				t.Errorf("resources = %v, want the fleet's left out: %t", got, tt.left)
			}
			want := "launch template: left to host-1, which leads and is of version v0.0.1: one of this version, " + own + ", makes its own once it leads\n"
			if got := c.out.String(); (got == want) != tt.left || !tt.left && got != "" {
				t.Errorf("said %q, want %q: %t", got, want, tt.left)
			}
		})
	}
}

// H53: a resource that fails keeps no other from being seen to, and what was done is reported.
func TestEnsureAll_EachFailsAlone_H53(t *testing.T) {
	denied := errors.New("access denied")
	step := func(name string, action ensure.Action) ensure.Step {
		return ensure.Step{Resource: name, Action: action}
	}
	var dry []bool
	resources := []resource{
		{"store", func(_ context.Context, apply bool) ([]ensure.Step, error) {
			dry = append(dry, !apply)
			return []ensure.Step{step("queue e", ensure.Created)}, denied
		}},
		{"pool", func(context.Context, bool) ([]ensure.Step, error) {
			return []ensure.Step{step("queue p", ensure.Unchanged)}, nil
		}},
	}
	var reported []ensure.Step
	err := newCLI(nil).ensureAll(t.Context(), resources, false, func(s ensure.Step) { reported = append(reported, s) })
	if !errors.Is(err, denied) || !strings.HasPrefix(err.Error(), "store: ") {
		t.Errorf("ensureAll() error = %v, want it to name the store", err)
	}
	want := []ensure.Step{step("queue e", ensure.Created), step("queue p", ensure.Unchanged)}
	if !slices.Equal(reported, want) || !slices.Equal(dry, []bool{true}) {
		t.Errorf("ensureAll() reported %v, dry %v, want %v, dry", reported, dry, want)
	}
}

// What AWS is only too busy for is tried again, and each step reported once.
func TestEnsure_TriesAgain(t *testing.T) {
	busy := awserr.Explain(&smithy.GenericAPIError{Code: "ThrottlingException", Message: "slow down"}, "dynamodb:CreateTable", "table t")
	bubbletest.Run(t, func(t *testing.T) {
		for failures, want := range map[int]error{ensureTries - 1: nil, ensureTries: busy} {
			tries := 0
			var reported []ensure.Step
			err := newCLI(nil).ensureAll(t.Context(), []resource{{"store", func(context.Context, bool) ([]ensure.Step, error) {
				steps := []ensure.Step{{Resource: "queue e", Action: ensure.Created}}
				if tries++; tries <= failures {
					return steps, busy
				}
				return append(steps, ensure.Step{Resource: "table t", Action: ensure.Created}), nil
			}}}, true, func(s ensure.Step) { reported = append(reported, s) })
			if !errors.Is(err, want) || want == nil && len(reported) != 2 || want != nil && len(reported) != 1 {
				t.Errorf("after %d failures: error = %v, reported %v, want %v", failures, err, reported, want)
			}
		}
	})
}
