package edge

import (
	"context"
	"sync"
	"time"

	"golang.org/x/sync/singleflight"

	"github.com/signalcast/signalcast/pkg/syntax"
	wirev1 "github.com/signalcast/signalcast/proto/wire/v1"
)

// Times of what is known about stories.
const (
	storyTTL  = 30 * time.Second
	storyLast = 10 * time.Minute // old answers are better than none while the ledger is away
)

// stories knows which market leads the situation of an event. It is asked when
// somebody follows a link, so it learns at the first question and again when what
// it knows is old; a flood of unknown events costs the ledger one look in storyTTL.
type stories struct {
	ledger wirev1.WireReadServiceClient
	now    func() time.Time
	looks  singleflight.Group

	mu    sync.Mutex
	leads map[string]syntax.MarketID
	at    time.Time
	wide  bool // lane by lane, too
}

func newStories(ledger wirev1.WireReadServiceClient, now func() time.Time) *stories {
	return &stories{ledger: ledger, now: now}
}

// lead is the market that leads the situation of an event; empty when nothing of
// the event moves. The fault is the ledger's; with a market it says that the market
// led some minutes ago.
func (s *stories) lead(ctx context.Context, key string) (syntax.MarketID, error) {
	for _, wide := range [...]bool{false, true} {
		id, known := s.known(key, wide, storyTTL)
		if id != "" {
			return id, nil
		}
		if known {
			continue
		}
		if err := s.learn(ctx, wide); err != nil {
			id, _ := s.known(key, wide, storyLast)
			return id, err
		}
		if id, _ := s.known(key, wide, storyTTL); id != "" {
			return id, nil
		}
	}
	return "", nil
}

// known tells what is known of an event, and whether it is known that far and no
// older than that.
func (s *stories) known(key string, wide bool, age time.Duration) (syntax.MarketID, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.leads == nil || s.now().Sub(s.at) >= age {
		return "", false
	}
	return s.leads[key], s.wide || !wide
}

// learn looks once for all who ask at the same time.
func (s *stories) learn(ctx context.Context, wide bool) error {
	name := "all"
	if wide {
		name = "lanes"
	}
	look := s.looks.DoChan(name, func() (any, error) { return nil, s.look(context.WithoutCancel(ctx), wide) })
	select {
	case answer := <-look:
		return answer.Err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// look reads the situations of every window, the longest first: those of all lanes
// together, and wide, those of each lane, where a list of all ends too early.
func (s *stories) look(ctx context.Context, wide bool) error {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	lanes := []syntax.Lane{""}
	if wide {
		for _, lane := range syntax.Lanes {
			if lane.Filterable() {
				lanes = append(lanes, lane)
			}
		}
	}
	leads := map[string]syntax.MarketID{}
	for i := range syntax.Windows {
		window := syntax.Windows[len(syntax.Windows)-1-i]
		for _, lane := range lanes {
			list, err := listSituations(ctx, s.ledger, wireQuery{window, lane, maxSituations})
			if err != nil {
				return err
			}
			for _, sit := range list.GetSituations() {
				key := sit.GetEventKey()
				if _, ok := leads[key]; !ok && key != "" {
					leads[key] = syntax.MarketID(sit.GetMarkets()[0].GetMarketId())
				}
			}
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.leads, s.at, s.wide = leads, s.now(), wide
	return nil
}
