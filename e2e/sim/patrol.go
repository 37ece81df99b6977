package sim

import "time"

// Bounds of the laws that only time breaks, at pace 1.
const (
	patrolEvery = 5 * time.Second
	auditEvery  = 6 // patrols: it reads and decodes everything
)

// watch looks at what time alone can break, as long as the world exists.
func (t *truth) watch() {
	t.w.running.Go(func() {
		for n := 1; ; n++ {
			timer := time.NewTimer(t.w.o.paced(patrolEvery))
			select {
			case <-t.w.ended:
				timer.Stop()
				return
			case <-timer.C:
				t.lifetimes.inTime()
				t.prompt.answered()
				t.pooling.reachable()
				t.prompt.soon()
				t.floors.filled()
				t.money.known()
				t.warm.bounded()
				if n%auditEvery == 0 {
					t.auditor.audited()
				}
			}
		}
	})
}

// finish holds the end of the story to the laws that single events do not show.
func (t *truth) finish() {
	t.owners.ownJobs()
	t.runs.noted()
	t.money.demanded()
	if twice := t.w.hub.NamesUsedTwice(); len(twice) > 0 { // H37
		t.w.verdicts.broke(Names, "%v", twice)
	}
}

// report sums up.
func (t *truth) report() Report {
	t.records.mu.Lock()
	defer t.records.mu.Unlock()
	r := Report{
		Violations: t.w.verdicts.all, Ready: t.ready, Failed: t.failed, Jobs: t.owners.jobs, Launched: t.w.fleet.Launched(), Hours: t.w.machines.hours(),
		Terms: t.terms.now, Failovers: t.terms.all, Undone: t.terms.undone, Belated: t.terms.late, Coverage: t.coverage,
	}
	for _, attempts := range t.records.requests {
		r.Requests += len(attempts)
	}
	return r
}
