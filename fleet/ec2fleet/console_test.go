package ec2fleet

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/remuda-run/remuda/fleet"
	"github.com/remuda-run/remuda/fleet/ec2fleet/ec2test"
	"github.com/remuda-run/remuda/internal/machinelog"
)

func TestLog_Console(t *testing.T) {
	at := time.Date(2026, 5, 5, 8, 22, 0, 0, time.UTC)
	for _, nitro := range []bool{true, false} {
		s, f := fresh(t, nil)
		id := idsOf(launched(t, f, spec("l-1", 1)).Machines)[0]
		s.SetConsole(id, ec2test.Console{Text: "[ 0.0] Linux\nremuda: token=ghs_0123456789abcdefghij\n", At: at, Latest: nitro})
		l, err := f.Log(t.Context(), id)
		if err != nil || l.InstanceID != id || !l.TakenAt.Equal(at) || len(l.Sources) != 1 {
			t.Fatalf("Log = %+v, %v", l, err)
		}
		if got := l.Sources[0]; got.Name != machinelog.Console || got.Text != "[ 0.0] Linux\nremuda: token=***\n" {
			t.Errorf("source = %+v", got)
		}
		if stale := strings.Contains(l.Reason, "missing"); stale == nitro {
			t.Errorf("with Latest %v the reason is %q", nitro, l.Reason)
		}
	}
}

func TestLog_WhyThereIsNone(t *testing.T) {
	s, f := fresh(t, nil)
	id := idsOf(launched(t, f, spec("l-1", 1)).Machines)[0]
	for name, want := range map[string]string{"i-00000000000000bad": "no longer", id: "minutes after boot", "../x": "kept"} {
		if _, err := f.Log(t.Context(), name); !errors.Is(err, machinelog.ErrNone) || !strings.Contains(err.Error(), want) {
			t.Errorf("Log(%s) = %v, want …%s…", name, err, want)
		}
	}
	s.Deny("GetConsoleOutput")
	if _, err := f.Log(t.Context(), id); !errors.Is(err, fleet.ErrRefused) || !strings.Contains(err.Error(), "ec2:GetConsoleOutput") {
		t.Errorf("Log without permission = %v", err)
	}
}
