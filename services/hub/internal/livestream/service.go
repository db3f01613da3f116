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

// listCacheTime is the time for which the list of live operators is cached.
const listCacheTime = time.Second

// Config holds the dependencies of a Service.
type Config struct {
	Store   Store
	Ingest  *ingest.Service              // nil: no streams are provisioned
	Redis   *redisx.Client               // stores and counts viewers
	Records recordv1.RecordServiceClient // of the ledger
	People  operator.Directory
	Now     func() time.Time
	NewID   func() string // returns a new UUIDv7
}

// Service manages sessions, overlay signals and viewers of live operators. It is safe for concurrent use.
type Service struct {
	Config

	mu      sync.Mutex
	list    []Show
	listErr error     // error of the read of list
	read    time.Time // time of the read of list; zero: not cached
}

// NewService builds a Service. All fields of c except Ingest are required.
func NewService(c Config) *Service { return &Service{Config: c} }

// Beat records a heartbeat, which a client sends or which arriving video causes. If the operator has no open session, it
// starts a session. Errors: ErrNotApproved, db_unavailable.
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

// Offline ends the open session of an operator. It returns false if the operator has none. Error: db_unavailable.
func (s *Service) Offline(ctx context.Context, handle protocol.Handle) (Session, bool, error) {
	defer s.invalidate()
	return s.Store.End(ctx, handle, s.Now())
}

// StreamChanged updates the stream URL of the operator's open session. It must be called after a change of the operator's
// streams. Error: db_unavailable.
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

// Current returns the open session of an operator, even if it is not live yet. It returns false if there is no open session.
// Error: db_unavailable.
func (s *Service) Current(ctx context.Context, handle protocol.Handle) (Session, bool, error) {
	last, found, err := s.Last(ctx, handle)
	return last, found && last.Open(), err
}

// Last returns the newest session of an operator in its current state. It returns false if the operator has no session. Error:
// db_unavailable.
func (s *Service) Last(ctx context.Context, handle protocol.Handle) (Session, bool, error) {
	last, found, err := s.Store.Last(ctx, handle)
	return last.At(s.Now()), found, err
}

// OnScreen returns the operator's session if viewers can watch it. Its MarketID is the market of the overlay signal, or else
// the market that the heartbeats name. If the operator is not live, OnScreen returns false. Error: db_unavailable.
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

// Live lists the live operators with current numbers of viewers, at most MaxLive. The store orders them by viewers in the newest
// sample, most first. Error: db_unavailable.
func (s *Service) Live(ctx context.Context) ([]Show, error) {
	list, err := s.Store.Live(ctx, s.Now())
	if err != nil {
		return nil, err
	}
	s.count(ctx, list)
	return list, nil
}

// Recent lists the sessions that ended within span, newest first, at most MaxRecent. Error: db_unavailable.
func (s *Service) Recent(ctx context.Context, span time.Duration) ([]Past, error) {
	return s.Store.Recent(ctx, s.Now(), span)
}

// count sets the current number of viewers of each show in list. It sets 0 while Redis is unavailable.
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

// Viewers returns the current number of viewers of an operator's stream. It returns 0 while Redis is unavailable.
func (s *Service) Viewers(ctx context.Context, handle protocol.Handle) int64 {
	one := []Show{{Handle: handle}}
	s.count(ctx, one)
	return one[0].Viewers
}

// Shown returns the entry of an operator in the cached live list. It returns false if the operator is not live. Error:
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

// IsLive reports whether an operator is in the cached live list. Error: db_unavailable.
func (s *Service) IsLive(ctx context.Context, handle protocol.Handle) (bool, error) {
	_, live, err := s.Shown(ctx, handle)
	return live, err
}

// OnAir returns the cached live list as a map by handle. Error: db_unavailable.
func (s *Service) OnAir(ctx context.Context) (map[protocol.Handle]Show, error) {
	list, err := s.shown(ctx)
	out := make(map[protocol.Handle]Show, len(list))
	for i := range list {
		out[list[i].Handle] = list[i]
	}
	return out, err
}

// shown returns the list of live operators. It caches the list and an error for listCacheTime.
func (s *Service) shown(ctx context.Context) ([]Show, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.Now()
	if !s.read.IsZero() && now.Sub(s.read) < listCacheTime && !now.Before(s.read) {
		return s.list, s.listErr
	}
	// The cached error keeps waiting requests from repeating a failing query.
	s.list, s.listErr = s.Store.Live(ctx, now)
	s.read = now
	if ctx.Err() != nil { // the client has disconnected, so the database may be available
		s.read = time.Time{}
	}
	return s.list, s.listErr
}

// invalidate removes the list of live operators from the cache.
func (s *Service) invalidate() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.read = time.Time{}
}
