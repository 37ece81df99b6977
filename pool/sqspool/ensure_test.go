package sqspool_test

import (
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
	"github.com/google/go-cmp/cmp"

	"github.com/remuda-run/remuda/internal/awstest"
	"github.com/remuda-run/remuda/internal/bubbletest"
	"github.com/remuda-run/remuda/internal/ensure"
	"github.com/remuda-run/remuda/pool/sqspool"
)

// onMoto runs test on moto alone: ElasticMQ 1.7 has neither retention nor encryption, and refuses to set
// them.
func onMoto(t *testing.T, test func(t *testing.T, s *service)) { test(t, connect(t, awstest.Moto)) }

// steps runs Ensure and returns `queue: action` with the prefix left out.
func (s *service) steps(t *testing.T, p *sqspool.Pool, apply bool, classes ...string) []string {
	t.Helper()
	steps, err := p.Ensure(t.Context(), apply, classes...)
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for _, step := range steps {
		lines = append(lines, strings.ReplaceAll(step.String(), s.prefix, "P"))
	}
	return lines
}

// expect fails the test unless each line is its want, or begins with it if want ends with "…".
func expect(t *testing.T, lines []string, want ...string) {
	t.Helper()
	if !slices.EqualFunc(lines, want, func(line, want string) bool {
		start, open := strings.CutSuffix(want, "…")
		return line == want || open && strings.HasPrefix(line, start)
	}) {
		t.Errorf("steps (-want +got):\n%s", cmp.Diff(want, lines))
	}
}

// live returns the attributes of a queue that Ensure cares for.
func (s *service) live(t *testing.T, class string) map[string]string {
	t.Helper()
	in := &sqs.GetQueueAttributesInput{QueueUrl: s.queue(t, class)}
	for key := range sqspool.Wanted() {
		in.AttributeNames = append(in.AttributeNames, types.QueueAttributeName(key))
	}
	out, err := s.raw.GetQueueAttributes(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	return out.Attributes
}

// Ensure makes what is missing and repairs what differs, without CreateQueue on what exists; a dry run
// only says so. H69
func TestEnsure_H69(t *testing.T) {
	onMoto(t, func(t *testing.T, s *service) {
		w := new(wire)
		p := s.open(t, w.behind)
		expect(t, s.steps(t, p, false, "medium", "x-large"), "queue P-medium: would create", "queue P-x-large-…")
		if n := w.count("CreateQueue"); n != 0 {
			t.Errorf("a dry run calls CreateQueue %d times", n)
		}
		expect(t, s.steps(t, p, true, "medium", "medium"), "queue P-medium: created")
		if diff := cmp.Diff(sqspool.Wanted(), s.live(t, "medium")); diff != "" {
			t.Errorf("a new queue (-want +got):\n%s", diff)
		}
		expect(t, s.steps(t, p, true, "medium"), "queue P-medium: unchanged")
		drift := map[string]string{"VisibilityTimeout": "600", "MessageRetentionPeriod": "1209600"}
		if _, err := s.raw.SetQueueAttributes(t.Context(), &sqs.SetQueueAttributesInput{QueueUrl: s.queue(t, "medium"), Attributes: drift}); err != nil {
			t.Fatal(err)
		}
		detail := ` (MessageRetentionPeriod "1209600" becomes "86400", VisibilityTimeout "600" becomes "30")`
		expect(t, s.steps(t, p, false, "medium"), "queue P-medium: would update"+detail)
		if got := s.live(t, "medium"); got["VisibilityTimeout"] != "600" {
			t.Errorf("a dry run changed %v", got)
		}
		offer(t, s.open(t, nil), 1) // another process, while the queue differs
		expect(t, s.steps(t, p, true, "medium"), "queue P-medium: updated"+detail)
		if diff := cmp.Diff(sqspool.Wanted(), s.live(t, "medium")); diff != "" {
			t.Errorf("a repaired queue (-want +got):\n%s", diff)
		}
		receive(t, p, 1)
		if n := w.count("CreateQueue"); n != 1 {
			t.Errorf("%d calls of CreateQueue, want 1", n)
		}
		if _, err := s.raw.DeleteQueue(t.Context(), &sqs.DeleteQueueInput{QueueUrl: s.queue(t, "medium")}); err != nil {
			t.Fatal(err)
		}
		expect(t, s.steps(t, p, true, "medium"), "queue P-medium: created") // though its address is still known
	})
}

// Two at once, and processes that offer meanwhile, agree.
func TestEnsure_TwoAtOnce(t *testing.T) {
	onMoto(t, func(t *testing.T, s *service) {
		var all sync.WaitGroup
		for range 2 {
			p := s.open(t, nil)
			all.Go(func() {
				if _, err := p.Ensure(t.Context(), true, "small", "medium"); err != nil {
					t.Error(err)
				}
			})
			all.Go(func() {
				if err := p.Offer(t.Context(), ticket(1)); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		expect(t, s.steps(t, s.open(t, nil), true, "medium", "small"), "queue P-medium: unchanged", "queue P-small: unchanged")
	})
}

// Queues of removed classes are listed with what is in them, and left alone, as are other installations'
// queues and the notification queue of a table called like the prefix. H57, H58
func TestEnsure_H57_RemovedClass(t *testing.T) {
	onMoto(t, func(t *testing.T, s *service) {
		p := s.open(t, nil)
		offer(t, p, 1, 2)
		s.steps(t, p, true, "x-large", "small")
		for _, name := range []string{
			s.prefix + "-events", s.prefix + "2-small", sqspool.QueueName(s.prefix+"-b", "small"), sqspool.QueueName(s.prefix+"-b", "x-large"),
		} {
			if _, err := s.raw.CreateQueue(t.Context(), &sqs.CreateQueueInput{QueueName: aws.String(name)}); err != nil {
				t.Fatal(err)
			}
		}
		expect(t, s.steps(t, p, true, "small"), "queue P-small: unchanged",
			"queue P-medium: unchanged (removed class: unused, about 2 messages and 0 held)", "queue P-x-large-…")
		receive(t, p, 1, 2)
		expect(t, s.steps(t, p, true, "medium", "x-large"), "queue P-medium: unchanged", "queue P-x-large-…",
			"queue P-small: unchanged (removed class: unused, about 0 messages and 0 held)")
	})
}

// What fails on one queue keeps no other from being ensured, and all of it is reported. H53
func TestEnsure_EachFailsAlone(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		attributes := sqspool.Wanted()
		attributes["SqsManagedSseEnabled"], attributes["KmsMasterKeyId"] = "false", "alias/own" // stays so
		p := openWire(t, &wire{answer: found(func(call string, in body) any {
			switch url, _ := in["QueueUrl"].(string); {
			case call == "ListQueues" && in["NextToken"] == nil:
				return body{"QueueUrls": []string{"https://x/1/remuda-gone"}, "NextToken": "more"}
			case call == "ListQueues":
				return body{"QueueUrls": []string{"https://x/1/remuda-old", "https://x/1/remuda-medium"}}
			case strings.HasSuffix(url, "-gone"): // deleted while we look; no one makes it again
				return noQueue
			case strings.HasSuffix(url, "-small"):
				return denied
			}
			return body{"Attributes": attributes}
		})})
		steps, err := p.Ensure(t.Context(), true, "small", "medium")
		if err == nil {
			t.Fatal("got no error")
		}
		contains(t, err.Error(), "sqs:GetQueueAttributes on queue remuda-small: access denied: allow sqs:GetQueueAttributes")
		if strings.Contains(err.Error(), "gone") {
			t.Errorf("a queue that was deleted meanwhile is reported as an error: %v", err)
		}
		got := map[string]ensure.Action{}
		for _, step := range steps {
			got[step.Resource] = step.Action
		}
		want := map[string]ensure.Action{"queue remuda-medium": ensure.Unchanged, "queue remuda-old": ensure.Unchanged}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("steps (-want +got):\n%s", diff)
		}
	})
}

// A queue that another version made first, with other attributes, is used as it is, and repaired by
// Ensure alone. H69
func TestEnsure_H69_AnotherWasQuicker(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		there := false
		w := &wire{answer: func(call string, in body) any {
			switch call {
			case "GetQueueUrl":
				if !there {
					return noQueue
				}
				return body{"QueueUrl": "https://sqs.eu-west-1.amazonaws.com/1/remuda-medium"}
			case "CreateQueue":
				there = true
				return fault{400, "QueueNameExists", "A queue already exists with the same name and a different value for attribute VisibilityTimeout"}
			case "ListQueues":
				return body{}
			case "GetQueueAttributes":
				return body{"Attributes": body{"VisibilityTimeout": "600"}}
			}
			return sent
		}}
		p := openWire(t, w)
		offer(t, p, 1)
		if n := w.count("SetQueueAttributes"); n != 0 {
			t.Errorf("Offer calls SetQueueAttributes %d times", n)
		}
		there = false
		steps, err := p.Ensure(t.Context(), true, "medium")
		if err != nil || len(steps) != 1 || steps[0].Action != ensure.Updated {
			t.Errorf("Ensure = %v, %v, want one update", steps, err)
		}
		if n := w.count("SetQueueAttributes"); n != 1 {
			t.Errorf("Ensure calls SetQueueAttributes %d times, want 1", n)
		}
	})
}

// Remove deletes the queues of all classes of its prefix, of those that are gone from the configuration too, and no other.
// H58
func TestRemove_H58(t *testing.T) {
	onMoto(t, func(t *testing.T, s *service) {
		p := s.open(t, nil)
		s.steps(t, p, true, "x-large", "small")
		others := []string{s.prefix + "-events", s.prefix + "2-small", s.prefix + "-b-small"}
		for _, name := range others {
			if _, err := s.raw.CreateQueue(t.Context(), &sqs.CreateQueueInput{QueueName: aws.String(name)}); err != nil {
				t.Fatal(err)
			}
		}
		for _, try := range []struct {
			apply bool
			want  []string
		}{
			{false, []string{"queue P-small: would delete", "queue P-x-large-…"}}, {true, []string{"queue P-small: deleted", "queue P-x-large-…"}}, {true, nil},
		} {
			steps, err := p.Remove(t.Context(), try.apply)
			var lines []string
			for _, step := range steps {
				lines = append(lines, strings.ReplaceAll(step.String(), s.prefix, "P"))
			}
			if err != nil {
				t.Fatal(err)
			}
			expect(t, lines, try.want...)
		}
		for _, name := range others {
			if _, err := s.raw.GetQueueUrl(t.Context(), &sqs.GetQueueUrlInput{QueueName: aws.String(name)}); err != nil {
				t.Errorf("queue %s of another: %v", name, err)
			}
		}
	})
}
