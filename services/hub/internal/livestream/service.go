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

// listCacheTime is the time for which the live list is cached.
const listCacheTime = time.Second

// Config holds the dependencies of a Service.
type Config struct {
	Store   Store
	Ingest  *ingest.Service              // nil: no streams are provisioned
	Redis   *redisx.Client               // counts viewers
	Records recordv1.RecordServiceClient // of the ledger
	People  operator.Directory
	Now     func() time.Time
	NewID   func() string // returns a new UUIDv7
}

// Service manages sessions, overlay signals and viewers of live operators.
type Service struct {
	Config

	mu      sync.Mutex
	list    []Show
	listErr error     // error of the read of list
	read    time.Time // time of the read of list; zero: not cached
}

// NewService builds a Service. All fields of c except Ingest are required.
func NewService(c Config) *Service { return &Service{Config: c} }

// Beat records a heartbeat: of a client, or of video that arrived. Errors: ErrNotApproved, db_unavailable.
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
	if session.StartedAt.Equal(session.LastBeat) { // the session is new
		s.invalidate()
	}
	return session, err
}

// Offline ends the session of an operator. It returns false if there was none. Error: db_unavailable.
func (s *Service) Offline(ctx context.Context, handle protocol.Handle) (Session, bool, error) {
	defer s.invalidate()
	return s.Store.End(ctx, handle, s.Now())
}

// StreamChanged updates the stream URL of the operator's session after a change of its streams. Error: db_unavailable.
func (s *Service) StreamChanged(ctx context.Context, handle protocol.Handle) error {
	defer s.invalidate()
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

// Current returns the open session of an operator, live or not yet. It returns false if there is none. Error:
// db_unavailable.
func (s *Service) Current(ctx context.Context, handle protocol.Handle) (Session, bool, error) {
	last, found, err := s.Last(ctx, handle)
	return last, found && last.Open(), err
}

// Last returns the newest session of an operator in its current state. Error: db_unavailable.
func (s *Service) Last(ctx context.Context, handle protocol.Handle) (Session, bool, error) {
	last, found, err := s.Store.Last(ctx, handle)
	return last.At(s.Now()), found, err
}

// OnScreen returns the session of an operator that viewers can watch. Its MarketID is the market of the overlay signal,
// else of the heartbeats. It returns false if the operator is not live. Error: db_unavailable.
func (s *Service) OnScreen(ctx context.Context, handle protocol.Handle) (Session, bool, error) {
	session, _, err := s.Current(ctx, handle)
	if err != nil || !session.Live() {
		return Session{}, false, err
	}
	if overlay, set, err := s.Overlay(ctx, handle); err == nil && set {
		session.MarketID = overlay.MarketID
	}
	return session, true, nil
}

// Live lists live operators, most viewers first, at most MaxLive. Error: db_unavailable.
func (s *Service) Live(ctx context.Context) ([]Show, error) {
	list, err := s.Store.Live(ctx, s.Now())
	if err != nil {
		return nil, err
	}
	s.count(ctx, list)
	return list, nil
}

// Recent lists sessions that ended in the last 24 hours, newest first. Error: db_unavailable.
func (s *Service) Recent(ctx context.Context) ([]Past, error) {
	return s.Store.Recent(ctx, s.Now())
}

// count sets the current numbers of viewers in the list; 0 without Redis.
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

// Viewers returns the number of viewers of an operator; 0 without Redis.
func (s *Service) Viewers(ctx context.Context, handle protocol.Handle) int64 {
	one := []Show{{Handle: handle}}
	s.count(ctx, one)
	return one[0].Viewers
}

// Shown returns an operator of the cached live list. It returns false if the operator is not live. Error:
// db_unavailable.
func (s *Service) Shown(ctx context.Context, handle protocol.Handle) (Show, bool, error) {
	list, err := s.shown(ctx)
	for i := range list {
		if list[i].Handle == handle {
			return list[i], true, err
		}
	}
	return Show{}, false, err
}

// OnAir returns the cached live list by operator. Error: db_unavailable.
func (s *Service) OnAir(ctx context.Context) (map[protocol.Handle]Show, error) {
	list, err := s.shown(ctx)
	out := make(map[protocol.Handle]Show, len(list))
	for i := range list {
		out[list[i].Handle] = list[i]
	}
	return out, err
}

// shown returns the live list, cached for listCacheTime.
func (s *Service) shown(ctx context.Context) ([]Show, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.Now()
	if !s.read.IsZero() && now.Sub(s.read) < listCacheTime && !now.Before(s.read) {
		return s.list, s.listErr
	}
	// An error is cached too, so that waiting requests do not repeat a failing query.
	s.list, s.listErr = s.Store.Live(ctx, now)
	s.read = now
	if ctx.Err() != nil { // the client has disconnected, so the error says nothing about the database
		s.read = time.Time{}
	}
	return s.list, s.listErr
}

// invalidate removes the live list from the cache.
func (s *Service) invalidate() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.read = time.Time{}
}
