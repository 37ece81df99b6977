package store

import (
	"encoding/json"
	"math"
	"testing"
	"time"
)

func TestTime_WireFormat(t *testing.T) {
	zone := time.FixedZone("UTC+2", 2*60*60)
	for _, tt := range []struct {
		name string
		in   time.Time
		want string
	}{
		{"Zero", time.Time{}, `""`},
		{"WholeSecond", time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), `"2026-01-02T03:04:05.000Z"`},
		{"Truncates", time.Date(2026, 1, 2, 3, 4, 5, 678_999_999, time.UTC), `"2026-01-02T03:04:05.678Z"`},
		{"ConvertsToUTC", time.Date(2026, 1, 2, 3, 4, 5, 6_000_000, zone), `"2026-01-02T01:04:05.006Z"`},
		{"Epoch", time.Unix(0, 0), `"1970-01-01T00:00:00.000Z"`},
		{"LastYear", time.Date(9999, 12, 31, 23, 59, 59, 999_000_000, time.UTC), `"9999-12-31T23:59:59.999Z"`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := json.Marshal(At(tt.in))
			if err != nil || string(got) != tt.want {
				t.Fatalf("Marshal() = %s, %v, want %s", got, err, tt.want)
			}
			var back Time
			if err := json.Unmarshal(got, &back); err != nil || !back.Equal(At(tt.in)) || back != At(tt.in) {
				t.Errorf("Unmarshal(%s) = %v, %v, want %v", got, back, err, At(tt.in))
			}
		})
	}
	if got, err := json.Marshal(At(time.Date(10_000, 1, 1, 0, 0, 0, 0, time.UTC))); err == nil {
		t.Errorf("Marshal(year 10000) = %s, want an error: it could not be read again", got)
	}
}

func TestTime_AcceptsOneFormOnly(t *testing.T) {
	for _, text := range []string{
		`null`, `0`, `1767323045`, `" "`, `"2026-01-02"`, `"2026-01-02T03:04:05Z"`, `"2026-01-02T03:04:05.67Z"`, `"2026-01-02T03:04:05.678900Z"`,
		`"2026-01-02T03:04:05,678Z"`, `"2026-01-02T03:04:05.678z"`, `"2026-01-02T03:04:05.678+00:00"`, `"2026-01-02T03:04:05.678+02:00"`,
		`"2026-01-02 03:04:05.678Z"`, `"2026-13-02T03:04:05.678Z"`, `"2026-02-30T03:04:05.678Z"`, `"2026-01-02T3:04:05.678Z"`,
	} {
		v := struct{ T Time }{}
		if err := json.Unmarshal([]byte(`{"T":`+text+`}`), &v); err == nil {
			t.Errorf("Unmarshal(%s) = %v, want an error", text, v.T)
		}
	}
}

func TestSeconds_Duration(t *testing.T) {
	for _, tt := range []struct {
		in   Seconds
		want time.Duration
	}{
		{0, 0}, {1.5, 1500 * time.Millisecond}, {-1, -time.Second}, {1800, 30 * time.Minute},
		{1e300, math.MaxInt64}, {-1e300, math.MinInt64},
	} {
		if got := tt.in.Duration(); got != tt.want {
			t.Errorf("Seconds(%g).Duration() = %s, want %s", float64(tt.in), got, tt.want)
		}
	}
	if got := SecondsOf(90 * time.Second); got != 90 {
		t.Errorf("SecondsOf(90s) = %g, want 90", float64(got))
	}
}
