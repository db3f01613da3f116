package app

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"google.golang.org/grpc"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"

	"github.com/signalcast/signalcast/pkg/fault"
	"github.com/signalcast/signalcast/pkg/idp"
	"github.com/signalcast/signalcast/services/hub/internal/operator"
)

// errClockAway is what a clock that does not answer becomes; the programme is
// then off, so no caller sees it.
var errClockAway = fault.New(fault.Unavailable, "clock_unavailable", "")

// logins gives the verifier the words of the subject.
type logins struct{ verifier *idp.Verifier }

// Verify implements caller.Logins.
func (l logins) Verify(ctx context.Context, raw string) (operator.Identity, error) {
	s, err := l.verifier.Verify(ctx, raw)
	return operator.Identity{
		Issuer: s.Issuer, Subject: s.Subject, Primary: s.Primary, Username: s.Username, Name: s.Name, SignedInAt: s.SignedInAt,
	}, err
}

// once is a check that holds from its first success on: what a start waits
// for must not take a running hub away when it fails later, because a hub
// without its ledger still answers every read and says why it refuses a write.
func once(test func(context.Context) error) func(context.Context) error {
	var seen atomic.Bool
	return func(ctx context.Context) error {
		if seen.Load() {
			return nil
		}
		err := test(ctx)
		if err == nil {
			seen.Store(true)
		}
		return err
	}
}

var errNotServing = errors.New("the peer does not serve yet")

// serving asks the health service at the other end of a link.
func serving(conn grpc.ClientConnInterface) func(context.Context) error {
	client := healthpb.NewHealthClient(conn)
	return func(ctx context.Context) error {
		ctx, cancel := context.WithTimeout(ctx, time.Second)
		defer cancel()
		r, err := client.Check(ctx, &healthpb.HealthCheckRequest{})
		if err == nil && r.GetStatus() != healthpb.HealthCheckResponse_SERVING {
			err = errNotServing
		}
		return err
	}
}
