package reconciler_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/remuda-run/remuda/reconciler"
	"github.com/remuda-run/remuda/statemachine"
	"github.com/remuda-run/remuda/store"
)

// limited takes statuses up to a size, as DynamoDB does all items.
type limited struct {
	store.Table
	most int
}

func (l limited) Put(ctx context.Context, item store.Item, expect int64) error {
	if n := len(item.Attributes); item.Key.Sort == store.KindRunStatus && n > l.most {
		return fmt.Errorf("put: %w: item size of %d has exceeded the maximum allowed", store.ErrInvalid, n)
	}
	return l.Table.Put(ctx, item, expect)
}

// A request with texts of any length gets an answer that can be written, and that names the field.
func TestGiantTexts_AreAnswered(t *testing.T) {
	giant := strings.Repeat("\x1b<", 195_000)
	for field, change := range map[string]func(*store.RunRequest){
		"usageClass":           func(r *store.RunRequest) { r.UsageClasses = []string{giant} },
		"allowedInstanceTypes": func(r *store.RunRequest) { r.AllowedInstanceTypes = []string{"c*", giant} },
		"resourceClass":        func(r *store.RunRequest) { r.ResourceClass = giant },
	} {
		t.Run(field, func(t *testing.T) {
			run(t, func(t *testing.T, w *world) {
				w.controllerWith("c1", reconciler.Options{Table: limited{w.Table, 400_000}})
				r := spec("100", 1)
				change(&r)
				w.submit(r)
				st := w.awaitPhase("100", 1, statemachine.Failed, 10*time.Second)
				if st.Reason != reconciler.ReasonSpec || !strings.Contains(st.Message, field) || len(st.Message) > store.MaxMessage {
					t.Errorf("%s: %.100q (%d bytes), want invalid, naming %s", st.Reason, st.Message, len(st.Message), field)
				}
			})
		})
	}
}

// A status that the store does not take for its size does not leave the client without an answer.
func TestStatusTooLarge_IsAnswered(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		w.controllerWith("c1", reconciler.Options{Table: limited{w.Table, 1500}})
		w.submit(spec("100", 15)) // some 100 bytes a seat
		st := w.awaitPhase("100", 1, statemachine.Failed, 5*time.Minute)
		if st.Reason != reconciler.ReasonSpec || !strings.Contains(st.Message, "exceeded the maximum") {
			t.Errorf("%s: %s, want the store's words", st.Reason, st.Message)
		}
		w.await(5*time.Minute, "every machine is pooled or ended", func() bool {
			return w.in(statemachine.Created)+w.in(statemachine.Claimed)+w.in(statemachine.Running) == 0
		})
		w.release("100", 1, store.Drain)
	})
}
