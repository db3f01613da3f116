package program

import (
	"context"
	"time"

	"github.com/signalcast/signalcast/pkg/protocol"
)

// Store stores rundowns, what aired, and what was published on channels. All times come from the caller, but a slot that has
// started by the clock of the database cannot be changed. Fault of all: db_unavailable.
type Store interface {
	// ListSlots returns the entries of a channel from one slot to another, both included.
	ListSlots(ctx context.Context, channel string, from, to Slot) ([]Entry, error)
	// ApplySlots makes the changes in one step and returns how many took effect. A change whose Old is not what is
	// stored takes no effect.
	ApplySlots(ctx context.Context, channel string, changes []Change, now time.Time) (int, error)
	// ListScheduledMarkets lists the markets that have slots of any channel, both ends included.
	ListScheduledMarkets(ctx context.Context, from, to Slot) ([]protocol.MarketID, error)

	// AddPreempt stores an entry, puts its market into its slots, and publishes the facts that tell makes of what these
	// slots contained: all of it or nothing. Fault: ErrSlotTaken.
	AddPreempt(ctx context.Context, channel string, p Preempt, entry Entry, tell func(before []Entry) []Fact) error
	// CancelPreempt ends an entry that is not over and takes its market out of the slots that begin after at.
	// Fault: ErrNoPreempt.
	CancelPreempt(ctx context.Context, id string, running Slot, at time.Time) (Preempt, error)
	// ListPreempts returns the entries with the newest slots first.
	ListPreempts(ctx context.Context, limit int) ([]Preempt, error)

	// ListStarts returns the starts of a slot that were published.
	ListStarts(ctx context.Context, slot Slot) ([]Start, error)
	// Tell stores what is new and publishes it, in one transaction.
	Tell(ctx context.Context, t Telling) (Told, error)

	// OpenAirings lists airings that are not measured, the oldest first.
	OpenAirings(ctx context.Context, limit int) ([]Pending, error)
	// Raise stores the highest viewer counts of airings, by segment.
	Raise(ctx context.Context, viewers map[string]int32) error
	// Measure stores what became of airings. Airings that were measured before remain as they are.
	Measure(ctx context.Context, list []Measured, at time.Time) error
	// OpenSamples lists samples that are not measured, and the sample of one slot, by slot.
	OpenSamples(ctx context.Context, with Slot) ([]Sample, error)
	// AddSample stores a sample unless its slot has one.
	AddSample(ctx context.Context, s Sample) error
	// MeasureSample stores how far a sample moved: the number of its markets and the sum of their moves in bps.
	MeasureSample(ctx context.Context, slot Slot, markets int, moved int64, at time.Time) error
	// Influence returns the measured airings since a time with the largest moves.
	Influence(ctx context.Context, since time.Time, limit int) (Influence, error)
	// Sweep deletes the slots before a slot, and airings and samples that aired before a time.
	Sweep(ctx context.Context, before Slot, aired time.Time) error
}
