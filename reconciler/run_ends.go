package reconciler

import (
	"context"
	"slices"

	"github.com/remuda-run/remuda/internal/githubapi"
)

// askedAlone is how many runs that left the lists at once are asked for one by one. More are looked up in the list of those that are
// completed: where hundreds end in an hour, a call for each would be more than the share of the budget.
const askedAlone = 1

// runEnds are what became of runs that have left the lists of active ones.
type runEnds struct {
	listed map[int64]githubapi.WorkflowRun // the newest that are completed; nil: not asked for since the other lists were
	alone  map[int64]bool                  // asked for alone since they left: they wait, or were completed long after they began
}

// learnEnds lists what became of runs if several have left the lists.
func (w *watcher) learnEnds(ctx context.Context, repo *watchedRepository, runs [][]run) error {
	if repo.ends.listed != nil {
		return nil
	}
	left := 0
	for _, of := range runs {
		id := of[0].workflow().Run
		_, active := repo.active[id]
		if active || !repo.look.due[id] || repo.ends.alone[id] || !slices.ContainsFunc(of, func(r run) bool { return w.urgent(repo, r) }) {
			continue
		}
		left++
	}
	if left <= askedAlone {
		return nil
	}
	all, err := w.github.CompletedRuns(ctx, repo.name)
	if err != nil {
		return err
	}
	repo.ends.listed = make(map[int64]githubapi.WorkflowRun, len(all))
	for _, r := range all {
		repo.ends.listed[r.ID] = r
	}
	return nil
}

// find returns what a run that left the lists is now; false: GitHub has none of that id.
func (w *watcher) find(ctx context.Context, repo *watchedRepository, id int64) (githubapi.WorkflowRun, bool, error) {
	if r, ok := repo.ends.listed[id]; ok {
		repo.asked(id, true)
		return r, true, nil
	}
	r, ok, err := w.github.WorkflowRun(ctx, repo.name, id)
	if err != nil {
		return githubapi.WorkflowRun{}, false, err
	}
	repo.ends.alone[id] = true
	repo.asked(id, ok)
	return r, ok, nil
}
