package onair

import (
	"context"

	"github.com/signalcast/signalcast/pkg/syntax"
)

// MaxLanes is how many lanes an operator may choose.
const MaxLanes = 5

// Status is where an operator stands as a streamer.
type Status string

// The statuses. Who never registered may be live as well; only who was suspended may
// not, and streams are provisioned for the approved alone.
const (
	Unregistered Status = "none"
	Pending      Status = "pending"
	Approved     Status = "approved"
	Suspended    Status = "suspended"
)

// Streamer is what the hub keeps of an operator as a streamer.
type Streamer struct {
	Status Status
	Lanes  []string // keys of lanes of the programme
}

// Streamer reads where an operator stands. Fault: db_unavailable.
func (s *Service) Streamer(ctx context.Context, handle syntax.Handle) (Streamer, error) {
	return s.store.Streamer(ctx, handle)
}

// Approved tells whether streams may be provisioned for an operator.
// Fault: db_unavailable.
func (s *Service) Approved(ctx context.Context, handle string) (bool, error) {
	one, err := s.store.Streamer(ctx, syntax.Handle(handle))
	return one.Status == Approved, err
}

// Register asks an admin for approval; first is false where that was done before, and
// then nothing changes. Nil lanes stay as they are. Fault: db_unavailable.
func (s *Service) Register(ctx context.Context, handle syntax.Handle, lanes []string) (status Status, first bool, err error) {
	return s.store.Register(ctx, handle, lanes, s.now())
}

// ChooseLanes keeps the lanes of an operator. Fault: db_unavailable.
func (s *Service) ChooseLanes(ctx context.Context, handle syntax.Handle, lanes []string) error {
	return s.store.ChooseLanes(ctx, handle, lanes, s.now())
}

// Decide sets the status of an operator. A suspension ends the live session, clears the
// overlay signal, and hides bindings and clips. Fault: db_unavailable.
func (s *Service) Decide(ctx context.Context, handle syntax.Handle, status Status) error {
	defer s.forget()
	return s.store.Decide(ctx, handle, status, s.now())
}

// Hide hides the streams, clips and overlay of an operator on pages, in API responses and in
// events, or shows them again. A session of a hidden operator is not listed as live. Stored
// sessions and their figures do not change. Fault: db_unavailable.
func (s *Service) Hide(ctx context.Context, handle syntax.Handle, hidden bool) error {
	defer s.forget()
	var url string
	if !hidden {
		var err error
		if url, err = s.provisioned(ctx, handle); err != nil {
			return err
		}
	}
	return s.store.Hide(ctx, handle, hidden, url, s.now())
}

// laneKeys are the lanes of the programme, and the names of content lanes that mean one.
var laneKeys = map[string]string{
	"sports": "sports", "music": "music", "film": "film", "tv": "tv", "fashion": "fashion", "culture": "culture", "crypto": "crypto",
	"politics": "politics", "news": "news", "science": "science", "tech": "tech", "economy": "economy",
	"SPORT": "sports", "MUSIC": "music", "ENTERTAINMENT": "film", "CULTURE": "culture", "CRYPTO": "crypto",
	"POLITICS": "politics", "WORLD": "news", "SCIENCE": "science", "TECH": "tech", "ECONOMY": "economy",
}

// ParseLanes reads lanes as they are kept: at most MaxLanes, each once.
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
