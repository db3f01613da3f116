package onair

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/signalcast/signalcast/pkg/syntax"
	recordv1 "github.com/signalcast/signalcast/proto/record/v1"
)

// keepList is how long one reading of the live list serves who asks whether somebody
// is live.
const keepList = time.Second

// Config is what a Service is made of.
type Config struct {
	Store    Store
	Streams  Streams // nil: nothing is provisioned
	Audience Audience
	Records  recordv1.RecordServiceClient // of the ledger
	People   Directory
	Now      func() time.Time
	NewID    func() string // uuid v7
}

// Service is what happens on the air.
type Service struct {
	store     Store
	streams   Streams
	audience  Audience
	records   recordv1.RecordServiceClient
	directory Directory
	now       func() time.Time
	newID     func() string

	mu   sync.Mutex
	list []Show
	away error     // instead of a list
	read time.Time // zero: not read
}

// NewService needs all of the configuration but the streams.
func NewService(c Config) *Service {
	if c.Streams == nil {
		c.Streams = NoStreams{}
	}
	return &Service{store: c.Store, streams: c.Streams, audience: c.Audience, records: c.Records, directory: c.People, now: c.Now, newID: c.NewID}
}

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
	b.At, b.NewID, b.Provisioned = s.now(), s.newID(), url
	session, err := s.store.Beat(ctx, b)
	if session.StartedAt.Equal(session.LastBeat) { // it is new
		s.forget()
	}
	return session, err
}

// Offline ends the session of an operator; false: there was none.
// Fault: db_unavailable.
func (s *Service) Offline(ctx context.Context, handle syntax.Handle) (Session, bool, error) {
	defer s.forget()
	return s.store.End(ctx, handle, s.now())
}

// StreamChanged looks again where the viewers of an operator are sent.
// Fault: db_unavailable.
func (s *Service) StreamChanged(ctx context.Context, handle syntax.Handle) error {
	defer s.forget()
	url, err := s.provisioned(ctx, handle)
	if err != nil {
		return err
	}
	return s.store.Refresh(ctx, handle, url, s.now())
}

func (s *Service) provisioned(ctx context.Context, handle syntax.Handle) (string, error) {
	url, ok, err := s.streams.Playback(ctx, string(handle))
	if err != nil || !ok {
		return "", err
	}
	return url, nil
}

// Current is the open session of an operator, live or not yet; false: there is none.
// Fault: db_unavailable.
func (s *Service) Current(ctx context.Context, handle syntax.Handle) (Session, bool, error) {
	last, found, err := s.Last(ctx, handle)
	return last, found && last.Open(), err
}

// Last is the newest session of an operator as it stands now. Fault: db_unavailable.
func (s *Service) Last(ctx context.Context, handle syntax.Handle) (Session, bool, error) {
	last, found, err := s.store.Last(ctx, handle)
	return last.At(s.now()), found, err
}

// Live lists who can be watched now, the most watched first, MaxLive at most.
// Fault: db_unavailable.
func (s *Service) Live(ctx context.Context) ([]Show, error) {
	list, err := s.store.Live(ctx, s.now())
	if err != nil {
		return nil, err
	}
	s.count(ctx, list)
	return list, nil
}

// Recent lists who went off the air in the last 24 hours, the newest first.
// Fault: db_unavailable.
func (s *Service) Recent(ctx context.Context) ([]Past, error) {
	return s.store.Recent(ctx, s.now())
}

// Broadcasts is how many sessions an operator had. Fault: db_unavailable.
func (s *Service) Broadcasts(ctx context.Context, handle syntax.Handle) (int64, error) {
	return s.store.Count(ctx, handle)
}

// count puts the viewers of this moment into the list; while they cannot be counted,
// nobody watches.
func (s *Service) count(ctx context.Context, list []Show) {
	handles := make([]syntax.Handle, len(list))
	for i := range list {
		handles[i], list[i].Viewers = list[i].Handle, 0
	}
	if len(handles) == 0 {
		return
	}
	counts, err := s.audience.Count(ctx, handles, s.now())
	if err != nil {
		return
	}
	for i := range counts {
		list[i].Viewers = counts[i]
	}
}

// Viewers is how many watch an operator; while they cannot be counted, nobody.
func (s *Service) Viewers(ctx context.Context, handle syntax.Handle) int64 {
	one := []Show{{Handle: handle}}
	s.count(ctx, one)
	return one[0].Viewers
}

// Shown finds an operator in the live list of this second.
// Fault: db_unavailable.
func (s *Service) Shown(ctx context.Context, handle syntax.Handle) (Show, bool, error) {
	list, err := s.shown(ctx)
	for i := range list {
		if list[i].Handle == handle {
			return list[i], true, err
		}
	}
	return Show{}, false, err
}

// OnAir returns the live list of this second by operator. Fault: db_unavailable.
func (s *Service) OnAir(ctx context.Context) (map[syntax.Handle]Show, error) {
	list, err := s.shown(ctx)
	out := make(map[syntax.Handle]Show, len(list))
	for i := range list {
		out[list[i].Handle] = list[i]
	}
	return out, err
}

// shown is the live list as it was read a second ago or less.
func (s *Service) shown(ctx context.Context) ([]Show, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.now()
	if !s.read.IsZero() && now.Sub(s.read) < keepList && !now.Before(s.read) {
		return s.list, s.away
	}
	// What fails is not tried again by everybody who waits for it.
	s.list, s.away = s.store.Live(ctx, now)
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

// errAway is why an audience of nobody counts nobody.
var errAway = errors.New("nobody is counted")

// NoAudience is where nobody is counted.
type NoAudience struct{}

// See implements Audience.
func (NoAudience) See(context.Context, syntax.Handle, string, string, time.Time) (int64, error) {
	return 0, errAway
}

// Count implements Audience.
func (NoAudience) Count(context.Context, []syntax.Handle, time.Time) ([]int64, error) {
	return nil, errAway
}
