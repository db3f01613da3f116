package moderation

import (
	"context"
	"time"

	"github.com/signalcast/signalcast/pkg/fault"
)

// MaxListed is the most decisions that a list returns.
const MaxListed = 500

// ErrNotFound is the fault of a decision about a thing that does not exist.
var ErrNotFound = fault.New(fault.NotFound, "not_found", "there is no such thing of this kind")

// Kinds are the kinds of things with text.
var Kinds = [...]string{"signal", "event", "profile", "market", "station"}

// Decision is the newest decision of an administrator about the text of a thing.
type Decision struct {
	Kind   string // one of Kinds
	ID     string // of a profile its handle
	Hidden bool
	Reason string
	By     string // name of the administrator
	At     time.Time
}

// Store keeps decisions and applies them to what is read. Faults: ErrNotFound, db_unavailable.
type Store interface {
	// Moderate stores a decision and applies it.
	Moderate(ctx context.Context, d Decision) error
	// FindModerated returns ErrNotFound for a thing that does not exist.
	FindModerated(ctx context.Context, kind, id string) error
	// ListModerated returns the last decisions, newest first.
	ListModerated(ctx context.Context, limit int) ([]Decision, error)
}
