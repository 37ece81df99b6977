package sqspool

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"

	"github.com/remuda-run/remuda/internal/lazyregexp"
)

const (
	// maxName bounds a queue's name, of letters, digits, - and _ (SQS API, CreateQueue, QueueName).
	maxName = 80
	// The suffix of a name that does not say it all: 32 bits show whose it is in a list, 64 more show
	// its class. Installations of one account and region have some dozens of classes.
	ownerDigits, classDigits = 8, 16
	// reserved is the class whose plain name would be that of the notification queue of a table that is
	// called like the prefix.
	reserved = "events"
)

var (
	foreign   = lazyregexp.New(`[^A-Za-z0-9_-]`)
	plainForm = lazyregexp.New(`^[A-Za-z0-9_]+$`)
	hashForm  = lazyregexp.New(fmt.Sprintf(`^[0-9a-f]{%d}$`, ownerDigits+classDigits))
)

// queueName returns the name of the queue of class: `<prefix>-<class>` where no one else could mean
// that, else the same, sanitised and cut, with a hash of both (H58). A dash in a class counts as
// doubt, because prefix a and class b-c would look like prefix a-b and class c.
func queueName(prefix, class string) string {
	name := prefix + "-" + class
	if plain(class) && prefix != "" && !foreign().MatchString(prefix) && len(name) <= maxName {
		return name
	}
	pair := sha256.Sum256(fmt.Appendf(nil, "%d:%s%s", len(prefix), prefix, class))
	return cut(sanitise(name)) + "-" + owner(prefix) + hex.EncodeToString(pair[:])[:classDigits]
}

// plain reports whether the last part of a name can be class and nothing else.
func plain(class string) bool {
	return plainForm().MatchString(class) && !hashForm().MatchString(class) && class != reserved
}

// ours reports whether queueName gives that name to some class of prefix.
func ours(prefix, name string) bool {
	dash := strings.LastIndexByte(name, '-')
	if dash < 0 {
		return false
	}
	last := name[dash+1:]
	if hashForm().MatchString(last) {
		return strings.HasPrefix(last, owner(prefix))
	}
	return plain(last) && name[:dash] == prefix
}

// namePrefix is how all names of prefix begin, and some of others.
func namePrefix(prefix string) string { return cut(sanitise(prefix + "-")) }

func sanitise(s string) string { return foreign().ReplaceAllLiteralString(s, "-") }

// cut leaves room for the suffix.
func cut(s string) string { return s[:min(len(s), maxName-1-ownerDigits-classDigits)] }

func owner(prefix string) string {
	sum := sha256.Sum256([]byte(prefix))
	return hex.EncodeToString(sum[:])[:ownerDigits]
}
