package ec2test

import (
	"encoding/base64"
	"time"
)

// Console is what an instance showed on its console.
type Console struct {
	Text   string
	At     time.Time // when it was taken
	Latest bool      // as on the Nitro system, which shows it at any time
}

// SetConsole gives an instance output on its console.
func (s *Server) SetConsole(id string, c Console) { s.set(func() { s.instances.consoles[id] = c }) }

// console has no element for output while there is none, as EC2 does.
func (n *instances) console(q *node) (string, *failure) {
	id := q.str("InstanceId")
	if n.byID[id] == nil {
		return "", bad("InvalidInstanceID.NotFound", "The instance ID '%s' does not exist", id)
	}
	c, ok := n.consoles[id]
	switch {
	case !ok:
		return text("instanceId", id) + text("timestamp", time.Now().UTC().Format(time.RFC3339)), nil
	case q.str("Latest") == "true" && !c.Latest:
		return "", bad("UnsupportedOperation", "This instance type does not support retrieving the latest console logs.")
	}
	return text("instanceId", id) + text("timestamp", c.At.Format(time.RFC3339)) +
		text("output", base64.StdEncoding.EncodeToString([]byte(c.Text))), nil
}
