package onair

import (
	"context"
	"time"

	"github.com/signalcast/signalcast/pkg/syntax"
)

// Bounds of an overlay signal.
const (
	MaxName       = 200
	MaxSlug       = 120
	MaxAnnotation = 180
	// OverlayLife is how long a signal stays that nobody sets again and no heartbeat keeps.
	OverlayLife = 12 * time.Hour
)

// Overlay is the signal over the picture of an operator.
type Overlay struct {
	MarketID   syntax.MarketID
	Name       string
	YesPct     *float64 // 0-100; nil: nobody knows
	Handle     syntax.Handle
	Slug       *string // nil: none
	UpdatedAt  time.Time
	Annotation *string
	ClosesAt   time.Time // zero: not said
}

// IsSlug reports 1 to 120 of a-z, 0-9 and -.
func IsSlug(s string) bool {
	for i := range len(s) {
		if c := s[i]; (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '-' {
			return false
		}
	}
	return s != "" && len(s) <= MaxSlug
}

// Overlay finds the signal of an operator. Fault: db_unavailable.
func (s *Service) Overlay(ctx context.Context, handle syntax.Handle) (Overlay, bool, error) {
	return s.store.Overlay(ctx, handle, s.now())
}

// SetOverlay puts a signal in the place of the one before and returns it as stored.
// Faults: ErrNotApproved, db_unavailable.
func (s *Service) SetOverlay(ctx context.Context, o Overlay) (Overlay, error) {
	defer s.forget()
	now := s.now()
	o.UpdatedAt = now
	at, err := s.store.SetOverlay(ctx, o, now.Add(OverlayLife))
	o.UpdatedAt = at
	return o, err
}

// ClearOverlay takes the signal away; where there is none it changes nothing.
// Fault: db_unavailable.
func (s *Service) ClearOverlay(ctx context.Context, handle syntax.Handle) error {
	defer s.forget()
	return s.store.ClearOverlay(ctx, handle, s.now())
}
