package postgres

import (
	"context"
	"strconv"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/signalcast/signalcast/pkg/outbox"
	"github.com/signalcast/signalcast/pkg/pg"
	"github.com/signalcast/signalcast/pkg/protocol"
	"github.com/signalcast/signalcast/services/clock/internal/postgres/db"
	"github.com/signalcast/signalcast/services/clock/internal/program"
)

// eventSpace is the UUID namespace of event IDs. The ID of an event does not depend on the process that writes it. The ledger
// therefore stores an event once even if it is published twice.
var eventSpace = uuid.MustParse("6f0d7c0e-3c1b-5c0a-9a52-5d0a4f1f7a21")

// eventID returns the ID of an event. suffix distinguishes events of the same kind on the same channel and slot.
func eventID(kind, channel string, slot program.Slot, suffix string) string {
	return uuid.NewSHA1(eventSpace, []byte(kind+" "+channel+" "+strconv.FormatInt(int64(slot), 10)+" "+suffix)).String()
}

// keptStarts is the number of past slots whose published starts remain stored: about one day.
const keptStarts = 24 * 6

// ListStarts implements program.Store. It returns the published starts of segments in a slot, for all channels.
func (s *Store) ListStarts(ctx context.Context, slot program.Slot) ([]program.Start, error) {
	rows, err := s.reads.ListStarts(ctx, int64(slot))
	return pg.Collect(rows, func(row db.ProgramStart) program.Start {
		return program.Start{
			Channel: row.Channel, Slot: program.Slot(row.Slot), Lane: program.Lane(row.Lane), Market: protocol.MarketID(row.MarketID),
			Data: []byte(row.Data),
		}
	}), err
}

// Publish implements program.Store. It stores the airings. It writes the current contents of channels (copies) to the outbox
// before the starts of segments, so that a subscriber receives them in this order.
func (s *Store) Publish(ctx context.Context, t program.Publication) (program.Published, error) {
	var published program.Published
	err := s.write(ctx, func(ctx context.Context, q *db.Queries) error {
		published = program.Published{}
		if len(t.Airings) > 0 {
			added, err := q.InsertAirings(ctx, airingColumns(t.Airings))
			if err != nil {
				return err
			}
			published.Aired = int(added)
		}
		if len(t.Copies) > 0 {
			p := db.PublishCopiesParams{Now: t.Now}
			for _, c := range t.Copies {
				p.Channels, p.Data = append(p.Channels, c.Channel), append(p.Data, string(c.Data))
			}
			if err := q.PublishCopies(ctx, p); err != nil {
				return err
			}
		}
		if len(t.Starts) == 0 {
			return nil
		}
		started, err := q.InsertStarts(ctx, startColumns(t.Starts))
		if err != nil {
			return err
		}
		published.Started = int(started)
		return q.DeleteOldStarts(ctx, int64(program.SlotAt(t.Now))-keptStarts)
	})
	return published, err
}

func startColumns(starts []program.Start) (p db.InsertStartsParams) {
	for _, t := range starts {
		p.EventIDs = append(p.EventIDs, eventID(program.SegmentStarted, t.Channel, t.Slot, ""))
		p.Channels = append(p.Channels, t.Channel)
		p.Slots = append(p.Slots, int64(t.Slot))
		p.Lanes = append(p.Lanes, string(t.Lane))
		p.MarketIDs = append(p.MarketIDs, string(t.Market))
		p.Times = append(p.Times, t.Slot.Content())
		p.Data = append(p.Data, string(t.Data))
	}
	return p
}

func airingColumns(airings []program.Airing) (p db.InsertAiringsParams) {
	for _, a := range airings {
		p.SegmentIDs = append(p.SegmentIDs, a.SegmentID)
		p.Channels = append(p.Channels, a.Channel)
		p.Lanes = append(p.Lanes, string(a.Lane))
		p.Slots = append(p.Slots, int64(a.Slot))
		p.MarketIDs = append(p.MarketIDs, string(a.Market))
		p.Titles = append(p.Titles, a.Title)
		p.StartedAt = append(p.StartedAt, a.StartedAt)
		p.EndedAt = append(p.EndedAt, a.EndedAt)
		p.YesBps = append(p.YesBps, priceColumn(a.Yes))
	}
	return p
}

func eventColumns(facts []program.Fact, suffix string) (p db.PublishEventsParams) {
	for _, f := range facts {
		p.EventIDs = append(p.EventIDs, eventID(f.Type, f.Channel, f.Slot, suffix))
		p.Types = append(p.Types, f.Type)
		p.Times = append(p.Times, f.At)
		p.MarketIDs = append(p.MarketIDs, string(f.Market))
		p.Channels = append(p.Channels, f.Channel)
		p.Data = append(p.Data, string(f.Data))
	}
	return p
}

// write calls the function do in a transaction. The timeout of the whole transaction is writeBudget.
func (s *Store) write(ctx context.Context, do func(ctx context.Context, q *db.Queries) error) error {
	ctx, cancel := context.WithTimeout(ctx, writeBudget)
	defer cancel()
	return pg.InTx(ctx, s.pool, func(tx pgx.Tx) error { return do(ctx, db.New(tx)) })
}

// Waiting implements outbox.Store. It returns the oldest unsent facts, at most limit. Error: db_unavailable.
func (s *Store) Waiting(ctx context.Context, limit int) ([]outbox.Fact, error) {
	rows, err := s.reads.ListOutbox(ctx, int32(limit))
	return pg.Collect(rows, func(row db.ListOutboxRow) outbox.Fact { return outbox.Fact(row) }), err
}

// Sent implements outbox.Store. It deletes the outbox rows of sent facts. Error: db_unavailable.
func (s *Store) Sent(ctx context.Context, rowIDs []int64) error {
	return s.writes.DeleteOutbox(ctx, rowIDs)
}
