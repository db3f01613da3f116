package postgres

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/signalcast/signalcast/pkg/pg"
	"github.com/signalcast/signalcast/pkg/syntax"
	"github.com/signalcast/signalcast/services/clock/internal/program"
)

// factSpace is the name space of the ids of facts. A fact has the same id whoever
// writes it and however often, so the ledger takes it once.
var factSpace = uuid.MustParse("6f0d7c0e-3c1b-5c0a-9a52-5d0a4f1f7a21")

func factID(kind, channel string, slot program.Slot, more string) string {
	return uuid.NewSHA1(factSpace, []byte(kind+" "+channel+" "+strconv.FormatInt(int64(slot), 10)+" "+more)).String()
}

// startsKept is how many slots back it is known what began.
const startsKept = 24 * 6

// ListStarts gives what was told to have begun in a slot. Fault: db_unavailable.
func (s *Store) ListStarts(ctx context.Context, slot program.Slot) ([]program.Start, error) {
	rows, err := s.reads.Query(ctx, query("start_list"), int64(slot))
	if err != nil {
		return nil, fmt.Errorf("list starts: %w", err)
	}
	list, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (program.Start, error) {
		var t program.Start
		var at int64
		err := row.Scan(&t.Channel, &at, &t.Lane, &t.Market, &t.Data)
		t.Slot = program.Slot(at)
		return t, err
	})
	if err != nil {
		return nil, fmt.Errorf("list starts: %w", err)
	}
	return list, nil
}

// Tell logs airings, notes what began and puts both that and the copies into the
// outbox: all of it or nothing. Copies stand before the facts that they know of.
// Fault: db_unavailable.
func (s *Store) Tell(ctx context.Context, t program.Telling) (program.Told, error) {
	var told program.Told
	err := s.write(ctx, func(ctx context.Context, tx pgx.Tx) error {
		told = program.Told{}
		if len(t.Airings) > 0 {
			tag, err := tx.Exec(ctx, airingAddSQL, airingColumns(t.Airings)...)
			if err != nil {
				return fmt.Errorf("add airings: %w", err)
			}
			told.Aired = int(tag.RowsAffected())
		}
		if n := len(t.Copies); n > 0 {
			channels, data := make([]string, n), make([]string, n)
			for i, c := range t.Copies {
				channels[i], data[i] = c.Channel, string(c.Data)
			}
			if _, err := tx.Exec(ctx, query("copy_add"), channels, data, t.Now); err != nil {
				return fmt.Errorf("add copies: %w", err)
			}
		}
		if len(t.Starts) == 0 {
			return nil
		}
		if err := tx.QueryRow(ctx, query("start_add"), startColumns(t.Starts)...).Scan(&told.Started); err != nil {
			return fmt.Errorf("add starts: %w", err)
		}
		if _, err := tx.Exec(ctx, query("start_sweep"), int64(program.SlotAt(t.Now))-startsKept); err != nil {
			return fmt.Errorf("sweep starts: %w", err)
		}
		return nil
	})
	return told, err
}

func startColumns(starts []program.Start) []any {
	n := len(starts)
	ids, channels, slots, lanes := make([]string, n), make([]string, n), make([]int64, n), make([]string, n)
	markets, times, data := make([]string, n), make([]time.Time, n), make([]string, n)
	for i, t := range starts {
		ids[i], channels[i], slots[i] = factID(program.SegmentStarted, t.Channel, t.Slot, ""), t.Channel, int64(t.Slot)
		lanes[i], markets[i], times[i], data[i] = string(t.Lane), string(t.Market), t.Slot.Content(), string(t.Data)
	}
	return []any{ids, channels, slots, lanes, markets, times, data}
}

func airingColumns(airings []program.Airing) []any {
	n := len(airings)
	ids, channels, lanes, titles := make([]string, n), make([]string, n), make([]string, n), make([]string, n)
	slots, markets := make([]int64, n), make([]string, n)
	starts, ends, prices := make([]time.Time, n), make([]time.Time, n), make([]*int32, n)
	for i, a := range airings {
		ids[i], channels[i], lanes[i], titles[i] = a.SegmentID, a.Channel, string(a.Lane), a.Title
		slots[i], markets[i] = int64(a.Slot), string(a.Market)
		starts[i], ends[i] = a.StartedAt, a.EndedAt
		if a.Yes != program.NoPrice && a.Yes <= syntax.MaxBps {
			yes := int32(a.Yes)
			prices[i] = &yes
		}
	}
	return []any{ids, channels, lanes, slots, markets, titles, starts, ends, prices}
}

// write runs one step of the writer within its time.
func (s *Store) write(ctx context.Context, do func(ctx context.Context, tx pgx.Tx) error) error {
	ctx, cancel := context.WithTimeout(ctx, writeBudget)
	defer cancel()
	return pg.InTx(ctx, s.writes.Pool(), func(tx pgx.Tx) error { return do(ctx, tx) })
}
