package audit

import (
	"context"
	"time"
)

// Stage states when an audit entry is written: before or after the action. If the entry before the action cannot be written, the
// action must not be executed.
type Stage string

// Stages of the two entries of an action: Asked before its execution, Answered after it.
const (
	Asked    Stage = "asked"
	Answered Stage = "answered"
)

// AddressLife is the time for which the network addresses of entries are stored.
const AddressLife = 30 * 24 * time.Hour

// Entry is an entry of the audit log. An action can have two entries, one for each Stage.
type Entry struct {
	ID        string // UUIDv7
	At        time.Time
	Stage     Stage
	Actor     string // admin or cron
	Action    string // method and route
	Target    string // object of the action; may be empty
	RequestID string
	IP        string // stored for AddressLife
	Code      string // ok or the error code; only in stage answered
	Detail    []byte // JSON object with the parameters of the action
}

// Store writes entries to the audit log. Error: db_unavailable.
type Store interface {
	// Add appends an entry to the audit log.
	Add(ctx context.Context, e Entry) error
}
