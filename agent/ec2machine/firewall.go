package ec2machine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// MetadataAddresses are those of the instance metadata service (EC2 User Guide, "Access instance
// metadata for an EC2 instance").
var MetadataAddresses = []string{"169.254.169.254", "fd00:ec2::254"}

// metadataPort is that of the service.
const metadataPort = "80"

// Firewall keeps one user of the machine from the instance metadata service: who reaches it has the
// credentials of the machine's role. It knows the user by the owner of the socket, so a container with
// an address of its own is stopped by the hop limit instead (launch template), and one in the host's
// network, or who may become root, by nothing.
type Firewall struct {
	UID int
	// Try reports as the user whether an address is reached: nil if so, ErrUnreachable if not.
	Try func(ctx context.Context, address string) error
}

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

// Ensure sets the rules, whatever was set before, and tries as the user whether they hold. An error
// means that the user may reach the service.
func (f Firewall) Ensure(ctx context.Context) error {
	set := f.set(ctx)
	if errors.Is(set, errNoFilter) {
		return fmt.Errorf("metadata firewall: %w", set)
	}
	for _, address := range MetadataAddresses {
		err := f.try(ctx, address)
		switch {
		case err == nil:
			return fmt.Errorf("metadata firewall: user %d reaches %s: %w", f.UID, address, cmp.Or(set, errNoEffect))
		case !errors.Is(err, ErrUnreachable):
			return fmt.Errorf("metadata firewall: try as user %d: %w", f.UID, errors.Join(err, set))
		}
	}
	return nil // a rule that could not be set was not needed: the machine has no such network
}

func (f Firewall) try(ctx context.Context, address string) error {
	ctx, cancel := context.WithTimeout(ctx, tryLimit)
	defer cancel()
	return f.Try(ctx, address)
}

// set sets the rules by the first program there is.
func (f Firewall) set(ctx context.Context) error {
	if has("nft") {
		return filter(ctx, f.nft(), "nft", "-f", "-")
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
		rule := []string{"OUTPUT", "-d", MetadataAddresses[i], "-m", "owner", "--uid-owner", strconv.Itoa(f.UID), "-j", "REJECT"}
		if filter(ctx, "", program, append([]string{"-w", "-C"}, rule...)...) == nil {
			continue // it is there
		}
		errs = append(errs, filter(ctx, "", program, append([]string{"-w", "-I"}, rule...)...))
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
		meta skuid %[1]d ip daddr %[2]s reject
		meta skuid %[1]d ip6 daddr %[3]s reject
	}
}
`, f.UID, MetadataAddresses[0], MetadataAddresses[1])
}

func has(program string) bool {
	_, err := exec.LookPath(program)
	return err == nil
}

func filter(ctx context.Context, input, program string, args ...string) error {
	ctx, cancel := context.WithTimeout(ctx, filterLimit)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Stdin = strings.NewReader(input)
	cmd.WaitDelay = time.Second / 2 // what it started may keep its output open
	out, err := cmd.CombinedOutput()
	if err != nil {
		return fmt.Errorf("%s: %w: %s", program, err, strings.TrimSpace(string(out)))
	}
	return nil
}

// Statuses of the program that TryAs runs.
const (
	StatusReached     = 10
	StatusUnreachable = 11
)

// TryAs makes a Firewall.Try of a command that calls Reach with its last argument and ends with one of
// the statuses above. It runs as cred, without any environment.
func TryAs(cred *syscall.Credential, command ...string) func(ctx context.Context, address string) error {
	return func(ctx context.Context, address string) error {
		cmd := exec.CommandContext(ctx, command[0], append(command[1:len(command):len(command)], address)...)
		cmd.Dir, cmd.Env = "/", []string{}
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: cred}
		cmd.WaitDelay = time.Second / 2
		out, err := cmd.CombinedOutput()
		var exit *exec.ExitError
		switch {
		case errors.As(err, &exit) && exit.ExitCode() == StatusReached:
			return nil
		case errors.As(err, &exit) && exit.ExitCode() == StatusUnreachable:
			return ErrUnreachable
		case err == nil:
			err = errors.New("unexpected success")
		}
		return fmt.Errorf("reach %s: %w: %s", address, err, strings.TrimSpace(string(out)))
	}
}

// Reach connects to the metadata service at address. It returns nil if somebody answered there, and
// ErrUnreachable if the machine itself refused at once; a silence proves nothing.
func Reach(ctx context.Context, address string) error {
	ctx, cancel := context.WithTimeout(ctx, tryLimit/2)
	defer cancel()
	var d net.Dialer
	c, err := d.DialContext(ctx, "tcp", net.JoinHostPort(address, metadataPort))
	if err == nil {
		return c.Close()
	}
	for _, refusal := range []error{syscall.ECONNREFUSED, syscall.EHOSTUNREACH, syscall.ENETUNREACH, syscall.EACCES, syscall.EPERM, syscall.EADDRNOTAVAIL, syscall.EAFNOSUPPORT} {
		if errors.Is(err, refusal) {
			return fmt.Errorf("%w: %w", ErrUnreachable, err)
		}
	}
	return err
}
