package postgres

import (
	"context"
	"fmt"
	"time"

	"github.com/signalcast/signalcast/pkg/pg"
	"github.com/signalcast/signalcast/services/clock/internal/program"
)

var (
	slotListSQL  = query("slot_list")
	slotApplySQL = query("slot_apply")
	airingAddSQL = query("airing_add")
)

// ListSlots gives the entries of a channel from one slot to another, both
// included, by lane and slot. Fault: db_unavailable.
func (s *Store) ListSlots(ctx context.Context, channel string, from, to program.Slot) ([]program.Entry, error) {
	rows, err := s.reads.Query(ctx, slotListSQL, channel, int64(from), int64(to))
	if err != nil {
		return nil, fmt.Errorf("list slots: %w", err)
	}
	defer rows.Close()
	var out []program.Entry
	for rows.Next() {
		var (
			e        program.Entry
			slot     int64
			eventKey *string
			end      *time.Time
			filled   time.Time
		)
		if err := rows.Scan(&e.Lane, &slot, &e.Market, &e.Title, &eventKey, &end, &filled); err != nil {
			return nil, fmt.Errorf("list slots: %w", err)
		}
		e.Slot, e.Filled = program.Slot(slot), filled.UnixMilli()
		if eventKey != nil {
			e.EventKey = *eventKey
		}
		if end != nil {
			e.End = end.UnixMilli()
		}
		out = append(out, e)
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("list slots: %w", err)
	}
	return out, nil
}

// ApplySlots makes the changes in one statement and tells how many took
// effect; one whose Old is not what is stored does not. A change of a slot that
// has started by the database's clock is refused and nothing is changed.
// Fault: db_unavailable.
func (s *Store) ApplySlots(ctx context.Context, channel string, changes []program.Change, now time.Time) (int, error) {
	n := len(changes)
	lanes, slots, markets := make([]string, n), make([]int64, n), make([]string, n)
	titles, keys, ends, olds := make([]string, n), make([]*string, n), make([]*time.Time, n), make([]string, n)
	for i := range changes {
		c := &changes[i]
		lanes[i], slots[i], markets[i] = string(c.Lane), int64(c.Slot), string(c.Market)
		titles[i], olds[i] = c.Title, string(c.Old)
		if c.EventKey != "" {
			keys[i] = &c.EventKey
		}
		if c.End != 0 {
			end := time.UnixMilli(c.End).UTC()
			ends[i] = &end
		}
	}
	var changed int
	err := s.writes.QueryRow(ctx, slotApplySQL, channel, lanes, slots, markets, titles, keys, ends, olds, now).Scan(&changed)
	if err != nil {
		return 0, fmt.Errorf("apply slots: %w", pg.Fault(err))
	}
	return changed, nil
}
