package step

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParsePairs(t *testing.T) {
	for text, want := range map[string][]pair{
		"":                             {},
		"a=1\n\nb=x=y<<z\n":            {{"a", "1"}, {"b", "x=y<<z"}},
		"a=1":                          {{"a", "1"}},
		"a<<E\nE\n":                    {{"a", ""}},
		"a<<E\none\n two \n\nE\nb=2\n": {{"a", "one\n two \n"}, {"b", "2"}},
		"a<<E\nE2\nE":                  {{"a", "E2"}},
		"a<<ghadelimiter_1\n=\n<<x\nghadelimiter_1\n": {{"a", "=\n<<x"}},
	} {
		got, err := parsePairs(text)
		if err != nil {
			t.Errorf("parsePairs(%q) error = %v", text, err)
		}
		if diff := cmp.Diff(want, append([]pair{}, got...), cmp.AllowUnexported(pair{})); diff != "" {
			t.Errorf("parsePairs(%q) (-want +got):\n%s", text, diff)
		}
	}
	for _, text := range []string{"a", "=1", "a<<\n", "<<E\nE\n", "a<<E\n1\n", "a<<E\n1\n E\n", "a<<E\n1\nE \n", "a<<E"} {
		if got, err := parsePairs(text); err == nil {
			t.Errorf("parsePairs(%q) = %q, want a refusal", text, got)
		}
	}
}

func TestParseCommand(t *testing.T) {
	none := map[string]string{}
	for line, want := range map[string]Command{
		"::error::gone": {"error", none, "gone"},
		"  ::Error file=a%2Cb,Line=3,x=::one%0Atwo%25": {"error", map[string]string{"file": "a,b", "line": "3"}, "one\ntwo%"},
		"::add-mask::a%250A":                           {"add-mask", none, "a%0A"},
		"text ##[warning file=a;line=1]x%3By":          {"warning", map[string]string{"file": "a", "line": "1"}, "x;y"},
	} {
		got, ok := parseCommand(line)
		if diff := cmp.Diff(want, got); !ok || diff != "" {
			t.Errorf("parseCommand(%q) %t (-want +got):\n%s", line, ok, diff)
		}
	}
	for _, line := range []string{"", "x ::error::y", "::error", "::unknown::x", "::::", "##[section]x", "##[error"} {
		if got, ok := parseCommand(line); ok {
			t.Errorf("parseCommand(%q) = %+v, want text", line, got)
		}
	}
}

func TestHolds(t *testing.T) {
	for condition, want := range map[string][3]bool{ // success, failure, cancelled
		"":                                      {true, true, true},
		"always()":                              {true, true, true},
		"${{ success() }}":                      {true, false, false},
		"!success()":                            {false, true, true},
		"failure() || cancelled()":              {false, true, true},
		"!(failure() || cancelled( ))":          {true, false, false},
		"always() && !cancelled()":              {true, true, false},
		"success() || failure() && cancelled()": {true, false, false},
	} {
		for i, job := range []Conclusion{Success, Failure, Cancelled} {
			got, err := holds(condition, job)
			if got != want[i] || err != nil {
				t.Errorf("holds(%q, %s) = %t, %v, want %t", condition, job, got, err, want[i])
			}
		}
	}
	for _, condition := range []string{"success", "sure()", "success() failure()", "(success()", "env.X == '1'", "&& success()"} {
		if _, err := holds(condition, Success); err == nil {
			t.Errorf("holds(%q) takes it", condition)
		}
	}
}
