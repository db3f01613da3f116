package program

import (
	"context"
	"time"

	"github.com/signalcast/signalcast/pkg/protocol"
)

// Store stores rundowns, entries of directors, airings, samples, and events for the feed. Callers provide all times. A filled
// slot that has started according to the clock of the database cannot be changed. All methods can return the error
// db_unavailable.
type Store interface {
	// ListSlots returns the entries of a channel from one slot to another, both included.
	ListSlots(ctx context.Context, channel string, from, to Slot) ([]Entry, error)
	// ApplySlots applies the changes in one statement and returns the number of changes that took effect. A change has no effect
	// if the stored market of its slot is not Old.
	ApplySlots(ctx context.Context, channel string, changes []Change, now time.Time) (int, error)
	// ListScheduledMarkets returns the markets that are scheduled on any channel from one slot to another, both included.
	ListScheduledMarkets(ctx context.Context, from, to Slot) ([]protocol.MarketID, error)

	// AddPreempt stores an entry of a director, assigns its market to its slots, and publishes events, in one transaction. The
	// function facts returns these events; it receives the previous entries of the slots. Error: ErrSlotTaken.
	AddPreempt(ctx context.Context, channel string, p Preempt, entry Entry, facts func(before []Entry) []Fact) error
	// CancelPreempt cancels an entry of a director that is not over, and clears its slots that start after the time at. running
	// is the running slot. Error: ErrNoPreempt.
	CancelPreempt(ctx context.Context, id string, running Slot, at time.Time) (Preempt, error)
	// ListPreempts returns at most limit entries of directors, the latest slot first.
	ListPreempts(ctx context.Context, limit int) ([]Preempt, error)

	// ListStarts returns the published starts of a slot on all channels.
	ListStarts(ctx context.Context, slot Slot) ([]Start, error)
	// Publish stores and publishes, in one transaction, the parts of a publication that are not stored yet.
	Publish(ctx context.Context, p Publication) (Published, error)

	// OpenAirings returns at most limit airings that are not yet measured, the oldest first.
	OpenAirings(ctx context.Context, limit int) ([]Pending, error)
	// RaiseViewers stores viewer counts of airings by segment id. A count replaces the stored count only if it is higher.
	RaiseViewers(ctx context.Context, viewers map[string]int32) error
	// MeasureAirings stores the results of airings. It does not change airings that are already measured.
	MeasureAirings(ctx context.Context, list []Measured, at time.Time) error
	// OpenSamples returns the samples that are not yet measured. It also returns the sample of one slot (include) even if that
	// sample is measured.
	OpenSamples(ctx context.Context, include Slot) ([]Sample, error)
	// AddSample stores a sample. It does nothing if the slot already has a sample.
	AddSample(ctx context.Context, s Sample) error
	// MeasureSample stores the result of a sample. markets is the number of measured markets, and moved is the sum of their
	// absolute price moves in basis points.
	MeasureSample(ctx context.Context, slot Slot, markets int, moved int64, at time.Time) error
	// Influence returns the measured airings since a time, at most limit of them, with the largest price moves first.
	Influence(ctx context.Context, since time.Time, limit int) (Influence, error)
	// DeleteOld deletes the entries of the slots before a slot (before), and the airings and samples that started before a time
	// (aired).
	DeleteOld(ctx context.Context, before Slot, aired time.Time) error
}
