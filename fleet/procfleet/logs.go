//go:build unix

package procfleet

import (
	"context"
	"errors"
	"path/filepath"
	"time"

	"github.com/remuda-run/remuda/internal/logkey"
	"github.com/remuda-run/remuda/internal/machinelog"
)

// Logs is where the output of the machines of the fleet in folder dir is kept beyond their folders.
func Logs(dir string) machinelog.Folder { return machinelog.Folder{Dir: filepath.Join(dir, "logs")} }

// keepLog keeps the output of a machine whose agent did not: one that was killed. It does so again after a crash, and a
// failure has no consequence.
func (f *Fleet) keepLog(m record, now time.Time) {
	ctx, logs := context.Background(), Logs(f.disk.dir)
	_, err := logs.Get(ctx, m.ID)
	if errors.Is(err, machinelog.ErrNone) {
		err = logs.Put(ctx, machinelog.Log{
			InstanceID: m.ID, TakenAt: now, Reason: "the agent ended without a word: " + m.Cause, Sources: machinelog.Read(f.disk.folder(m.ID), f.opts.Mask()),
		})
	}
	if err != nil {
		f.log.Warn("the output of a machine could not be kept", logkey.InstanceID, m.ID, logkey.Error, err)
	}
}

// Log returns what a machine printed last: what was kept, else what its folder still has. It returns
// machinelog.ErrNone if there is neither.
func (f *Fleet) Log(ctx context.Context, id string) (machinelog.Log, error) {
	return call(ctx, f, "read output of "+id, func() (machinelog.Log, error) {
		l, err := Logs(f.disk.dir).Get(ctx, id)
		if !errors.Is(err, machinelog.ErrNone) || !idPattern().MatchString(id) {
			return l, err
		}
		if sources := machinelog.Read(f.disk.folder(id), f.opts.Mask()); len(sources) > 0 {
			return machinelog.Log{InstanceID: id, TakenAt: f.clock.Now().UTC(), Reason: "it has not ended yet", Sources: sources}, nil
		}
		return l, err
	})
}
