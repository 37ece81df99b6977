package pool

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"
)

// errNoInstance says that a message names nothing that could be looked up.
var errNoInstance = errors.New("no instance id")

// Encode returns the body of the message for t: JSON, the threshold in UTC and whole milliseconds.
func Encode(t Ticket) (string, error) {
	if t.InstanceID == "" {
		return "", fmt.Errorf("encode ticket: %w", errNoInstance)
	}
	t.Threshold = t.Threshold.UTC().Truncate(time.Millisecond)
	body, err := json.Marshal(t)
	if err != nil {
		return "", fmt.Errorf("encode ticket %s: %w", t.InstanceID, err)
	}
	return string(body), nil
}

// Decode reads the body of a message. An error means that it is malformed: no ticket, or one
// without an instance id. Nothing else is checked, because the record decides; unknown attributes
// are ignored, because a newer version may have sent it.
func Decode(body string) (Ticket, error) {
	var t Ticket
	if err := json.Unmarshal([]byte(body), &t); err != nil {
		return Ticket{}, fmt.Errorf("decode ticket: %.200v", err) //nolint:errorlint // it quotes the message, which may be long
	}
	if t.InstanceID == "" {
		return Ticket{}, fmt.Errorf("decode ticket: %w", errNoInstance)
	}
	return t, nil
}
