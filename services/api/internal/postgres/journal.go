package postgres

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/signalcast/signalcast/pkg/pg"
	"github.com/signalcast/signalcast/services/api/internal/journal"
)

// JournalHead implements journal.Store.
func (s *Store) JournalHead(ctx context.Context) (journal.Head, bool, error) {
	h, err := scanHead(s.reads.QueryRow(ctx, query("journal_head")))
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return journal.Head{}, false, nil
	case err != nil:
		return journal.Head{}, false, pg.Fault(fmt.Errorf("read head of the journal: %w", err))
	}
	return h, true, nil
}

// Checkpoint is the newest signed root; empty: none yet.
func (s *Store) Checkpoint(ctx context.Context) (string, error) {
	h, _, err := s.JournalHead(ctx)
	return h.Note, err
}

func scanHead(row pgx.Row) (journal.Head, error) {
	var h journal.Head
	var size int64
	var raw [][]byte
	if err := row.Scan(&size, &raw, &h.FeedSeq, &h.Filling, &h.Note); err != nil {
		return h, err
	}
	edge := make([]journal.Hash, len(raw))
	for i := range raw {
		copy(edge[i][:], raw[i])
	}
	var err error
	h.Tree, err = journal.Restore(size, edge)
	return h, err
}

// JournalNews implements journal.Store.
func (s *Store) JournalNews(ctx context.Context, after int64, n int) ([]journal.Leaf, int64, error) {
	read := after
	leaves, err := s.leaves(ctx, &read, "journal_news", after, n)
	return leaves, read, err
}

// JournalOld implements journal.Store.
func (s *Store) JournalOld(ctx context.Context, n int) ([]journal.Leaf, error) {
	var none int64
	return s.leaves(ctx, &none, "journal_old", n)
}

func (s *Store) leaves(ctx context.Context, read *int64, name string, args ...any) ([]journal.Leaf, error) {
	// Planned anew each time: a plan that was kept from when the tables were small walks
	// through all of them for each event.
	rows, err := s.pool.Query(ctx, query(name), append([]any{pgx.QueryExecModeCacheDescribe}, args...)...)
	if err != nil {
		return nil, pg.Fault(fmt.Errorf("%s: %w", name, err))
	}
	var seq *int64
	var kind *int16
	var of *string
	var hash []byte
	var out []journal.Leaf
	_, err = pgx.ForEachRow(rows, []any{&seq, &kind, &of, &hash}, func() error {
		if seq != nil {
			*read = max(*read, *seq)
		}
		if kind != nil {
			out = append(out, journal.Leaf{Kind: journal.Kind(*kind), Of: *of, Hash: journal.Hash(hash)})
		}
		return nil
	})
	if err != nil {
		return nil, pg.Fault(fmt.Errorf("%s: %w", name, err))
	}
	return out, nil
}

// JournalAppend implements journal.Store.
func (s *Store) JournalAppend(ctx context.Context, behind int64, leaves []journal.Leaf, to journal.Head, at time.Time) error {
	kinds, of, hashes := make([]int16, len(leaves)), make([]string, len(leaves)), make([][]byte, len(leaves))
	for i := range leaves {
		kinds[i], of[i], hashes[i] = int16(leaves[i].Kind), leaves[i].Of, leaves[i].Hash[:]
	}
	edge := [][]byte{}
	for _, h := range to.Tree.Edge() {
		edge = append(edge, h[:])
	}
	_, err := s.pool.Exec(ctx, query("journal_append"), behind, kinds, of, hashes, edge, to.FeedSeq, to.Filling, to.Note, at.UTC())
	if err != nil {
		return pg.Fault(fmt.Errorf("append to the journal: %w", err))
	}
	return nil
}
