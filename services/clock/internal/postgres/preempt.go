package postgres

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/signalcast/signalcast/pkg/pg"
	"github.com/signalcast/signalcast/services/clock/internal/program"
)

// AddPreempt implements program.Preempts.
func (s *Store) AddPreempt(ctx context.Context, channel string, p program.Preempt, entry program.Entry, tell func([]program.Entry) []program.Fact) error {
	first, last := int64(p.Slot), int64(p.Slot)+int64(p.Slots)-1
	return s.write(ctx, func(ctx context.Context, tx pgx.Tx) error {
		before, err := entriesBefore(ctx, tx, channel, p.Lane, first, last)
		if err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, query("preempt_add"), p.ID, channel, string(p.Lane), first, p.Slots, string(p.Market), p.Reason, p.CreatedAt); err != nil {
			return fmt.Errorf("add preempt: %w", err)
		}
		var end *time.Time
		if entry.End != 0 {
			t := time.UnixMilli(entry.End).UTC()
			end = &t
		}
		tag, err := tx.Exec(ctx, query("preempt_fill"), channel, string(p.Lane), first, last,
			string(entry.Market), entry.Title, entry.EventKey, end, p.CreatedAt, p.ID)
		if err != nil {
			return fmt.Errorf("fill preempt: %w", err)
		}
		if tag.RowsAffected() != int64(p.Slots) {
			return program.ErrSlotTaken
		}
		if _, err := tx.Exec(ctx, query("preempt_tell"), factColumns(tell(before), p.ID)...); err != nil {
			return fmt.Errorf("tell preempt: %w", err)
		}
		return nil
	})
}

// entriesBefore locks the slots that an entry is to have.
func entriesBefore(ctx context.Context, tx pgx.Tx, channel string, lane program.Lane, first, last int64) ([]program.Entry, error) {
	rows, err := tx.Query(ctx, query("preempt_before"), channel, string(lane), first, last)
	if err != nil {
		return nil, fmt.Errorf("read preempted: %w", err)
	}
	taken := false
	list, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (program.Entry, error) {
		var slot int64
		var others bool
		e := program.Entry{Lane: lane}
		err := row.Scan(&slot, &e.Market, &e.Title, &others)
		e.Slot, taken = program.Slot(slot), taken || others
		return e, err
	})
	if err == nil && taken {
		return nil, program.ErrSlotTaken
	}
	if err != nil {
		return nil, fmt.Errorf("read preempted: %w", err)
	}
	return list, nil
}

func factColumns(facts []program.Fact, more string) []any {
	n := len(facts)
	ids, types, times := make([]string, n), make([]string, n), make([]time.Time, n)
	markets, channels, data := make([]string, n), make([]string, n), make([]string, n)
	for i, f := range facts {
		ids[i], types[i], times[i] = factID(f.Type, f.Channel, f.Slot, more), f.Type, f.At
		markets[i], channels[i], data[i] = string(f.Market), f.Channel, string(f.Data)
	}
	return []any{ids, types, times, markets, channels, data}
}

// CancelPreempt implements program.Preempts.
func (s *Store) CancelPreempt(ctx context.Context, id string, running program.Slot, at time.Time) (program.Preempt, error) {
	p, err := scanPreempt(s.writes.QueryRow(ctx, query("preempt_cancel"), id, int64(running), at, int64(program.SlotAt(at))))
	if errors.Is(err, pgx.ErrNoRows) {
		return p, program.ErrNoPreempt
	}
	if err != nil {
		return p, pg.Fault(fmt.Errorf("cancel preempt: %w", err))
	}
	return p, nil
}

// ListPreempts implements program.Preempts.
func (s *Store) ListPreempts(ctx context.Context, limit int) ([]program.Preempt, error) {
	rows, err := s.reads.Query(ctx, query("preempt_list"), limit)
	if err != nil {
		return nil, fmt.Errorf("list preempts: %w", err)
	}
	list, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (program.Preempt, error) { return scanPreempt(row) })
	if err != nil {
		return nil, fmt.Errorf("list preempts: %w", err)
	}
	return list, nil
}

func scanPreempt(row pgx.Row) (program.Preempt, error) {
	var p program.Preempt
	var slot int64
	var cancelled *time.Time
	err := row.Scan(&p.ID, &p.Lane, &slot, &p.Slots, &p.Market, &p.Reason, &p.CreatedAt, &cancelled)
	p.Slot = program.Slot(slot)
	if cancelled != nil {
		p.CancelledAt = *cancelled
	}
	return p, err
}
