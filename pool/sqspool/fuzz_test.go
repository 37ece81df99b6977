package sqspool

import (
	"log/slog"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
)

// FuzzSort: of any two messages each is a delivery or malformed, whatever the other is; what cannot be
// given back is no delivery; and the log of a malformed one is no longer than a line. H21 H22
func FuzzSort_H22(f *testing.F) {
	f.Add(`{"instanceId":"i-1"}`, "r-1", `{"instanceId":""}`, "r-2", true)
	f.Add(`{"instanceId":"i-1"}`, "", "", "", false)
	f.Add("\x00\xff", "r\x00", `{"instanceId":"i-1","threshold":"`+strings.Repeat("9", 5000)+`"}`, "\xff", true)
	f.Fuzz(func(t *testing.T, body1, receipt1, body2, receipt2 string, whole bool) {
		var log strings.Builder
		p := &Pool{log: slog.New(slog.NewTextHandler(&log, nil))}
		messages := []types.Message{{Body: &body1, ReceiptHandle: &receipt1}, {ReceiptHandle: &receipt2}, {}}
		if whole {
			messages[1].Body, messages[1].MessageId = &body2, aws.String("m-2")
		}
		out, bad := p.sort(t.Context(), "small", messages)
		if len(out)+len(bad) != len(messages) {
			t.Errorf("%d deliveries and %d malformed of %d", len(out), len(bad), len(messages))
		}
		for _, d := range out {
			if d.Receipt == "" || d.Ticket.InstanceID == "" || d.Receipt != receipt1 && d.Receipt != receipt2 {
				t.Errorf("delivery %+v", d)
			}
		}
		for line := range strings.Lines(log.String()) {
			if len(line) > 1000 {
				t.Errorf("a line of %d bytes: %.200s", len(line), line)
			}
		}
		if n := strings.Count(log.String(), "\n"); n != len(bad) {
			t.Errorf("%d lines for %d malformed messages", n, len(bad))
		}
	})
}
