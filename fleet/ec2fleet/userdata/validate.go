package userdata

import (
	"errors"
	"fmt"
	"net/url"
	"path"
	"regexp"
	"slices"
	"strings"
	"time"
)

var (
	nameForm   = regexp.MustCompile(`^[a-z0-9][a-z0-9-]{0,31}$`) // as the configuration has it
	regionForm = regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)+$`)
	sumForm    = regexp.MustCompile(`^[0-9a-fA-F]{64}$`)
	userForm   = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_.-]{0,31}$`) // as the configuration has it

	// s3Form has the names of buckets (S3 User Guide, "General purpose bucket naming rules"), and keys of which no
	// character is encoded, as signatures would have to agree on.
	s3Form = regexp.MustCompile(`^s3://[a-z0-9][a-z0-9.-]{1,61}[a-z0-9](/[A-Za-z0-9_.~-]+)+$`)
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
	p.text(regionForm.MatchString(region), "region", "the name of a region, such as eu-west-1", region)
	p.text(user == "" || userForm.MatchString(user), "user", "the name of a user", user)
	p.download("program", program.URL, program.SHA256)
	p.text(program.Baked == "" || plainPath(program.Baked), "baked program", plainPathForm, program.Baked)
}

// download checks what is fetched from raw, unless that is empty.
func (p *problems) download(what, raw, sum string) {
	if raw != "" {
		p.check(fetchable(raw), what+" URL", "an http or https URL without credentials, or s3://bucket/key with a key of A-Z, a-z, 0-9, /, _, ., ~ and -", quoteURL(raw))
		p.check(sum != "", what+" SHA-256", "set if there is a URL", "nothing")
	}
	p.text(sum == "" || sumForm.MatchString(sum), what+" SHA-256", "64 hexadecimal digits", sum)
}

// validate returns everything that is wrong, joined.
func (d Data) validate() error {
	var p problems
	p.text(nameForm.MatchString(d.Name), "name", "1 to 32 of a-z, 0-9 and -, not starting with -", d.Name)
	p.machine(d.Region, d.User, d.Program)
	p.check(d.Limit >= minLimit && d.Limit <= maxLimit, "created limit", fmt.Sprintf("from %s to %s", minLimit, maxLimit), d.Limit)
	p.check(len(d.Config) > 0, "configuration", "set", "nothing")
	taken := []string{ProgramPath, ConfigPath, EnvPath, UnitPath, LimitPath, LibPath}
	for i, f := range d.Files {
		field := fmt.Sprintf("file %d (%q)", i, f.Path)
		p.text(plainPath(f.Path), field, "at "+plainPathForm, f.Path)
		p.check(!slices.Contains(taken, f.Path), field, "at a path of its own", fmt.Sprintf("%q, which is taken", f.Path))
		p.check(f.Mode&^0o777 == 0 && f.Mode != 0, field+" mode", "permissions from 0001 to 0777", fmt.Sprintf("%04o", uint32(f.Mode)))
		taken = append(taken, f.Path)
	}
	return errors.Join(p...)
}

const plainPathForm = "a clean absolute path without control characters"

// plainPath reports whether p can be written in any list of paths. A line break or a backslash would
// have a meaning to sha256sum.
func plainPath(p string) bool {
	return path.IsAbs(p) && path.Clean(p) == p && p != "/" && !strings.ContainsFunc(p, control) && !strings.Contains(p, `\`)
}

func control(r rune) bool { return r < ' ' || r == 0x7f }

// fetchable reports whether raw can be handed to curl as it is.
func fetchable(raw string) bool {
	if object, ok := strings.CutPrefix(raw, "s3://"); ok {
		return s3Form.MatchString(raw) && path.Clean(object) == object
	}
	u, err := url.Parse(raw)
	return err == nil && u.User == nil && (u.Scheme == "https" || u.Scheme == "http") && u.Host != "" &&
		!strings.ContainsFunc(raw, func(r rune) bool { return control(r) || r == ' ' })
}

// quoteURL shows a refused URL without what may be a password.
func quoteURL(raw string) string {
	u, err := url.Parse(raw)
	if err != nil {
		return "something that is no URL"
	}
	return fmt.Sprintf("%q", u.Redacted())
}
