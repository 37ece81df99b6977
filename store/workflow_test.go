package store

import (
	"fmt"
	"strings"
	"testing"
)

func TestRunRequest_Workflow(t *testing.T) {
	long := strings.Repeat("a", 100)
	for _, tt := range []struct {
		id         RequestID
		repository string
		run        int64
		attempt    int
		want       bool
	}{
		{"7", "octo/repo", 7, 1, true}, {"7-a", "Octo/Repo", 7, 2, true}, {"7-a-b", "o_x/.github", 7, 1, true},
		{"7", long + "/" + long, 7, 1, true},
		{"7", "octo/repo", 8, 1, false}, {"77", "octo/repo", 7, 1, false}, {"a-7", "octo/repo", 7, 1, false}, {"07", "octo/repo", 7, 1, false},
		{"7", "octo/repo", 0, 1, false}, {"7", "octo/repo", -7, 1, false}, {"7", "octo/repo", 7, 0, false}, {"7", "octo/repo", 7, -1, false},
		{"7", "", 7, 1, false}, {"7", "octo", 7, 1, false}, {"7", "octo/", 7, 1, false}, {"7", "/repo", 7, 1, false}, {"7", "a/b/c", 7, 1, false},
		{"7", "octo/..", 7, 1, false}, {"7", "octo/.", 7, 1, false}, {"7", "../repo", 7, 1, false}, {"7", "octo/a?b", 7, 1, false},
		{"7", "octo/repo\n", 7, 1, false}, {"7", long + "a/repo", 7, 1, false}, {"7", "octo/" + long + "a", 7, 1, false},
	} {
		r := RunRequest{ID: tt.id, Repository: tt.repository, WorkflowRun: tt.run, WorkflowAttempt: tt.attempt}
		w, ok := r.Workflow()
		want := Workflow{}
		if tt.want {
			want = Workflow{Repository: strings.ToLower(tt.repository), Run: tt.run, Attempt: tt.attempt}
		}
		if ok != tt.want || w != want {
			t.Errorf("request %s of run %d.%d of %q: Workflow() = %+v, %t, want %+v", tt.id, tt.run, tt.attempt, tt.repository, w, ok, want)
		}
	}
}

// Whatever a workflow wrote of its run, the request is read; it names a run, or it does not. H70
func TestRunRequest_IsReadWhateverItSaysOfItsRun_H70(t *testing.T) {
	attributes := []string{"repository", "workflowRun", "workflowAttempt", "noWait", "originalCount", "releaseReason"}
	for _, name := range attributes {
		for _, value := range []string{`null`, `[]`, `{"a":1}`, `"x"`, `"a b"`, `-1`, `0.5`, `1e300`, `true`} {
			item := Item{Key: RequestKey("7", KindRunRequest), Version: 1, Attributes: fmt.Appendf(nil,
				`{"attempt":3,"count":2,"resourceClass":"large","createdAt":"2026-01-02T03:04:05Z",%q:%s}`, name, value)}
			var r RunRequest
			if err := decode(item, &r); err != nil || r.Attempt != 3 || r.Count != 2 || r.ResourceClass != "large" || r.CreatedAt.IsZero() {
				t.Errorf("%s %s: decode() = %+v, %v, want the rest of the request", name, value, r, err)
			}
			if w, ok := r.Workflow(); ok {
				t.Errorf("%s %s: Workflow() = %+v, want none", name, value, w)
			}
		}
	}
	item := Item{Key: RequestKey("7", KindRunRequest), Version: 1, Attributes: []byte(
		`{"attempt":3,"count":2,"repository":"o/r","workflowRun":7,"workflowAttempt":2,"noWait":true,"originalCount":4,"releaseReason":"run_over"}`)}
	var r RunRequest
	if err := decode(item, &r); err != nil {
		t.Fatal(err)
	}
	if _, ok := r.Workflow(); !ok || !r.NoWait || !r.ByController() || r.ReleaseReason != RunOver {
		t.Errorf("decode() = %+v, want all of it", r)
	}
}
