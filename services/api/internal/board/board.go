package board

import (
	"context"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/signalcast/signalcast/pkg/syntax"
	"github.com/signalcast/signalcast/services/api/internal/operator"
)

// Group names which operators a board shows.
type Group string

// The groups: human is everybody but machines; independent and house split it.
const (
	Human       Group = "human"
	All         Group = "all"
	Independent Group = "independent"
	House       Group = "house"
	Automated   Group = "automated"
)

// ParseGroup falls back to the given default.
func ParseGroup(s string, fallback Group) Group {
	switch g := Group(s); g {
	case Human, All, Independent, House, Automated:
		return g
	}
	return fallback
}

// Tiers lists the tiers of a group; empty means every tier.
func (g Group) Tiers() []string {
	switch g {
	case Human:
		return []string{string(syntax.Independent), string(syntax.House)}
	case Independent, House, Automated:
		return []string{string(g)}
	}
	return nil
}

// Row is one operator on a board.
type Row struct {
	Rank      int
	Operator  operator.Operator
	Score     int64
	Total     int64
	Won, Lost int64
	Pending   int64
	Accuracy  int
	Broadcast *Broadcast
}

// Broadcast is the broadcast score and what it is made of (contract 4.8.3).
type Broadcast struct {
	Score                   int // 0-1000
	Skill, Activity, Reach  float64
	Calls28, Takes28        int64
	WindowScore, WindowDone int64
}

// Store reads counters.
type Store interface {
	// ListScores ranks by score, resolved, accuracy, handle.
	ListScores(ctx context.Context, tiers []string, lane string, limit int) ([]Row, error)
	// ListActivity lists everybody of the tiers with the figures of the broadcast
	// score; since is the zero time for all of life.
	ListActivity(ctx context.Context, tiers []string, lane string, since, month time.Time) ([]Row, error)
}

// Service serves the boards.
type Service struct {
	store Store
	now   func() time.Time
}

// NewService wires the subject.
func NewService(store Store, now func() time.Time) *Service {
	return &Service{store: store, now: now}
}

// Scores is the board of the API host.
func (s *Service) Scores(ctx context.Context, g Group, lane string, limit int) ([]Row, error) {
	rows, err := s.store.ListScores(ctx, g.Tiers(), lane, limit)
	for i := range rows {
		rows[i].Rank = i + 1
	}
	return rows, err
}

// window28 is the stretch of the activity figures.
const window28 = 28 * 24 * time.Hour

// BroadcastBoard is the board of the hub; window is "28d" or everything.
func (s *Service) BroadcastBoard(ctx context.Context, g Group, lane, window string, limit int) ([]Row, error) {
	month := s.now().Add(-window28)
	var since time.Time
	if window == "28d" {
		since = month
	}
	rows, err := s.store.ListActivity(ctx, g.Tiers(), lane, since, month)
	if err != nil {
		return nil, err
	}
	for i := range rows {
		rows[i].Broadcast.measure()
	}
	slices.SortFunc(rows, func(a, b Row) int {
		for _, d := range []int64{int64(b.Broadcast.Score - a.Broadcast.Score), b.Score - a.Score, b.Total - a.Total} {
			if d != 0 {
				return int(max(-1, min(1, d)))
			}
		}
		return strings.Compare(a.Operator.Handle, b.Operator.Handle)
	})
	rows = rows[:min(len(rows), limit)]
	for i := range rows {
		rows[i].Rank = i + 1
	}
	return rows, nil
}

// measure is the formula of contract 4.8.3. Ten phantom zero calls shrink small
// samples; reach counts the viewer minutes of 28 days, of which there are none
// before operators broadcast.
func (b *Broadcast) measure() {
	b.Skill = min(1, max(0, 0.5+float64(b.WindowScore)/(50*float64(b.WindowDone+10))))
	b.Activity = min(1, (float64(b.Calls28)+float64(b.Takes28)/2)/28)
	b.Reach = 0
	b.Score = int(math.Round(500*b.Skill + 300*b.Activity + 200*b.Reach))
}
