package sim

import (
	"fmt"
	"time"

	"github.com/remuda-run/remuda/internal/githubsim"
	"github.com/remuda-run/remuda/store"
)

// event is one thing the world does.
type event struct {
	dice

	name string
	n    int
}

// contract draws one that may be out of order.
func (e event) contract() string {
	return []string{"store", "pool", "fleet", "github"}[e.key("contract").below(4)]
}

// stopped draws who is stopped in order: one controller, or all.
func (e event) stopped() string {
	if e.key("all").float() < 0.3 {
		return controllers
	}
	return e.controller()
}

func (e event) key(what string) key { return e.of(e.name+" "+what, e.n) }

func (e event) long(from, to time.Duration) span { return span{e.span(from, to, e.name+" long", e.n)} }

// controller draws one of the two, or the one that leads.
func (e event) controller() string {
	return []string{"controller", "controller", "controller-1", "controller-2"}[e.key("who").below(4)]
}

// patience is how long one controller may be away: for long only if there is another, or nobody gets an answer.
func (e event) patience() time.Duration {
	if e.controllers() == 1 {
		return 2 * time.Minute
	}
	return 40 * time.Minute
}

func (e event) x() float64 { return e.key("x").float() }

// faultKinds is everything that the world may do, and how often in one story.
var faultKinds = []struct {
	name string
	most int
	act  func(e event) Action
}{
	{"reclaim", 6, func(e event) Action { return strike{Of: e.x()} }},
	{"notice", 4, func(e event) Action { return strike{e.x(), true} }},
	{"kill agent", 6, func(e event) Action { return killAgent{e.x()} }},
	{"pause agent", 3, func(e event) Action { return pauseAgent{e.x(), e.long(5*time.Second, 40*time.Second)} }},
	{"kill controller", 8, func(e event) Action { return kill{e.controller()} }},
	{"pause controller", 4, func(e event) Action {
		return pause{e.controller(), e.long(10*time.Second, 40*time.Second)}
	}},
	{"store", 2, func(e event) Action { return down{"store", e.long(2*time.Second, 2*time.Minute)} }},
	{"cut from store", 3, func(e event) Action {
		return cut{e.controller(), "store", e.long(e.patience()/20, e.patience()), e.x() < 0.5}
	}},
	{"cut", 2, func(e event) Action {
		contract := []string{"pool", "fleet", "github"}[e.key("what").below(3)]
		return cut{e.controller(), contract, e.long(5*time.Second, 3*time.Minute), e.x() < 0.5}
	}},
	{"cut agents", 1, func(e event) Action {
		return cut{agents, "store", e.long(2*time.Second, 3*time.Minute), e.x() < 0.5}
	}},
	{"cut clients", 1, func(e event) Action {
		return cut{clients, "store", e.long(2*time.Second, 2*time.Minute), e.x() < 0.5}
	}},
	{"stop", 2, func(e event) Action {
		return stop{e.stopped(), e.long(time.Second, 2*time.Minute)}
	}},
	{"config", 1, func(e event) Action {
		c := config{Largest: 15 + e.key("largest").below(60)}
		switch e.key("what").below(3) {
		case 1:
			c.Without = "large"
		case 2:
			c.Mode = []string{string(store.JIT), string(store.Token)}[e.key("mode").below(2)]
		}
		return c
	}},
	{"clock", 2, func(e event) Action {
		who := []string{string(Controller), agents, clients}[e.key("who").below(3)]
		back := e.x() < 0.5 || who == agents // one that is set forward may halt its machine before the store tells it better
		return setClock{who, e.key("by").between(time.Second, time.Hour).Truncate(time.Second), back}
	}},
	{"slow", 3, func(e event) Action {
		return slow{e.contract(), e.key("by").between(100*time.Millisecond, 4*time.Second), e.long(5*time.Second, 5*time.Minute)}
	}},
	{"throttle", 2, func(e event) Action {
		return throttle{share{0.1 + 0.4*e.x()}, e.long(2*time.Second, 3*time.Minute)}
	}},
	{"strike all", 1, func(e event) Action { return strikeAll{share{0.2 + 0.8*e.x()}} }},
	{"pause agents", 1, func(e event) Action { return pauseAgents{e.long(5*time.Second, 5*time.Minute)} }},
	{"list loses", 2, func(e event) Action {
		return listLoses{share{0.6 + 0.4*e.x()}, e.long(time.Minute, 10*time.Minute)}
	}},
	{"refuse end", 1, func(e event) Action { return refuseEnd{e.long(time.Minute, 10*time.Minute)} }},
	{"stray", 1, func(event) Action { return orphanMachine{"c6i.large"} }},
	{"reboot", 2, func(e event) Action { return reboot{share{0.01 + 0.99*e.x()}} }},
	{"disk", 3, func(e event) Action {
		return disk{[]string{"torn", "lost", "old", "full"}[e.key("how").below(4)], share{0.01 + 0.99*e.x()}, e.long(time.Second, time.Minute)}
	}},
	{"pool", 3, func(e event) Action { return down{"pool", e.long(2*time.Second, 10*time.Minute)} }},
	{"fleet", 2, func(e event) Action { return down{"fleet", e.long(2*time.Second, 3*time.Minute)} }},
	{"capacity", 3, func(e event) Action {
		a := scarce{N: e.key("left").below(8), span: e.long(time.Minute, 20*time.Minute)}
		switch e.key("slot").below(4) {
		case 1:
			a.Usage = store.Spot
		case 2:
			a.Type = "c6i.large"
		case 3:
			a.Usage, a.Zone = store.Spot, "local-a"
		}
		return a
	}},
	{"list lag", 2, func(e event) Action {
		return listLag{e.key("lag").between(5*time.Second, 4*time.Minute), e.long(time.Minute, 20*time.Minute)}
	}},
	{"template", 2, func(e event) Action { return template{Version: fmt.Sprint("v", e.n+2)} }},
	{"drain", 2, func(e event) Action {
		return drain{ID: fmt.Sprint("order-", e.n), Class: []string{"", "small", "large"}[e.key("class").below(3)]}
	}},
	{"github out", 2, func(e event) Action {
		mode := []githubsim.Mode{githubsim.Fails, githubsim.Hangs, githubsim.Lost, githubsim.Revoked}[e.key("mode").below(4)]
		o := githubOut{Mode: string(mode), span: e.long(2*time.Second, 5*time.Minute), API: e.x() < 0.5}
		o.Sessions = !o.API && mode != githubsim.Revoked && e.key("sessions").float() < 0.5
		return o
	}},
	{"github slow", 2, func(e event) Action {
		return githubSlow{e.key("by").between(500*time.Millisecond, 15*time.Second), e.long(10*time.Second, 10*time.Minute)}
	}},
	{"github view", 3, func(e event) Action {
		v := githubView{Lag: e.key("lag").between(0, latest/2).Truncate(time.Second), span: e.long(time.Minute, 20*time.Minute), Swings: e.x() < 0.5}
		v.Frozen, v.Shuffled = e.key("frozen").between(0, latest/2).Truncate(time.Second), e.key("shuffled").float() < 0.3
		return v
	}},
	{"github core limit", 2, func(e event) Action {
		return githubLimit{e.key("limit").below(20), e.span(10*time.Second, time.Minute, "core window", e.n), e.long(time.Minute, 10*time.Minute), e.x() < 0.5, true}
	}},
	{"github limit", 2, func(e event) Action {
		return githubLimit{
			Limit: 1 + e.key("limit").below(20), Window: e.span(10*time.Second, time.Minute, "window", e.n), span: e.long(time.Minute, 10*time.Minute), Secondary: e.x() < 0.5,
		}
	}},
	{"refuse", 2, func(e event) Action {
		item := []string{itemCosts, itemDemand, itemFloor, itemLaunch, itemInstance, itemStatus}[e.key("item").below(6)]
		return refuseItem{Item: item, span: e.long(time.Minute, 12*time.Minute), Of: e.x()}
	}},
	{"spoil", 1, func(e event) Action { return spoil{[]string{itemCosts, itemDemand}[e.key("item").below(2)]} }},
	{"deaf", 1, func(e event) Action { return deaf{e.x(), e.long(5*time.Second, 40*time.Second)} }},
	{"no prices", 2, func(e event) Action {
		return noPrices{e.long(10*time.Second, 15*time.Minute), []string{"", "c6i.", "m"}[e.key("type").below(3)]}
	}},
	{"limits", 1, func(event) Action { return config{Strict: true} }},
	{"github lists", 2, func(e event) Action {
		return githubView{Lag: e.key("lag").between(latest/3, latest).Truncate(time.Second), span: e.long(time.Minute, 20*time.Minute), Lists: true}
	}},
}
