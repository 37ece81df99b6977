//go:build unix

package procfleet

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"io/fs"
	mathrand "math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/remuda-run/remuda/fleet"
	"github.com/remuda-run/remuda/internal/logkey"
)

// Codes of refusals, those of EC2 (EC2 API, "Error codes").
const (
	codeNoCapacity = "InsufficientInstanceCapacity"
	codeLimit      = "InstanceLimitExceeded"
)

// spot is the usage class that may be taken away.
const spot = "spot"

// journal is the answer to a launch, written before any of its machines is. Anyone who repeats the
// launch completes what the journal says.
type journal struct {
	Plan     string          `json:"plan"` // canonical form
	Machines []record        `json:"machines"`
	Refused  []fleet.Refusal `json:"refused"`
	At       time.Time       `json:"at"`
	Complete bool            `json:"complete"` // every machine's folder was made
}

// Launch keeps the contract of fleet.Fleet. It decides and records; Run starts the machines, after
// their boot delay. A plan of an older template launches the present one, as the machines then say:
// old command lines are not kept.
func (f *Fleet) Launch(ctx context.Context, p fleet.Plan) (fleet.Outcome, error) {
	return call(ctx, f, "launch "+p.Token, func() (fleet.Outcome, error) { return f.launch(ctx, p) })
}

func (f *Fleet) launch(ctx context.Context, p fleet.Plan) (out fleet.Outcome, err error) {
	in, form, err := decode(p)
	if err != nil {
		return fleet.Outcome{}, err
	}
	unlock, err := f.disk.lock(ctx)
	if err != nil {
		return fleet.Outcome{}, err
	}
	defer func() { err = errors.Join(err, unlock()) }()
	j, err := f.journal(p, in, form)
	if err != nil {
		return fleet.Outcome{}, err
	}
	if j.Plan != form {
		return fleet.Outcome{}, fmt.Errorf("the token was used with another plan: %w", fleet.ErrRefused)
	}
	if !j.Complete {
		if err := f.complete(p.Token, j); err != nil {
			return fleet.Outcome{}, err
		}
		f.nudge()
	}
	return f.outcome(j)
}

// journal returns the launch's journal and writes it if this is the first call.
func (f *Fleet) journal(p fleet.Plan, in params, form string) (journal, error) {
	path := f.disk.launch(p.Token)
	if j, err := readJournal(path); !errors.Is(err, fs.ErrNotExist) {
		return j, err
	}
	now := f.clock.Now().UTC()
	living, err := f.living(now)
	if err != nil {
		return journal{}, err
	}
	j := f.place(p, in, living, now)
	j.Plan, j.At = form, now
	if err := writeJSON(path, j); err != nil {
		return journal{}, fmt.Errorf("write journal: %w", err)
	}
	f.failpoint("journal written")
	f.log.Info("launch recorded", logkey.Launch, p.Token, logkey.Count, len(j.Machines), logkey.Refused, len(j.Refused))
	return j, nil
}

// readJournal returns fs.ErrNotExist if the launch was never made.
func readJournal(path string) (journal, error) {
	var j journal
	b, err := os.ReadFile(path)
	if err == nil {
		err = json.Unmarshal(b, &j)
	}
	if err != nil {
		return journal{}, fmt.Errorf("read journal %s: %w", filepath.Base(path), err)
	}
	for _, r := range j.Machines {
		if !idPattern().MatchString(r.ID) {
			return journal{}, fmt.Errorf("read journal %s: machine %q: must have the form %s", filepath.Base(path), r.ID, idPattern())
		}
	}
	return j, nil
}

// complete makes the folders that are missing, and says so in the journal.
func (f *Fleet) complete(token string, j journal) error {
	for _, r := range j.Machines {
		if err := f.disk.add(r); err != nil {
			return fmt.Errorf("make machine %s: %w", r.ID, err)
		}
		f.failpoint("machine made")
	}
	j.Complete = true
	if err := writeJSON(f.disk.launch(token), j); err != nil {
		return fmt.Errorf("write journal: %w", err)
	}
	f.failpoint("journal complete")
	return nil
}

// outcome shows the machines as they are now. One whose folder has been removed has ended.
func (f *Fleet) outcome(j journal) (fleet.Outcome, error) {
	out := fleet.Outcome{Refused: j.Refused}
	for _, planned := range j.Machines {
		r, err := f.disk.load(planned.ID, f.clock.Now())
		if errors.Is(err, fs.ErrNotExist) {
			r, err = planned, nil
			r.State = fleet.Ended
		}
		if err != nil {
			return fleet.Outcome{}, err
		}
		out.Machines = append(out.Machines, f.view(r))
	}
	return out, nil
}

// living returns the machines that take capacity.
func (f *Fleet) living(now time.Time) ([]record, error) {
	all, err := f.disk.all(now)
	return slices.DeleteFunc(all, func(r record) bool { return r.State == fleet.Ended }), err
}

// place decides where the machines of a new launch come from. A place that refuses is not asked
// again in this launch.
func (f *Fleet) place(p fleet.Plan, in params, living []record, now time.Time) journal {
	hash := fnv.New64a()
	hash.Write([]byte(p.Token)) // never fails
	random := mathrand.New(mathrand.NewPCG(f.opts.Seed, hash.Sum64()))
	var j journal
	places := slices.Clone(in.Places)
	for len(j.Machines) < p.Count && len(places) > 0 {
		pl := nextPlace(places, len(j.Machines))
		taken := slices.Concat(living, j.Machines)
		refusal := f.refusal(pl, in.UsageClass, taken, random)
		if refusal == nil {
			r := f.newRecord(pl, in, random, now)
			r.LaunchToken = p.Token
			j.Machines = append(j.Machines, r)
			continue
		}
		j.Refused = append(j.Refused, *refusal)
		places = slices.DeleteFunc(places, func(other place) bool {
			return excluded([]fleet.Slot{refusal.Slot}, other.slot(in.UsageClass))
		})
	}
	return j
}

// nextPlace spreads the machines of the preferred type over its zones.
func nextPlace(places []place, n int) place {
	zones := 1
	for zones < len(places) && places[zones].InstanceType == places[0].InstanceType {
		zones++
	}
	return places[n%zones]
}

// refusal returns why pl gives no machine now, or nil.
func (f *Fleet) refusal(pl place, usage string, taken []record, random *mathrand.Rand) *fleet.Refusal {
	full := func(limit int, slot fleet.Slot, code, what string) *fleet.Refusal {
		return &fleet.Refusal{Slot: slot, Code: code, Message: fmt.Sprintf("all %d %s are in use", limit, what)}
	}
	if limit := f.opts.Capacity; limit > 0 && len(taken) >= limit {
		return full(limit, fleet.Slot{UsageClass: usage}, codeLimit, "machines of this fleet")
	}
	if limit := f.opts.SpotCapacity; usage == spot && limit > 0 && count(taken, func(r record) bool { return r.UsageClass == spot }) >= limit {
		return full(limit, fleet.Slot{UsageClass: usage}, codeNoCapacity, "spot machines")
	}
	ofType := func(r record) bool { return r.InstanceType == pl.InstanceType }
	if limit := f.typeCapacity(pl.InstanceType); limit > 0 && count(taken, ofType) >= limit {
		return full(limit, fleet.Slot{UsageClass: usage, InstanceType: pl.InstanceType}, codeNoCapacity, "machines of this type")
	}
	if random.Float64() < f.opts.RefusalRate {
		return &fleet.Refusal{Slot: pl.slot(usage), Code: codeNoCapacity, Message: "refused at random, as configured"}
	}
	return nil
}

func count(machines []record, want func(record) bool) int {
	n := 0
	for _, r := range machines {
		if want(r) {
			n++
		}
	}
	return n
}

func (f *Fleet) typeCapacity(name string) int {
	for _, t := range f.opts.Types {
		if t.Name == name {
			return t.Capacity
		}
	}
	return 0
}

// newRecord draws a machine's fate along with its id.
func (f *Fleet) newRecord(pl place, in params, random *mathrand.Rand, now time.Time) record {
	r := record{
		ID: newID(), InstanceType: pl.InstanceType, CPU: pl.CPU, Mem: pl.Mem, Zone: pl.Zone,
		UsageClass: in.UsageClass, ResourceClass: in.ResourceClass, TemplateVersion: *f.template.Load(),
		State: fleet.Starting, LaunchedAt: now, BootAt: now.Add(f.opts.BootDelay),
	}
	if f.opts.BootJitter > 0 {
		r.BootAt = r.BootAt.Add(time.Duration(random.Int64N(int64(f.opts.BootJitter))))
	}
	if in.UsageClass != spot {
		return r
	}
	if f.opts.MeanLife > 0 {
		r.VanishAt = now.Add(time.Duration(random.ExpFloat64() * float64(f.opts.MeanLife)))
	}
	if f.opts.NoticeAfter > 0 {
		r.NoticeAt = now.Add(f.opts.NoticeAfter)
	}
	return r
}

// newID returns an id of EC2's form. It is random whatever the seed: it marks processes, and must
// be unique among all fleets of this machine.
func newID() string {
	var b [9]byte
	rand.Read(b[:]) // never fails
	return "i-" + hex.EncodeToString(b[:])[:17]
}
