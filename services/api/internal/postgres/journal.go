package postgres

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/signalcast/signalcast/pkg/pg"
	"github.com/signalcast/signalcast/services/api/internal/journal"
	"github.com/signalcast/signalcast/services/api/internal/postgres/db"
)

// JournalHead implements journal.Store.
func (s *Store) JournalHead(ctx context.Context) (journal.Head, bool, error) {
	row, err := s.rq.GetCheckpoint(ctx)
	if errors.Is(err, pgx.ErrNoRows) {
		return journal.Head{}, false, nil
	}
	var h journal.Head
	if err == nil {
		h, err = headOf(row)
	}
	if err != nil {
		return journal.Head{}, false, pg.Fault(fmt.Errorf("read head of the journal: %w", err))
	}
	return h, true, nil
}

// Checkpoint returns the newest signed checkpoint, or "" if there is none.
func (s *Store) Checkpoint(ctx context.Context) (string, error) {
	h, _, err := s.JournalHead(ctx)
	return h.Note, err
}

func headOf(r db.GetCheckpointRow) (h journal.Head, err error) {
	edge := make([]journal.Hash, len(r.Edge))
	for i := range r.Edge {
		copy(edge[i][:], r.Edge[i])
	}
	h = journal.Head{FeedSeq: r.FeedSeq, Filling: r.Filling, Note: r.Note}
	h.Tree, err = journal.Restore(r.Size, edge)
	return h, err
}

// sealing returns the statements that read the database rows to be added to the journal. The database plans these statements
// at each call. A plan that was made while the tables were small would scan entire tables for each event.
func (s *Store) sealing() *db.Queries { return db.New(planned{s.pool}) }

// planned is a DBTX whose queries the database plans at each call, with the values of their parameters.
type planned struct{ db.DBTX }

func (p planned) Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error) {
	return p.DBTX.Query(ctx, sql, append([]any{pgx.QueryExecModeCacheDescribe}, args...)...)
}

// JournalNews implements journal.Store.
func (s *Store) JournalNews(ctx context.Context, after int64, n int) ([]journal.Leaf, int64, error) {
	rows, err := s.sealing().ListNewLeaves(ctx, db.ListNewLeavesParams{After: after, Most: int32(n)})
	if err != nil {
		return nil, after, pg.Fault(fmt.Errorf("list new leaves: %w", err))
	}
	read := after
	var out []journal.Leaf
	for _, r := range rows {
		if r.Seq != nil {
			read = max(read, *r.Seq)
		}
		if r.Kind != nil {
			out = append(out, journal.Leaf{Kind: journal.Kind(*r.Kind), Of: *r.Of, Hash: journal.Hash(r.Hash)})
		}
	}
	return out, read, nil
}

// JournalOld implements journal.Store.
func (s *Store) JournalOld(ctx context.Context, after journal.Place, n int) ([]journal.Leaf, journal.Place, error) {
	to := after
	to.Kind = max(to.Kind, journal.Signal)
	rows, err := oldLeaves(ctx, s.sealing(), to, n)
	if err != nil {
		return nil, after, pg.Fault(fmt.Errorf("list old leaves: %w", err))
	}
	var out []journal.Leaf
	for _, r := range rows {
		to.Of = &r.Of
		if len(r.Hash) > 0 { // an empty hash means that the row has a leaf
			out = append(out, journal.Leaf{Kind: to.Kind, Of: r.Of, Hash: journal.Hash(r.Hash)})
		}
	}
	if len(rows) < n {
		to = journal.Place{Kind: to.Kind + 1}
	}
	return out, to, nil
}

// oldLeaves reads the next n database rows of the kind at.Kind, in key order, starting after the key at.Of. A row that
// already has a leaf is returned without a hash.
func oldLeaves(ctx context.Context, q *db.Queries, at journal.Place, n int) ([]db.ListOldLeavesRow, error) {
	if at.Kind != journal.Resolution {
		return q.ListOldLeaves(ctx, db.ListOldLeavesParams{Kind: int16(at.Kind), After: at.Of, Limit: int32(n)})
	}
	rows, err := q.ListOldResolutionLeaves(ctx, db.ListOldResolutionLeavesParams{After: at.Of, Limit: int32(n)})
	return pg.Collect(rows, func(r db.ListOldResolutionLeavesRow) db.ListOldLeavesRow { return db.ListOldLeavesRow(r) }), err
}

// JournalAppend implements journal.Store.
func (s *Store) JournalAppend(ctx context.Context, after int64, leaves []journal.Leaf, to journal.Head, at time.Time) error {
	p := db.AppendLeavesParams{
		After: after, Kinds: []int16{}, Edge: [][]byte{}, FeedSeq: to.FeedSeq, Filling: to.Filling, Note: to.Note, At: at.UTC(),
	}
	for i := range leaves {
		p.Kinds, p.Of, p.Hashes = append(p.Kinds, int16(leaves[i].Kind)), append(p.Of, leaves[i].Of), append(p.Hashes, leaves[i].Hash[:])
	}
	for _, h := range to.Tree.Frontier() {
		p.Edge = append(p.Edge, h[:])
	}
	return pg.Fault(wrap("append to the journal", s.q.AppendLeaves(ctx, p)))
}
