package aws

import (
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/remuda-run/remuda/e2e/story"
	"github.com/remuda-run/remuda/internal/awstest/faults"
)

var (
	seed = flag.Uint64("seed", 0, "of the faults; 0: another one each time")
	full = flag.Bool("full", false, "tell the whole story under each kind of fault, not the short one")
)

// faultSchedule is what goes wrong between each part of an installation and AWS, by service.
type faultSchedule struct {
	name                        string
	controller, client, machine map[string][]faults.Rule
	hidden                      int      // see faults.Faults.HiddenCalls
	env                         []string // of the operator
	long                        bool     // the short story is too short for it
}

// stall is above the 2 s that the store gives one call, so that it sees a timeout; those who wait longer
// see the connection end.
const stall = 3 * time.Second

// everywhere lets kinds of fault happen to every kind of call that matters: those of `remuda init`, each
// write, each message, each machine's beginning and end, and the reads between. Of each kind a frequent call
// meets at most as many as most says, so that the story ends; the rates are such that it meets one in all
// but one of some thousand stories. A fault that never struck fails the test (MustFire).
func everywhere(name string, most int, kinds ...faults.Kind) faultSchedule {
	beyond := 4 / len(kinds) // together more than the SDK tries, so that it comes to our own repetition
	rules := func(of ...faults.Rule) []faults.Rule {
		var all []faults.Rule
		for _, kind := range kinds {
			for _, r := range of {
				r.Kind = kind
				all = append(all, r)
			}
		}
		return all
	}
	return faultSchedule{
		name: name,
		controller: map[string][]faults.Rule{
			"dynamodb": rules(
				faults.Rule{Op: "dynamodb.CreateTable", Rate: 1, Limit: 1},
				faults.Rule{Op: "dynamodb.PutItem", Rate: 0.2, Limit: most},
				faults.Rule{Op: "dynamodb.BatchGetItem", Rate: 0.3, Limit: most / 2},
				faults.Rule{Op: "dynamodb.Scan", Rate: 1, Limit: 2}),
			"sqs": rules(
				faults.Rule{Op: "sqs.CreateQueue", Rate: 1, Limit: 1},
				faults.Rule{Op: "sqs.SendMessage*", Rate: 1, Limit: (beyond + 1) / 2},
				faults.Rule{Op: "sqs.ReceiveMessage", Rate: 0.5, Limit: 4},
				faults.Rule{Op: "sqs.DeleteMessage*", Rate: 1, Limit: 1}),
			"ec2": rules(
				faults.Rule{Op: "ec2.CreateLaunchTemplate", Rate: 1, Limit: 1},
				faults.Rule{Op: "ec2.CreateFleet", Rate: 1, Limit: beyond},
				faults.Rule{Op: "ec2.TerminateInstances", Rate: 1, Limit: beyond},
				faults.Rule{Op: "ec2.DescribeInstances", Rate: 0.5, Limit: 2}),
		},
		client: map[string][]faults.Rule{
			"dynamodb": rules(
				faults.Rule{Op: "dynamodb.PutItem", Rate: 1, Limit: 2},
				faults.Rule{Op: "dynamodb.*GetItem", Rate: 0.3, Limit: 3}),
			"sqs": rules(faults.Rule{Op: "sqs.SendMessage*", Rate: 1, Limit: 1}),
		},
		machine: map[string][]faults.Rule{
			"dynamodb": rules(
				faults.Rule{Op: "dynamodb.UpdateItem", Rate: 0.2, Limit: most},
				faults.Rule{Op: "dynamodb.GetItem", Rate: 0.3, Limit: most}),
			"sqs": rules(faults.Rule{Op: "sqs.SendMessage*", Rate: 0.6, Limit: 3}),
		},
	}
}

var faultSchedules = []faultSchedule{
	everywhere("Timeouts", 4, faults.TimeoutBefore, faults.TimeoutAfter),
	everywhere("LostReplies", 10, faults.LostReply),
	everywhere("Errors", 10, faults.ErrorBefore, faults.ErrorAfter),
	everywhere("Throttling", 10, faults.Throttle),
	{
		name: "Messages", // H11, H20, H22: twice, after they were deleted, and not at all though they are there
		controller: map[string][]faults.Rule{"sqs": {
			{Op: "sqs.ReceiveMessage", Kind: faults.EmptyReceive, Rate: 0.3},
			{Op: "sqs.ReceiveMessage", Kind: faults.Duplicate, Rate: 0.3},
			{Op: "sqs.ReceiveMessage", Kind: faults.Resurrect, Rate: 0.3},
		}},
		long: true, // a message is delivered again while its instance waits for a run
	},
	{
		name:       "LateListing", // H07: EC2 does not yet know what it has launched
		controller: map[string][]faults.Rule{"ec2": {{Op: "ec2.DescribeInstances", Kind: faults.Invisible, Rate: 1}}},
		hidden:     5,
		env:        []string{"REMUDA_LIMITS_VISIBILITY=40s"}, // more than five sweeps take
	},
}

// Under each kind of fault the same happens as without, a little later (H01, H06, H20, S79).
func TestFaults(t *testing.T) {
	t.Parallel()
	for i, schedule := range faultSchedules {
		t.Run(schedule.name, func(t *testing.T) {
			t.Parallel()
			seed := *seed
			if seed == 0 {
				seed = rand.Uint64()
			}
			t.Logf("faults: -seed %d", seed)
			var fired []*faults.Transport
			w := newWorld(t, func(w *world) {
				w.env = schedule.env
				for _, part := range []struct {
					endpoints endpoints
					rules     map[string][]faults.Rule
				}{{w.parts.controller, schedule.controller}, {w.parts.client, schedule.client}, {w.parts.machine, schedule.machine}} {
					for _, service := range slices.Sorted(maps.Keys(part.rules)) {
						endpoint, transport := faults.Proxy(t, part.endpoints[service], faults.Faults{
							Seed: seed + uint64(i), Rules: part.rules[service], Stall: stall, HiddenCalls: schedule.hidden,
						})
						part.endpoints[service] = endpoint
						fired = append(fired, transport)
					}
				}
			})
			w.install()
			w.begin()
			if *full || schedule.long {
				w.tells(story.Full, 6) // see TestStory_EC2
			} else {
				w.tells(story.Short, 3)
			}
			for _, transport := range fired {
				transport.MustFire(t)
				t.Log(hits(transport))
			}
		})
	}
}

// hits lists what struck, in how many calls, in order.
func hits(transport *faults.Transport) string {
	var lines []string
	calls := transport.Counter().Snapshot().Calls
	for hit, n := range transport.Fired() {
		lines = append(lines, fmt.Sprintf("%s: %s ×%d in %d calls", hit.Op, hit.Kind, n, calls[hit.Op]))
	}
	slices.Sort(lines)
	return fmt.Sprint(lines)
}
