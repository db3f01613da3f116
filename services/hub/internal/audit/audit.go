package audit

import (
	"context"
	"time"
)

// Stage tells the two entries of one act apart: asked for before, answered
// after. An act whose first entry cannot be written does not happen.
type Stage string

// The stages.
const (
	Asked    Stage = "asked"
	Answered Stage = "answered"
)

// Entry is one line of the audit log.
type Entry struct {
	ID        string // uuid v7
	At        time.Time
	Stage     Stage
	Actor     string // admin, cron
	Action    string // method and route
	Target    string // what it was done to, may be empty
	RequestID string
	IP        string
	Code      string // answered: ok or the code of the fault
	Detail    []byte // a JSON object of what was asked
}

// Store stores entries. Error: db_unavailable.
type Store interface {
	// Add adds an entry.
	Add(ctx context.Context, e Entry) error
}
