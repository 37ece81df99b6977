package store

import (
	"encoding/json"
	"time"
)

// Launch is the intent of one launch call, written before the call.
type Launch struct {
	Token         string          `json:"-"`
	ResourceClass string          `json:"resourceClass"`
	UsageClass    string          `json:"usageClass"`
	Count         int             `json:"count"`
	Plan          json.RawMessage `json:"plan"` // frozen input of fleet.Launch
	Seats         []LaunchSeat    `json:"seats"`
	Done          bool            `json:"done"`
	Error         string          `json:"error"` // why fewer came than asked for
	CreatedAt     Time            `json:"createdAt"`
	DoneAt        Time            `json:"doneAt"`
	Version       int64           `json:"-"`
	ExpiresAt     time.Time       `json:"-"`
}

// LaunchSeat says for whom an instance is launched.
type LaunchSeat struct {
	RequestID RequestID    `json:"requestId"`
	Attempt   int          `json:"attempt"`
	Count     int          `json:"count"`
	Instances []InstanceID `json:"instances"` // what came for it
}
