package livestream

import (
	"context"
	"sync"
	"time"

	"github.com/signalcast/signalcast/pkg/protocol"
	"github.com/signalcast/signalcast/pkg/redisx"
	recordv1 "github.com/signalcast/signalcast/proto/record/v1"
	"github.com/signalcast/signalcast/services/hub/internal/ingest"
	"github.com/signalcast/signalcast/services/hub/internal/operator"
)

// keepList is how long one reading of the live list serves who asks whether somebody
// is live.
const keepList = time.Second

// Config is what a Service is made of.
type Config struct {
	Store   Store
	Ingest  *ingest.Service              // nil: no streams are provisioned
	Redis   *redisx.Client               // counts viewers
	Records recordv1.RecordServiceClient // of the ledger
	People  operator.Directory
	Now     func() time.Time
	NewID   func() string // uuid v7
}

// Service manages sessions, overlays and viewers of live operators.
type Service struct {
	Config

	mu   sync.Mutex
	list []Show
	away error     // instead of a list
	read time.Time // zero: not read
}

// NewService returns a Service. All of the configuration except Ingest is required.
func NewService(c Config) *Service { return &Service{Config: c} }

// Beat takes a heartbeat: of a client, or of video that arrived. Faults:
// ErrNotApproved, db_unavailable.
func (s *Service) Beat(ctx context.Context, b Beat) (Session, error) {
	return s.beat(ctx, Start{Beat: b})
}

func (s *Service) beat(ctx context.Context, b Start) (Session, error) {
	url, err := s.provisioned(ctx, b.Handle)
	if err != nil {
		return Session{}, err
	}
	b.At, b.NewID, b.Provisioned = s.Now(), s.NewID(), url
	session, err := s.Store.Beat(ctx, b)
	if session.StartedAt.Equal(session.LastBeat) { // it is new
		s.forget()
	}
	return session, err
}

// Offline ends the session of an operator; false: there was none.
// Error: db_unavailable.
func (s *Service) Offline(ctx context.Context, handle protocol.Handle) (Session, bool, error) {
	defer s.forget()
	return s.Store.End(ctx, handle, s.Now())
}

// StreamChanged looks again where the viewers of an operator are sent.
// Error: db_unavailable.
func (s *Service) StreamChanged(ctx context.Context, handle protocol.Handle) error {
	defer s.forget()
	url, err := s.provisioned(ctx, handle)
	if err != nil {
		return err
	}
	return s.Store.Refresh(ctx, handle, url, s.Now())
}

func (s *Service) provisioned(ctx context.Context, handle protocol.Handle) (string, error) {
	if s.Ingest == nil {
		return "", nil
	}
	return s.Ingest.Playback(ctx, handle)
}

// Current is the open session of an operator, live or not yet; false: there is none.
// Error: db_unavailable.
func (s *Service) Current(ctx context.Context, handle protocol.Handle) (Session, bool, error) {
	last, found, err := s.Last(ctx, handle)
	return last, found && last.Open(), err
}

// Last is the newest session of an operator as it stands now. Error: db_unavailable.
func (s *Service) Last(ctx context.Context, handle protocol.Handle) (Session, bool, error) {
	last, found, err := s.Store.Last(ctx, handle)
	return last.At(s.Now()), found, err
}

// OnScreen returns the session of an operator that viewers can watch, with the market that is shown: that of the overlay
// signal, else the one of the heartbeats. It returns false if the operator is not live. Error: db_unavailable.
func (s *Service) OnScreen(ctx context.Context, handle protocol.Handle) (Session, bool, error) {
	session, _, err := s.Current(ctx, handle)
	if err != nil || !session.Live() {
		return Session{}, false, err
	}
	if over, set, err := s.Overlay(ctx, handle); err == nil && set {
		session.MarketID = over.MarketID
	}
	return session, true, nil
}

// Live lists who can be watched now, the most watched first, MaxLive at most.
// Error: db_unavailable.
func (s *Service) Live(ctx context.Context) ([]Show, error) {
	list, err := s.Store.Live(ctx, s.Now())
	if err != nil {
		return nil, err
	}
	s.count(ctx, list)
	return list, nil
}

// Recent lists who went off the air in the last 24 hours, the newest first.
// Error: db_unavailable.
func (s *Service) Recent(ctx context.Context) ([]Past, error) {
	return s.Store.Recent(ctx, s.Now())
}

// count puts the viewers of this moment into the list; while they cannot be counted,
// nobody watches.
func (s *Service) count(ctx context.Context, list []Show) {
	handles := make([]protocol.Handle, len(list))
	for i := range list {
		handles[i], list[i].Viewers = list[i].Handle, 0
	}
	if len(handles) == 0 {
		return
	}
	counts, err := s.countViewers(ctx, handles, s.Now())
	if err != nil {
		return
	}
	for i := range counts {
		list[i].Viewers = counts[i]
	}
}

// Viewers is how many watch an operator; while they cannot be counted, nobody.
func (s *Service) Viewers(ctx context.Context, handle protocol.Handle) int64 {
	one := []Show{{Handle: handle}}
	s.count(ctx, one)
	return one[0].Viewers
}

// Shown finds an operator in the live list of this second.
// Error: db_unavailable.
func (s *Service) Shown(ctx context.Context, handle protocol.Handle) (Show, bool, error) {
	list, err := s.shown(ctx)
	for i := range list {
		if list[i].Handle == handle {
			return list[i], true, err
		}
	}
	return Show{}, false, err
}

// OnAir returns the live list of this second by operator. Error: db_unavailable.
func (s *Service) OnAir(ctx context.Context) (map[protocol.Handle]Show, error) {
	list, err := s.shown(ctx)
	out := make(map[protocol.Handle]Show, len(list))
	for i := range list {
		out[list[i].Handle] = list[i]
	}
	return out, err
}

// shown is the live list as it was read a second ago or less.
func (s *Service) shown(ctx context.Context) ([]Show, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.Now()
	if !s.read.IsZero() && now.Sub(s.read) < keepList && !now.Before(s.read) {
		return s.list, s.away
	}
	// What fails is not tried again by everybody who waits for it.
	s.list, s.away = s.Store.Live(ctx, now)
	s.read = now
	if ctx.Err() != nil { // who asked has left, and says nothing about the list
		s.read = time.Time{}
	}
	return s.list, s.away
}

// forget has the live list read again.
func (s *Service) forget() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.read = time.Time{}
}
