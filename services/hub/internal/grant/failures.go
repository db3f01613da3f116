package grant

import (
	"context"
	"time"

	"github.com/signalcast/signalcast/services/hub/internal/caller"
)

// MaxFailures is how many failed client authentications in any minute are taken
// from one address for one client.
const MaxFailures = caller.MaxFailures

// Attempt is a client authentication from somewhere. Client and address count
// together: who knows a client's id cannot lock that client out from elsewhere.
type Attempt struct{ Client, IP string }

// Failures counts failed client authentications.
type Failures interface {
	// Wait is how long the client has to stay away; zero means come in.
	Wait(ctx context.Context, a Attempt) time.Duration
	// Failed adds a failure.
	Failed(ctx context.Context, a Attempt)
}

// LocalFailures counts them in this process, in memory of bounded size.
type LocalFailures struct {
	seen *caller.Failures[Attempt]
	now  func() time.Time
}

// NewLocalFailures makes an empty count.
func NewLocalFailures(now func() time.Time) *LocalFailures {
	return &LocalFailures{caller.NewFailures[Attempt](), now}
}

// Wait implements Failures.
func (f *LocalFailures) Wait(_ context.Context, a Attempt) time.Duration {
	return f.seen.Wait(a, f.now())
}

// Failed implements Failures.
func (f *LocalFailures) Failed(_ context.Context, a Attempt) { f.seen.Note(a, f.now()) }
