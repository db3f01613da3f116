package creation

import (
	"context"
	"time"

	"github.com/signalcast/signalcast/services/hub/internal/message"
	"github.com/signalcast/signalcast/services/hub/internal/onair"
	"github.com/signalcast/signalcast/services/hub/internal/operator"
)

// Profiles keeps what operators say of themselves, once for a message.
type Profiles interface {
	UpdateProfile(ctx context.Context, who operator.ID, messageID string, p operator.Profile) error
}

// Air keeps broadcasts and opens sessions, once for a message.
type Air interface {
	Announce(ctx context.Context, b onair.Broadcast) error
	// Announced faults with not_found, and with forbidden for somebody else's.
	Announced(ctx context.Context, id, owner string) (onair.Broadcast, error)
	// GoLive gives the session. Fault: not_approved.
	GoLive(ctx context.Context, g onair.GoLive) (showID string, err error)
}

// People finds operators. Fault: not_found.
type People interface {
	OperatorByID(ctx context.Context, id operator.ID) (operator.Operator, error)
}

// Attester signs and keeps messages of the hub's own.
type Attester interface {
	Attest(ctx context.Context, a message.Attestation) (message.Record, error)
}

// Due is an attestation to come.
type Due struct {
	Subject string
	Body    []byte
	At      time.Time
}

// Dues keeps what is due. Fault of all: db_unavailable.
type Dues interface {
	// AddDue leaves a subject that is there as it is.
	AddDue(ctx context.Context, d Due) error
	// ListDues lists what was added before that time, the oldest first.
	ListDues(ctx context.Context, before time.Time, limit int) ([]Due, error)
	DropDue(ctx context.Context, subject string) error
}
