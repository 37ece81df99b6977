package ec2fleet

import (
	"bytes"
	"context"
	"encoding/base64"
	"fmt"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"

	"github.com/remuda-run/remuda/internal/awserr"
	"github.com/remuda-run/remuda/internal/machinelog"
)

// codeNotLatest is EC2's word for an instance that shows its console only as it was after boot: one that is not of the
// Nitro system (EC2 API, GetConsoleOutput).
const codeNotLatest = "UnsupportedOperation"

// maxConsole is how much EC2 shows of a console, in bytes (EC2 API, GetConsoleOutput).
const maxConsole = 64 << 10

// Log returns the last 64 KB of a machine's console, which EC2 keeps for an hour after the machine's end. The agent
// writes its log there (deploy/systemd). It returns machinelog.ErrNone if EC2 does not know the machine, or has no output
// of it.
func (f *Fleet) Log(ctx context.Context, id string) (machinelog.Log, error) {
	return within(ctx, f, "read console of "+id, func(ctx context.Context) (machinelog.Log, error) {
		l := machinelog.Log{InstanceID: id}
		if !idForm().MatchString(id) {
			return l, machinelog.ErrNone
		}
		out, err := f.ec2.GetConsoleOutput(ctx, &ec2.GetConsoleOutputInput{InstanceId: &id, Latest: aws.Bool(true)})
		l.Reason = "console as EC2 shows it now"
		if awserr.Code(err) == codeNotLatest {
			out, err = f.ec2.GetConsoleOutput(ctx, &ec2.GetConsoleOutputInput{InstanceId: &id})
			l.Reason = "console as EC2 kept it then; what came later is missing"
		}
		switch {
		case awserr.Code(err) == codeGone:
			return l, fmt.Errorf("%w: EC2 knows no such instance, or no longer: it forgets one an hour after its end", machinelog.ErrNone)
		case err != nil:
			return l, explain(err, "ec2:GetConsoleOutput", "instance "+id)
		}
		text, err := base64.StdEncoding.DecodeString(aws.ToString(out.Output))
		if err != nil {
			return l, fmt.Errorf("ec2:GetConsoleOutput on instance %s: output is not in base64: %w", id, err)
		}
		if len(text) == 0 {
			return l, fmt.Errorf("%w: EC2 has no console output of it yet: that comes some minutes after boot", machinelog.ErrNone)
		}
		if len(text) >= maxConsole { // the first line was cut: it may be the rest of a secret
			_, text, _ = bytes.Cut(text, []byte("\n"))
		}
		l.TakenAt = aws.ToTime(out.Timestamp)
		l.Sources = []machinelog.Source{{Name: machinelog.Console, Text: f.opts.Mask.Mask(strings.ToValidUTF8(string(text), "?"))}}
		return l, nil
	})
}
