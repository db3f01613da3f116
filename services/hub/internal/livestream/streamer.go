package livestream

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/signalcast/signalcast/pkg/protocol"
)

// MaxLanes is the maximum number of lanes in a streamer profile.
const MaxLanes = 5

// Status is the status of an operator as a streamer.
type Status string

// Values of Status. Any operator can go live except a suspended one. Streams are provisioned only for approved operators.
const (
	Unregistered Status = "none"
	Pending      Status = "pending"
	Approved     Status = "approved"
	Suspended    Status = "suspended"
)

// Streamer is the streamer profile of an operator.
type Streamer struct {
	Status Status
	Lanes  []string // lanes of the broadcast programme that the operator chose
}

// Register requests the approval of an operator as a streamer. first is false if the operator was already registered; the status
// is then unchanged. If lanes is nil, the stored lanes remain. Error: db_unavailable.
func (s *Service) Register(ctx context.Context, handle protocol.Handle, lanes []string) (status Status, first bool, err error) {
	return s.Store.Register(ctx, handle, lanes, s.Now())
}

// ChosenLanes returns the lanes of markets that an operator has chosen. Error: db_unavailable.
func (s *Service) ChosenLanes(ctx context.Context, handle protocol.Handle) ([]protocol.Lane, error) {
	profile, err := s.Store.Streamer(ctx, handle)
	return marketLanes(profile.Lanes), err
}

// ChooseLanes stores the lanes of an operator's streamer profile. Error: db_unavailable.
func (s *Service) ChooseLanes(ctx context.Context, handle protocol.Handle, lanes []string) error {
	return s.Store.ChooseLanes(ctx, handle, lanes, s.Now())
}

// Decide sets the streamer status of an operator. A suspension ends the live session, clears the overlay signal, and hides
// streams and clips. Error: db_unavailable.
func (s *Service) Decide(ctx context.Context, handle protocol.Handle, status Status) error {
	defer s.invalidate()
	return s.Store.Decide(ctx, handle, status, s.Now())
}

// Hide hides the streams, clips and overlay of an operator on pages, in API responses and in events. If hidden is false, it shows
// them again. The session of a hidden operator is not listed as live. Stored sessions and their statistics do not change. Error:
// db_unavailable.
func (s *Service) Hide(ctx context.Context, handle protocol.Handle, hidden bool) error {
	defer s.invalidate()
	var url string
	if !hidden {
		var err error
		if url, err = s.provisioned(ctx, handle); err != nil {
			return err
		}
	}
	return s.Store.Hide(ctx, handle, hidden, url, s.Now())
}

// laneKeys maps lane names to lanes of the broadcast programme. The upper-case names are content lanes of markets.
var laneKeys = map[string]string{
	"sports": "sports", "music": "music", "film": "film", "tv": "tv", "fashion": "fashion", "culture": "culture", "crypto": "crypto",
	"politics": "politics", "news": "news", "science": "science", "tech": "tech", "economy": "economy",
	"SPORT": "sports", "MUSIC": "music", "ENTERTAINMENT": "film", "CULTURE": "culture", "CRYPTO": "crypto",
	"POLITICS": "politics", "WORLD": "news", "SCIENCE": "science", "TECH": "tech", "ECONOMY": "economy",
}

// ParseLanes converts lane names to lanes of the broadcast programme. It returns false for an unknown or repeated lane, or for
// more than MaxLanes.
func ParseLanes(list []string) (keys []string, ok bool) {
	keys = make([]string, 0, len(list))
	seen := map[string]bool{}
	for _, word := range list {
		key := laneKeys[word]
		if key == "" || seen[key] {
			return nil, false
		}
		seen[key] = true
		keys = append(keys, key)
	}
	return keys, len(keys) <= MaxLanes
}

// marketLanes returns the lanes of markets that belong to lanes of the broadcast programme, without those that have none.
func marketLanes(keys []string) []protocol.Lane {
	var lanes []protocol.Lane
	for _, lane := range protocol.Lanes {
		if key := laneKeys[string(lane)]; key != "" && slices.Contains(keys, key) {
			lanes = append(lanes, lane)
		}
	}
	return lanes
}

// Limits of the texts of an overlay signal, in characters, and its lifetime.
const (
	MaxName       = 200
	MaxSlug       = 120
	MaxAnnotation = 180
	// OverlayLife is the time after which an overlay signal expires. A heartbeat or a new signal restarts this time.
	OverlayLife = 12 * time.Hour
)

// Overlay is the overlay signal of an operator: the market that the operator shows over the video.
type Overlay struct {
	MarketID   protocol.MarketID
	Name       string
	YesPct     *float64 // 0 to 100; nil: unknown
	Handle     protocol.Handle
	Slug       *string // nil: none
	UpdatedAt  time.Time
	Annotation *string
	ClosesAt   time.Time // zero: unknown
}

// IsSlug reports whether s has 1 to MaxSlug characters of a-z, 0-9 and -.
func IsSlug(s string) bool {
	for i := range len(s) {
		if c := s[i]; (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '-' {
			return false
		}
	}
	return s != "" && len(s) <= MaxSlug
}

// SlugOf returns the slug of a market that has none: its id in lower case, in which "-" replaces other characters than a-z and
// 0-9. It is cut to MaxSlug characters.
func SlugOf(id protocol.MarketID) string {
	slug := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			return r
		}
		return '-'
	}, strings.ToLower(string(id)))
	return slug[:min(len(slug), MaxSlug)]
}

// Overlay returns the overlay signal of an operator; false if there is none. Error: db_unavailable.
func (s *Service) Overlay(ctx context.Context, handle protocol.Handle) (Overlay, bool, error) {
	return s.Store.Overlay(ctx, handle, s.Now())
}

// SetOverlay replaces the overlay signal of an operator and returns the stored signal. Errors: ErrNotApproved, db_unavailable.
func (s *Service) SetOverlay(ctx context.Context, o Overlay) (Overlay, error) {
	defer s.invalidate()
	now := s.Now()
	o.UpdatedAt = now
	at, err := s.Store.SetOverlay(ctx, o, now.Add(OverlayLife))
	o.UpdatedAt = at
	return o, err
}

// ClearOverlay deletes the overlay signal of an operator, if there is one. Error: db_unavailable.
func (s *Service) ClearOverlay(ctx context.Context, handle protocol.Handle) error {
	defer s.invalidate()
	return s.Store.ClearOverlay(ctx, handle, s.Now())
}
