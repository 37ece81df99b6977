package ec2machine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"time"
)

// MetadataAddresses are those of the instance metadata service (EC2 User Guide, "Access instance
// metadata for an EC2 instance").
var MetadataAddresses = []string{"169.254.169.254", "fd00:ec2::254"}

// metadataPort is that of the service.
const metadataPort = 80

// Firewall keeps everyone but root from the instance metadata service: who reaches it has the credentials of
// the machine's role. It knows users by the owner of the socket. Naming the runner's user would not do: a
// process of that user can have a subordinate one (subuid(5)). A container with an address of its own is
// stopped by the hop limit instead (launch template), and one in the host's network that is root there, or
// who may become root, by nothing.
type Firewall struct {
	Exempt []int // users who may reach it as root may
	Barred []int // users as whom to try whether the rules hold
	// Try reports as a user whether an address is reached: nil if so, ErrUnreachable if not.
	Try func(ctx context.Context, uid int, address string) error
}

// Users that the rules are about: all that can own a file but root (linux/uidgid.h: the one above is none).
const (
	firstUser = 1
	LastUser  = 1<<32 - 2
)

// Errors of Firewall.Try.
var (
	// ErrUnreachable says that the way to an address is closed.
	ErrUnreachable = errors.New("ec2machine: unreachable")
	errNoEffect    = errors.New("the rules do not hold")
	// errNoFilter says that the machine has no program to set rules with.
	errNoFilter = errors.New("neither nft nor iptables is on this machine: add one to the image, or set agent.metadataFirewall to off")
)

// filterLimit bounds one call of nft or iptables, the wait for its lock included; tryLimit one try.
const (
	filterLimit = 10 * time.Second
	tryLimit    = 5 * time.Second
)

// Ensure sets the rules, whatever was set before, and tries as the barred users whether they hold. An error
// means that one may reach the service. It takes some milliseconds: others flush rules, so it is called before
// each registration.
func (f Firewall) Ensure(ctx context.Context) error {
	set := f.set(ctx)
	if errors.Is(set, errNoFilter) {
		return fmt.Errorf("metadata firewall: %w", set)
	}
	for _, uid := range f.Barred {
		for _, address := range MetadataAddresses {
			err := f.try(ctx, uid, address)
			switch {
			case err == nil:
				return fmt.Errorf("metadata firewall: user %d reaches %s: %w", uid, address, cmp.Or(set, errNoEffect))
			case !errors.Is(err, ErrUnreachable):
				return fmt.Errorf("metadata firewall: try as user %d: %w", uid, errors.Join(err, set))
			}
		}
	}
	return nil // a rule that could not be set was not needed: the machine has no such network
}

func (f Firewall) try(ctx context.Context, uid int, address string) error {
	ctx, cancel := context.WithTimeout(ctx, tryLimit)
	defer cancel()
	return f.Try(ctx, uid, address)
}

// users returns the ranges of users that the rules are about, as nft(8) and iptables-extensions(8) write them.
// They begin above root rather than except it: "not root" would be true of packets without an owner, too.
func (f Firewall) users() []string {
	var ranges []string
	from := firstUser
	for _, uid := range append(slices.Sorted(slices.Values(f.Exempt)), LastUser+1) {
		if from < uid {
			ranges = append(ranges, fmt.Sprintf("%d-%d", from, uid-1))
		}
		from = max(from, uid+1)
	}
	return ranges
}

// set sets the rules by the first program there is. The service speaks HTTP; a reset ends a connection at once,
// while Linux takes an ICMP error in answer to its own first packet for one that passes, and tries for a second.
func (f Firewall) set(ctx context.Context) error {
	if has("nft") {
		return run(ctx, filterLimit, f.nft(), "nft", "-f", "-")
	}
	if !has("iptables") {
		return errNoFilter
	}
	var errs []error
	for i, program := range []string{"iptables", "ip6tables"} {
		if !has(program) {
			errs = append(errs, fmt.Errorf("%s: %w", program, exec.ErrNotFound))
			continue
		}
		for _, users := range f.users() {
			rule := []string{
				"OUTPUT", "-d", MetadataAddresses[i], "-p", "tcp", "-m", "owner", "--uid-owner", users, "-j", "REJECT", "--reject-with", "tcp-reset",
			}
			if run(ctx, filterLimit, "", append([]string{program, "-w", "-C"}, rule...)...) == nil {
				continue // it is there
			}
			errs = append(errs, run(ctx, filterLimit, "", append([]string{program, "-w", "-I"}, rule...)...))
		}
	}
	return errors.Join(errs...)
}

// nft is a ruleset that replaces our own table as a whole and touches no other (nft(8)): the first two
// lines make sure that it is there and empty it, in the same transaction.
func (f Firewall) nft() string {
	return fmt.Sprintf(`add table inet remuda
delete table inet remuda
table inet remuda {
	chain output {
		type filter hook output priority 0; policy accept;
		meta skuid { %[1]s } ip daddr %[2]s meta l4proto tcp reject with tcp reset
		meta skuid { %[1]s } ip6 daddr %[3]s meta l4proto tcp reject with tcp reset
	}
}
`, strings.Join(f.users(), ", "), MetadataAddresses[0], MetadataAddresses[1])
}

func has(program string) bool {
	_, err := exec.LookPath(program)
	return err == nil
}
