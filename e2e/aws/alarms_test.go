package aws

import (
	"cmp"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"go.yaml.in/yaml/v3"
)

// metric names what a filter of the stack counts, and an alarm looks at.
type metric struct {
	Namespace string `yaml:"Namespace"`
	Name      string `yaml:"MetricName"`
}

// alarm is one of the stack.
type alarm struct {
	metric     `yaml:",inline"`
	Statistic  string  `yaml:"Statistic"`
	Period     int     `yaml:"Period"`
	Periods    int     `yaml:"EvaluationPeriods"`
	Datapoints int     `yaml:"DatapointsToAlarm"` // 0: all periods
	Threshold  float64 `yaml:"Threshold"`
	Comparison string  `yaml:"ComparisonOperator"`
	Missing    string  `yaml:"TreatMissingData"`
	Metrics    []struct {
		ID         string `yaml:"Id"`
		Expression string `yaml:"Expression"`
		Of         struct {
			Metric    metric `yaml:"Metric"`
			Statistic string `yaml:"Stat"`
			Period    int    `yaml:"Period"`
		} `yaml:"MetricStat"`
	} `yaml:"Metrics"`

	filled bool              // a minute without data has 0
	terms  map[string]string // of its filter: what each field of a line must be
}

// filter is a metric filter of the stack.
type filter struct {
	Pattern string `yaml:"FilterPattern"`
	Metrics []struct {
		Namespace string `yaml:"MetricNamespace"`
		Name      string `yaml:"MetricName"`
		Value     string `yaml:"MetricValue"`
		Default   string `yaml:"DefaultValue"`
	} `yaml:"MetricTransformations"`
}

// stackAlarm reads one from the template, by the name of its resource, with the filter that feeds it.
func stackAlarm(t testing.TB, name string) (a alarm) {
	t.Helper()
	var stack struct {
		Resources map[string]struct {
			Type       string    `yaml:"Type"`
			Properties yaml.Node `yaml:"Properties"`
		} `yaml:"Resources"`
	}
	text, err := os.ReadFile(filepath.Join("..", "..", "deploy", "cloudformation", "remuda.yaml"))
	if err == nil {
		err = yaml.Unmarshal(text, &stack)
	}
	of := stack.Resources[name].Properties
	if err == nil {
		err = of.Decode(&a)
	}
	if m := a.Metrics; len(m) == 2 && m[0].Expression == "FILL("+m[1].ID+", 0)" {
		a.metric, a.Statistic, a.Period, a.filled = m[1].Of.Metric, m[1].Of.Statistic, m[1].Of.Period, true
	}
	if err != nil || a.Statistic != "Sum" || a.Period != 60 || a.Periods < 1 {
		t.Fatalf("alarm %s = %+v, %v, want sums of minutes", name, a, err)
	}
	for _, r := range stack.Resources {
		var f filter
		if r.Type != "AWS::Logs::MetricFilter" {
			continue
		}
		if err := r.Properties.Decode(&f); err != nil {
			t.Fatal(err)
		}
		for _, m := range f.Metrics {
			if (metric{m.Namespace, m.Name}) == a.metric && m.Value == "1" && m.Default == "" {
				a.terms = terms(t, f.Pattern)
			}
		}
	}
	if a.terms == nil {
		t.Fatalf("alarm %s: no filter counts %v", name, a.metric)
	}
	return a
}

var (
	pattern = regexp.MustCompile(`^\{ (.+) \}$`)
	term    = regexp.MustCompile(`^\$\.(\w+) = "([^"*]+)"$`)
)

// terms reads a pattern of equalities, which is all that the stack's are.
func terms(t testing.TB, text string) map[string]string {
	t.Helper()
	whole, out := pattern.FindStringSubmatch(text), map[string]string{}
	if whole == nil {
		t.Fatalf("pattern %q: not in braces", text)
	}
	for one := range strings.SplitSeq(whole[1], " && ") {
		m := term.FindStringSubmatch(one)
		if m == nil {
			t.Fatalf("pattern %q: %q is no equality", text, one)
		}
		out[m[1]] = m[2]
	}
	return out
}

// matches returns the lines that the filter of a finds.
func (a alarm) matches(t testing.TB, lines []string) (out []string) {
	t.Helper()
	for _, line := range lines {
		var fields map[string]any
		if err := json.Unmarshal([]byte(line), &fields); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		all := true
		for key, want := range a.terms {
			all = all && fields[key] == want
		}
		if all {
			out = append(out, line)
		}
	}
	return out
}

// alerts reports whether a is in alarm after a minute: as many of its last periods as it asks for are beyond the threshold. A minute without a
// match has no data, which CloudWatch may look back for unless it is filled: then it is late, by minutes.
func (a alarm) alerts(t testing.TB, lines []string, minute time.Time) bool {
	t.Helper()
	sums := map[time.Time]float64{}
	for _, line := range a.matches(t, lines) {
		sums[minuteOf(t, line)]++
	}
	count := 0
	for i := range a.Periods {
		sum, ok := sums[minute.Add(-time.Duration(i)*time.Minute)]
		ok = ok || a.filled
		var beyond bool
		switch {
		case !ok && (a.Missing == "breaching" || a.Missing == "notBreaching"):
			beyond = a.Missing == "breaching"
		case ok && a.Comparison == "LessThanThreshold":
			beyond = sum < a.Threshold
		case ok && a.Comparison == "GreaterThanThreshold":
			beyond = sum > a.Threshold
		default:
			t.Fatalf("nothing is known of an alarm such as %+v", a)
		}
		if beyond {
			count++
		}
	}
	return count >= cmp.Or(a.Datapoints, a.Periods)
}

var loggedAt = regexp.MustCompile(`"time":"[^"]+"`)

// minuteOf returns the minute in which a line was written.
func minuteOf(t testing.TB, line string) time.Time {
	t.Helper()
	var record struct{ Time time.Time }
	if err := json.Unmarshal([]byte(line), &record); err != nil || record.Time.IsZero() {
		t.Fatalf("%q: no time: %v", line, err)
	}
	return record.Time.UTC().Truncate(time.Minute)
}

// alarms holds those of the stack to the lines of a controller that led, logged errors and has ended.
func (s shipped) alarms(lines []string) {
	s.Helper()
	noLeader, errors := stackAlarm(s, "NoLeader"), stackAlarm(s, "LoggedErrors")
	for _, tt := range []struct {
		alarm
		want string // what a line has that its filter is to find
	}{{noLeader, `"level":"INFO","msg":"leading",`}, {errors, `"level":"ERROR",`}} {
		var want []string
		for _, line := range lines {
			if strings.Contains(line, tt.want) {
				want = append(want, line)
			}
		}
		if got := tt.matches(s, lines); len(want) == 0 || len(want) == len(lines) || !slices.Equal(got, want) {
			s.Fatalf("filter %v finds\n%q\nof\n%q\nwant\n%q", tt.terms, got, lines, want)
		}
	}
	led, failed := noLeader.matches(s, lines), errors.matches(s, lines)
	last, failure := minuteOf(s, led[len(led)-1]), minuteOf(s, failed[len(failed)-1])
	// The controller of this test led for a moment. A controller that has led for longer logs the same line each minute.
	line := led[len(led)-1]
	for i := range noLeader.Periods {
		earlier := last.Add(-time.Duration(i+1) * time.Minute)
		lines = append(lines, loggedAt.ReplaceAllString(line, `"time":"`+earlier.Format(time.RFC3339)+`"`))
	}
	for _, tt := range []struct {
		alarm
		name   string
		minute time.Time
		want   bool
	}{
		{noLeader, "no-leader in a minute with a leader", last, false},
		{noLeader, "no-leader after a minute without", last.Add(time.Minute), false},
		{noLeader, "no-leader after two, which may be late data", last.Add(2 * time.Minute), false},
		{noLeader, "no-leader after three", last.Add(3 * time.Minute), true},
		{errors, "errors in a minute with one", failure, true},
		{errors, "errors a minute later", failure.Add(time.Minute), false},
	} {
		if got := tt.alerts(s, lines, tt.minute); got != tt.want {
			s.Errorf("alarm %s: %v, want %v", tt.name, got, tt.want)
		}
	}
}
