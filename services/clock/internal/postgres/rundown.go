package postgres

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/signalcast/signalcast/pkg/pg"
	"github.com/signalcast/signalcast/pkg/protocol"
	"github.com/signalcast/signalcast/services/clock/internal/postgres/db"
	"github.com/signalcast/signalcast/services/clock/internal/program"
)

// ListSlots implements program.Store. It returns the entries of a channel between the slots from and to, both included, sorted by
// lane and slot.
func (s *Store) ListSlots(ctx context.Context, channel string, from, to program.Slot) ([]program.Entry, error) {
	rows, err := s.reads.ListSlots(ctx, db.ListSlotsParams{Channel: channel, FirstSlot: int64(from), LastSlot: int64(to)})
	if err != nil {
		return nil, err
	}
	var out []program.Entry
	for _, row := range rows {
		e := program.Entry{
			Lane: program.Lane(row.Lane), Slot: program.Slot(row.Slot), Market: protocol.MarketID(row.MarketID), Title: row.Title,
			EventKey: pg.Value(row.EventKey), Filled: row.FilledAt.UnixMilli(),
		}
		if row.MarketEnd != nil {
			e.End = row.MarketEnd.UnixMilli()
		}
		out = append(out, e)
	}
	return out, nil
}

// ApplySlots implements program.Store. It changes slots of a channel and returns the number of changed slots. If the slot of a
// change has started according to the clock of the database, the statement fails and no change takes effect.
func (s *Store) ApplySlots(ctx context.Context, channel string, changes []program.Change, now time.Time) (int, error) {
	p := db.ApplySlotsParams{Channel: channel, Now: now}
	for _, c := range changes {
		p.Lanes = append(p.Lanes, string(c.Lane))
		p.Slots = append(p.Slots, int64(c.Slot))
		p.MarketIDs = append(p.MarketIDs, string(c.Market))
		p.Titles = append(p.Titles, c.Title)
		p.EventKeys = append(p.EventKeys, c.EventKey)
		p.MarketEnds = append(p.MarketEnds, endOf(c.Entry))
		p.Old = append(p.Old, string(c.Old))
	}
	changed, err := s.writes.ApplySlots(ctx, p)
	return int(changed), err
}

// endOf returns the end of the market of the entry, or the zero time if the end is not known.
func endOf(e program.Entry) time.Time {
	if e.End == 0 {
		return time.Time{}
	}
	return time.UnixMilli(e.End).UTC()
}

// AddPreempt implements program.Store. It locks the slots, stores the entry, assigns the market to the slots, and writes the
// events, all in one transaction. Error: ErrSlotTaken.
func (s *Store) AddPreempt(ctx context.Context, channel string, p program.Preempt, entry program.Entry,
	facts func([]program.Entry) []program.Fact,
) error {
	first, last := int64(p.Slot), int64(p.Slot)+int64(p.Slots)-1
	return s.write(ctx, func(ctx context.Context, q *db.Queries) error {
		before, err := lockSlots(ctx, q, db.LockSlotsParams{Channel: channel, Lane: string(p.Lane), FirstSlot: first, LastSlot: last})
		if err != nil {
			return err
		}
		err = q.InsertPreempt(ctx, db.InsertPreemptParams{
			ID: p.ID, Channel: channel, Lane: string(p.Lane), Slot: first, Slots: int32(p.Slots), MarketID: string(p.Market),
			Reason: p.Reason, CreatedAt: p.CreatedAt,
		})
		if err != nil {
			return err
		}
		filled, err := q.FillPreempt(ctx, db.FillPreemptParams{
			Channel: channel, Lane: string(p.Lane), FirstSlot: first, LastSlot: last, MarketID: string(entry.Market), Title: entry.Title,
			EventKey: entry.EventKey, MarketEnd: pg.Null(endOf(entry)), Now: p.CreatedAt, PreemptID: p.ID,
		})
		if err != nil {
			return err
		}
		if filled != int64(p.Slots) {
			return program.ErrSlotTaken
		}
		return q.PublishEvents(ctx, eventColumns(facts(before), p.ID))
	})
}

// lockSlots locks the slots of a new entry of a director and returns the stored entries of these slots. Error: ErrSlotTaken if an
// entry of a director already uses one of the slots.
func lockSlots(ctx context.Context, q *db.Queries, p db.LockSlotsParams) ([]program.Entry, error) {
	rows, err := q.LockSlots(ctx, p)
	if err != nil {
		return nil, err
	}
	list := make([]program.Entry, len(rows))
	for i, row := range rows {
		if row.Taken {
			return nil, program.ErrSlotTaken
		}
		list[i] = program.Entry{
			Lane: program.Lane(p.Lane), Slot: program.Slot(row.Slot), Market: protocol.MarketID(row.MarketID), Title: row.Title,
		}
	}
	return list, nil
}

// CancelPreempt implements program.Store. It returns the cancelled entry. Error: ErrNoPreempt if no such entry exists.
func (s *Store) CancelPreempt(ctx context.Context, id string, running program.Slot, at time.Time) (program.Preempt, error) {
	row, err := s.writes.CancelPreempt(ctx, db.CancelPreemptParams{
		ID: id, RunningSlot: int64(running), Now: &at, StartedSlot: int64(program.SlotAt(at)),
	})
	if errors.Is(err, pgx.ErrNoRows) {
		return program.Preempt{}, program.ErrNoPreempt
	}
	if err != nil {
		return program.Preempt{}, err
	}
	return preempt(db.ListPreemptsRow(row)), nil
}

// ListPreempts implements program.Store. It returns at most limit entries of directors, the latest slot first.
func (s *Store) ListPreempts(ctx context.Context, limit int) ([]program.Preempt, error) {
	rows, err := s.reads.ListPreempts(ctx, int32(limit))
	return pg.Collect(rows, preempt), err
}

func preempt(row db.ListPreemptsRow) program.Preempt {
	return program.Preempt{
		ID: row.ID, Lane: program.Lane(row.Lane), Market: protocol.MarketID(row.MarketID), Slot: program.Slot(row.Slot),
		Slots: int(row.Slots), Reason: row.Reason, CreatedAt: row.CreatedAt, CancelledAt: pg.Value(row.CancelledAt),
	}
}
