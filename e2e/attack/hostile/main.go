//go:build linux

// Program hostile is what a hostile job starts in order to outlive its run. Tests build it, put it on a machine, and jobs call it.
//
// Each attack holds a lifeline: a connection to the test that every process of the attack inherits. The kernel closes it when the
// last of them ends, so the test needs no list of processes to know that an attack is over.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"runtime"
	"time"
)

// The first goroutine stays on the main thread: attacks fork it, stop it and end it.
func init() { runtime.LockOSThread() }

// options are those of all commands.
type options struct {
	line   string        // address of the test
	name   string        // of the lifeline
	kind   string        // what to do: see kinds
	as     string        // the uids to have: user, half or sub
	ns     string        // the user namespace to be in: "", mapped or own
	plain  string        // this program, without a set-uid bit
	file   string        // this program, set-uid to the subordinate user: see arm
	mapper string        // this program, set-uid root, in place of newuidmap; "": newuidmap and newgidmap
	sub    int           // the subordinate uid
	life   time.Duration // of each link of a chain
	wide   int           // how many chains, or processes, there are at a time
	count  int           // how many links a chain has; 0: it goes on
}

// commands are what the first argument can be.
var commands = map[string]func(options) error{
	"arm":    arm,    // makes file
	"own":    own,    // gives file to the subordinate user, in the namespace of arm
	"map":    mapIDs, // writes the maps of a namespace, as root
	"leave":  leave,  // starts an attack and returns once it stands
	"attack": attack, // is the attack
	"steal":  steal,  // is what a chain becomes when the test asks for tokens
	"hold":   hold,   // is a job that waits until the test ends it
}

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintf(os.Stderr, "hostile %v: %v\n", os.Args[1:], err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) == 0 || commands[args[0]] == nil {
		return errors.New("the first argument must be a command")
	}
	var o options
	f := flag.NewFlagSet(args[0], flag.ContinueOnError)
	f.StringVar(&o.line, "line", "", "")
	f.StringVar(&o.name, "name", "", "")
	f.StringVar(&o.kind, "kind", "", "")
	f.StringVar(&o.as, "as", "user", "")
	f.StringVar(&o.ns, "ns", "", "")
	f.StringVar(&o.plain, "plain", "", "")
	f.StringVar(&o.file, "file", "", "")
	f.StringVar(&o.mapper, "mapper", "", "")
	f.IntVar(&o.sub, "sub", 0, "")
	f.DurationVar(&o.life, "life", 0, "")
	f.IntVar(&o.wide, "wide", 1, "")
	f.IntVar(&o.count, "count", 0, "")
	if err := f.Parse(args[1:]); err != nil {
		return err
	}
	if o.plain == "" {
		var err error
		if o.plain, err = os.Executable(); err != nil {
			return err
		}
	}
	err := commands[args[0]](o)
	if err != nil && o.line != "" {
		o.failed(err) // a timed job has nowhere else to report it
	}
	return err
}

// args are the arguments of a command that has the same options.
func (o options) args(command string) []string {
	return []string{
		command, "-line", o.line, "-name", o.name, "-kind", o.kind, "-as", o.as, "-ns", o.ns, "-plain", o.plain, "-file", o.file,
		"-mapper", o.mapper, "-sub", fmt.Sprint(o.sub), "-life", o.life.String(), "-wide", fmt.Sprint(o.wide), "-count", fmt.Sprint(o.count),
	}
}
