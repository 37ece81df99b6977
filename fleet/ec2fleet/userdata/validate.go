package userdata

import (
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/remuda-run/remuda/internal/ec2form"
	"github.com/remuda-run/remuda/internal/lazyregexp"
)

var (
	nameForm     = lazyregexp.New(`^[a-z0-9][a-z0-9-]{0,31}$`) // as in the configuration
	regionForm   = lazyregexp.New(`^[a-z0-9]+(-[a-z0-9]+)+$`)
	variableForm = lazyregexp.New(`^[A-Za-z_][A-Za-z0-9_]*$`)
	userForm     = lazyregexp.New(`^[A-Za-z_][A-Za-z0-9_.-]{0,31}$`) // as in the configuration
)

// The created limit is at least what shutdown can count, and at most a day, as a request's longest
// runtime is by default.
const (
	minLimit = time.Minute
	maxLimit = 24 * time.Hour
)

// problems collects everything that is wrong.
type problems []error

// check adds a problem unless ok.
func (p *problems) check(ok bool, field, want string, got any) {
	if !ok {
		*p = append(*p, fmt.Errorf("%s: must be %s, got %v", field, want, got))
	}
}

// text is check of what got quotes.
func (p *problems) text(ok bool, field, want, got string) {
	p.check(ok, field, want, fmt.Sprintf("%q", got))
}

// machine checks what every machine has.
func (p *problems) machine(region, user string, program Program) {
	p.text(regionForm().MatchString(region), "region", "the name of a region, such as eu-west-1", region)
	p.text(user == "" || userForm().MatchString(user), "user", "the name of a user", user)
	p.download("program", program.URL, program.SHA256)
	p.text(program.Baked == "" || ec2form.Path.Match(program.Baked), "baked program", ec2form.Path.String(), program.Baked)
}

// download checks what is fetched from raw, unless that is empty.
func (p *problems) download(what, raw, sum string) {
	if raw != "" {
		p.check(ec2form.Download.Match(raw), what+" URL", ec2form.Download.String(), quoteURL(raw))
		p.check(sum != "", what+" SHA-256", "set if there is a URL", "nothing")
	}
	p.text(sum == "" || ec2form.SHA256.Match(sum), what+" SHA-256", ec2form.SHA256.String(), sum)
}

// validate returns everything that is wrong, joined.
func (d Data) validate() error {
	var p problems
	p.text(nameForm().MatchString(d.Name), "name", "1 to 32 of a-z, 0-9 and -, not starting with -", d.Name)
	p.machine(d.Region, d.User, d.Program)
	p.check(d.Limit >= minLimit && d.Limit <= maxLimit, "created limit", fmt.Sprintf("from %s to %s", minLimit, maxLimit), d.Limit)
	p.check(len(d.Config) > 0, "configuration", "set", "nothing")
	for name, value := range d.Network {
		p.text(variableForm().MatchString(name) && !strings.ContainsAny(value, "\x00\n"), "network variable", "named by letters, digits and _, with a value of one line", name)
	}
	taken := []string{ProgramPath, ConfigPath, EnvPath, UnitPath, LimitPath, LibPath}
	for i, f := range d.Files {
		field := fmt.Sprintf("file %d (%q)", i, f.Path)
		p.text(ec2form.Path.Match(f.Path), field, "at "+ec2form.Path.String(), f.Path)
		p.check(!slices.Contains(taken, f.Path), field, "at a path of its own", fmt.Sprintf("%q, which is taken", f.Path))
		p.check(f.Mode&^0o777 == 0 && f.Mode != 0, field+" mode", "permissions from 0001 to 0777", fmt.Sprintf("%04o", uint32(f.Mode)))
		taken = append(taken, f.Path)
	}
	return errors.Join(p...)
}

// quoteURL shows a refused URL without what may be a password.
func quoteURL(raw string) string {
	u, err := url.Parse(raw)
	if err != nil {
		return "something that is no URL"
	}
	return fmt.Sprintf("%q", u.Redacted())
}
