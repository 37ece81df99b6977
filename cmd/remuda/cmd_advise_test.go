package main

import (
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/remuda-run/remuda/internal/advisor"
	"github.com/remuda-run/remuda/internal/bubbletest"
	"github.com/remuda-run/remuda/internal/config"
	"github.com/remuda-run/remuda/store"
)

// wantedOnADay stores requests for two machines of class small every ten minutes of a working day, the first cold.
func wantedOnADay(t *testing.T, st *store.Store) {
	t.Helper()
	begin := time.Now().UTC().Truncate(24 * time.Hour)
	d := store.Demand{Day: store.DayOf(begin), LeftOut: 1}
	var list []store.PastRequest
	for i := range 48 {
		p := store.PastRequest{
			At: begin.Add(9*time.Hour + time.Duration(i)*10*time.Minute), Held: 90 * time.Second, Waited: 31 * time.Second, Count: 2,
			DemandKind: store.DemandKind{Class: "small", Usage: store.Spot, Type: "c6i.large", Types: "*"},
		}
		if i%2 == 1 { // the ninth minute after a release is too late, and so it would be here
			p.Class, p.Failed, p.Held = "gone", i == 1, 0
		}
		list = append(list, p)
	}
	d, _ = d.With(list)
	if _, err := store.WriteDemand(t.Context(), st, d, time.Now()); err != nil {
		t.Fatal(err)
	}
	time.Sleep(18 * time.Hour)
}

func TestAdvise_Golden(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		st := memory(t, nil)
		c := newCLI(st)
		c.ends(t, exitNotFound, "advise")
		wantedOnADay(t, st)
		for file, args := range map[string][]string{"advise.txt": nil, "advise.json": {"-o", "json"}, "advise_dollars.txt": {"--price", "small=0.085,large=0.17"}} {
			c := newCLI(st)
			c.ends(t, exitDone, append([]string{"advise"}, args...)...)
			golden(t, testdata(file), c.out.String())
			for line := range strings.Lines(c.out.String()) {
				if n := utf8.RuneCountInString(strings.TrimSpace(line)); n > 80 {
					t.Errorf("%s: %d columns: %s", file, n, line)
				}
			}
		}
	})
}

func TestAdvise_Refuses(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		st := memory(t, nil)
		for args, says := range map[string]string{
			"--since 36d": "35d", "--since 0d": "35d", "--since 99999999999999999999d": "35d", "--since x": "35d", "--timezone Mars": "Europe/Berlin", "--timezone Local": "Europe/Berlin", "--since 1m": "1h", "--class huge": "small", "--price huge=1": "small", "--price small": "0.085",
			"--price small=-1": "1000", "--price small=NaN": "1000", "--price small=1e9": "1000", "--price =1": "small", "-o xml": "json",
		} {
			c := newCLI(st)
			c.ends(t, exitUsage, append([]string{"advise"}, strings.Fields(args)...)...)
			if !strings.Contains(c.err.String(), says) {
				t.Errorf("%s: %s, want what is allowed", args, &c.err)
			}
		}
	})
}

// What is printed for a setting is read as that setting.
func TestAdvise_ConfigurationIsTheSetting(t *testing.T) {
	place, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	cfg := config.Default()
	class := cfg.Classes["small"]
	class.Cap, class.Warm = 9, config.Warm{Min: 1, MaxAge: 2 * time.Hour, Usage: []string{store.OnDemand}}
	cfg.Classes = map[string]config.Class{"small": class}
	monday := time.Date(2026, 1, 5, 8, 0, 0, 0, place)
	var wanted []store.PastRequest
	for i := range 60 {
		wanted = append(wanted, store.PastRequest{
			At: monday.AddDate(0, 0, i%5).Add(time.Duration(i) * 9 * time.Minute), Held: 90 * time.Minute, Count: 2,
			DemandKind: store.DemandKind{Class: "small", Usage: store.OnDemand, Types: "*"},
		})
	}
	tries := settingsOf(cfg, "small", advisor.NewDemand(wanted, time.Hour, monday, monday.AddDate(0, 0, 7)), place)
	floors := 0
	for i, s := range tries {
		text := s.lines("small")
		if i == 0 || s.warm == "" {
			text += "    warm: {min: 1, maxAge: 2h, usage: [on-demand]}\n" // as it was
		}
		text += "    cpu: 2\n    mem: 4096\n    cap: 9\n"
		got, err := config.Read(config.Source{File: "r.yaml", ReadFile: func(string) ([]byte, error) { return []byte(text), nil }})
		if err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		if is := got.Controller("").Classes["small"]; fmt.Sprint(is) != fmt.Sprint(s.Class) {
			t.Errorf("%s\nis read as %+v, want %+v", text, is, s.Class)
		}
		if len(s.Floor.Schedule.Entries) > 0 {
			floors++
			if e := s.Floor.Schedule.Entries[0]; len(e.Days) != 5 || e.From != 8*60 || e.Location.String() != "Europe/Berlin" {
				t.Errorf("a floor in %+v, want from eight o'clock on working days", e)
			}
		}
	}
	if floors == 0 || tries[0].Floor.Schedule.Base != 1 {
		t.Errorf("%d floors are tried, and first %+v, want some and the one in force", floors, tries[0].Floor)
	}
}
