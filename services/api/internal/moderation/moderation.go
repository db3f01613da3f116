package moderation

import (
	"context"
	"time"

	"github.com/signalcast/signalcast/pkg/apperr"
)

// Maximum numbers of entries in one request or response.
const (
	MaxListed = 500 // decisions in one response
	MaxThings = 500 // things in one request
)

// ErrNotFound is returned if the signal, event, profile, market or station of a decision does not exist.
var ErrNotFound = apperr.New(apperr.NotFound, "not_found", "no content of this kind has this id; check kind and id")

// Kinds lists the kinds of objects whose texts can be hidden.
var Kinds = [...]string{"signal", "event", "profile", "market", "station"}

// Decision is a decision of an administrator to hide or show the text of one object.
type Decision struct {
	Kind   string // one of Kinds
	ID     string // id of the thing; for a profile, its handle
	Hidden bool
	Reason string
	By     string // name of the administrator
	At     time.Time
}

// Thing identifies a signal, event, profile, market or station whose text can be hidden.
type Thing struct {
	Kind string // one of Kinds
	ID   string // id of the thing; for a profile, the id of its operator, in Author its handle
}

// Store stores decisions and applies them to stored texts. Errors: ErrNotFound, db_unavailable.
type Store interface {
	// Moderate stores a decision and applies it.
	Moderate(ctx context.Context, d Decision) error
	// Author returns the operator that is the author of a thing, and the call that it belongs to. Either is empty if there is none.
	Author(ctx context.Context, t Thing) (operatorID, signalID string, err error)
	// FindModerated returns nil if the thing exists, else ErrNotFound.
	FindModerated(ctx context.Context, kind, id string) error
	// ListModerated returns the newest decisions, newest first.
	ListModerated(ctx context.Context, limit int) ([]Decision, error)
	// AreHidden reports for each thing whether it is hidden, in the order of things. The id of
	// a profile must be a uuid. A thing that does not exist is not hidden.
	AreHidden(ctx context.Context, things []Thing) ([]bool, error)
}
