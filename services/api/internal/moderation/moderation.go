package moderation

import (
	"context"
	"time"

	"github.com/signalcast/signalcast/pkg/apperr"
)

// Bounds.
const (
	MaxListed = 500 // decisions that a list returns
	MaxThings = 500 // things of one question about what is hidden
)

// ErrNotFound is the fault of a decision about a thing that does not exist.
var ErrNotFound = apperr.New(apperr.NotFound, "not_found", "there is no such thing of this kind")

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

// Thing is something with text that can be hidden.
type Thing struct {
	Kind string // one of Kinds
	ID   string // of a profile the id of its operator, not its handle
}

// Store keeps decisions and applies them to what is read. Faults: ErrNotFound, db_unavailable.
type Store interface {
	// Moderate stores a decision and applies it.
	Moderate(ctx context.Context, d Decision) error
	// FindModerated returns ErrNotFound for a thing that does not exist.
	FindModerated(ctx context.Context, kind, id string) error
	// ListModerated returns the last decisions, newest first.
	ListModerated(ctx context.Context, limit int) ([]Decision, error)
	// HiddenThings reports for each thing whether it is hidden, in the order of things. The id of
	// a profile must be a uuid. A thing that does not exist is not hidden.
	HiddenThings(ctx context.Context, things []Thing) ([]bool, error)
}
