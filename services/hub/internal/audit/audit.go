package audit

import (
	"context"
	"time"
)

// Stage is the position of an entry in an action: one entry is written before the action and one after it. If the first
// cannot be written the action is not executed.
type Stage string

// Stages of an audited action: before and after its execution.
const (
	Asked    Stage = "asked"
	Answered Stage = "answered"
)

// Entry is an entry of the audit log.
type Entry struct {
	ID        string // UUIDv7
	At        time.Time
	Stage     Stage
	Actor     string // admin or cron
	Action    string // method and route
	Target    string // object of the action; may be empty
	RequestID string
	IP        string
	Code      string // stage answered: ok or the code of the error
	Detail    []byte // JSON object with the parameters
}

// Store stores entries of the audit log. Error: db_unavailable.
type Store interface {
	// Add appends an entry to the audit log.
	Add(ctx context.Context, e Entry) error
}
