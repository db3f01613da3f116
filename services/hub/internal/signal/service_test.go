package signal

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/grpc"

	"github.com/signalcast/signalcast/pkg/apperr"
	"github.com/signalcast/signalcast/pkg/ledgerclient"
	signalv1 "github.com/signalcast/signalcast/proto/signal/v1"
	"github.com/signalcast/signalcast/services/hub/internal/operator"
)

// ledger is a fake connection to the ledger that returns a given result for each attempt. It records the ids.
type ledger struct {
	grpc.ClientConnInterface
	answers []func(context.Context) error

	mu  sync.Mutex // a batch can be in flight after its caller has returned
	ids []string
}

// Invoke implements grpc.ClientConnInterface.
func (l *ledger) Invoke(ctx context.Context, _ string, args, reply any, _ ...grpc.CallOption) error {
	l.mu.Lock()
	switch r := args.(type) {
	case *signalv1.FileManyRequest:
		id := r.GetCalls()[0].GetDraft().GetId()
		l.ids = append(l.ids, id)
		reply.(*signalv1.FileManyResponse).Answers = []*signalv1.FileAnswer{{Id: id}}
	case *signalv1.AppendEventRequest:
		l.ids = append(l.ids, r.GetEventId())
	}
	answer := l.answers[len(l.ids)-1]
	l.mu.Unlock()
	return answer(ctx)
}

// tried returns the ids that all attempts have sent.
func (l *ledger) tried() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.ids)
}

func lost(context.Context) error  { return ErrUnavailable.Wrap(errors.New("reset by peer")) }
func found(context.Context) error { return nil }
func hangs(ctx context.Context) error {
	<-ctx.Done()
	return ErrUnavailable.Wrap(ctx.Err())
}

func refuses(f *apperr.Fault) func(context.Context) error {
	return func(context.Context) error { return f }
}

func TestWrites(t *testing.T) {
	t.Parallel()
	closed := apperr.New(apperr.Conflict, "market_closed", "")
	db := apperr.New(apperr.Unavailable, "db_unavailable", "")
	for name, c := range map[string]struct {
		answers []func(context.Context) error
		want    error
		tries   int
		atMost  time.Duration
	}{
		"done":                     {[]func(context.Context) error{found}, nil, 1, 0},
		"lost once":                {[]func(context.Context) error{lost, found}, nil, 2, pause},
		"lost, then refused":       {[]func(context.Context) error{lost, refuses(closed)}, closed, 2, pause},
		"lost twice":               {[]func(context.Context) error{lost, lost}, ErrUnavailable, 2, pause},
		"refused":                  {[]func(context.Context) error{refuses(closed)}, closed, 1, 0},
		"database unavailable":     {[]func(context.Context) error{refuses(db)}, db, 1, 0},
		"no answer, then one":      {[]func(context.Context) error{hangs, found}, nil, 2, firstAttempt + pause},
		"no answer and none after": {[]func(context.Context) error{hangs, hangs}, ErrUnavailable, 2, total},
	} {
		synctest.Test(t, func(t *testing.T) {
			began := time.Now()
			l := &ledger{answers: c.answers}
			filed, err := NewService(ledgerclient.New(l), func() string { return "one" }).File(t.Context(), operator.Actor{}, &signalv1.Draft{})
			if !errors.Is(err, c.want) || err == nil && filed.GetId() != "one" || len(l.tried()) != c.tries {
				t.Errorf("%s: %q, %v after %d attempts", name, filed.GetId(), err, len(l.tried()))
			}
			for _, id := range l.tried() {
				if id != "one" {
					t.Errorf("%s: an attempt with another id %q", name, id)
				}
			}
			if took := time.Since(began); took > c.atMost {
				t.Errorf("%s: took %v", name, took)
			}
			l = &ledger{answers: c.answers}
			if _, err := NewService(ledgerclient.New(l), func() string { return "two" }).Append(t.Context(), operator.Actor{}, &signalv1.AppendEventRequest{}, ""); !errors.Is(err, c.want) {
				t.Errorf("%s: event: %v", name, err)
			}
		})
	}
}

// TestCallerLeaves checks that a write is not repeated after its caller has disconnected.
func TestCallerLeaves(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		l := &ledger{answers: []func(context.Context) error{func(context.Context) error { cancel(); return ErrUnavailable }}}
		if _, err := NewService(ledgerclient.New(l), func() string { return "one" }).File(ctx, operator.Actor{}, &signalv1.Draft{}); err == nil || len(l.tried()) != 1 {
			t.Errorf("%v after %d attempts", err, len(l.tried()))
		}
	})
}

func TestParse(t *testing.T) {
	t.Parallel()
	for raw, want := range map[string]FeedType{"": FeedRecent, "recent": FeedRecent, "open": FeedOpen, "beat_crowd": FeedBeatCrowd, "OPEN": FeedRecent} {
		if got := ParseFeedType(raw); got != want {
			t.Errorf("%q: %s", raw, got)
		}
	}
	for _, raw := range []string{"", "resolved", "Take"} {
		if _, ok := ParseEventType(raw); ok {
			t.Errorf("%q is accepted", raw)
		}
	}
}
