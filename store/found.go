package store

import (
	"context"
	"fmt"
)

// Found is what one scan found, each instance's and each request's records together.
type Found struct {
	Instances []Instance
	Vitals    map[Principal]Vitals
	Runs      map[RequestID]RunRecords // some have a part of their records only
	Launches  []Launch
	Drains    []DrainOrder
	Floors    []Floor
	Bad       map[Key]error // records that cannot be decoded: all instances, and at most maxBad others
	MoreBad   int           // number of records that Bad leaves out
}

// maxBad bounds the bad records in memory. Workflows can write any number of them, with keys of up to 3 kB.
const maxBad = 100

// addBad keeps a bad record or counts it.
func (f *Found) addBad(k Key, err error) {
	if _, machine := k.Principal(); len(f.Bad) >= maxBad && (!machine || k.Sort != KindInstance) {
		f.MoreBad++
		return
	}
	f.Bad[k] = err
}

// Visitor empties f, and returns what a scan fills it by.
func (f *Found) Visitor() Visitor {
	*f = Found{Vitals: map[Principal]Vitals{}, Runs: map[RequestID]RunRecords{}, Bad: map[Key]error{}}
	vitals := func(p Principal, set func(*Vitals)) {
		v := f.Vitals[p]
		set(&v)
		f.Vitals[p] = v
	}
	of := func(id RequestID, set func(*RunRecords)) {
		r := f.Runs[id]
		set(&r)
		f.Runs[id] = r
	}
	return Visitor{
		Instance:  func(in Instance) { f.Instances = append(f.Instances, in) },
		Heartbeat: func(h Heartbeat) { vitals(h.Principal, func(v *Vitals) { v.Heartbeat = h }) },
		Signal:    func(s Signal) { vitals(s.Principal, func(v *Vitals) { v.Signal = s }) },
		Request:   func(r RunRequest) { of(r.ID, func(all *RunRecords) { all.Request = &r }) },
		Client:    func(c RunClient) { of(c.ID, func(all *RunRecords) { all.Client = &c }) },
		Status:    func(s RunStatus) { of(s.ID, func(all *RunRecords) { all.Status = &s }) },
		Launch:    func(l Launch) { f.Launches = append(f.Launches, l) },
		Drain:     func(d DrainOrder) { f.Drains = append(f.Drains, d) },
		Floor:     func(fl Floor) { f.Floors = append(f.Floors, fl) },
		Bad:       f.addBad,
	}
}

// find reads the records of keys, consistently. Bad ones are passed to bad and left out.
func (s *Store) find(ctx context.Context, what string, bad func(Key, error), keys []Key) (found Found, _ error) {
	items, err := s.table.Get(ctx, Consistent, keys...)
	if err != nil {
		return Found{}, fmt.Errorf("read %s: %w", what, err)
	}
	v := found.Visitor()
	for _, item := range items {
		if err := v.visit(item); err != nil {
			bad(item.Key, err)
		}
	}
	return found, nil
}
