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
	var out []journal.Leaf
	err := s.leaves(ctx, "journal_news", []any{after, n}, func(seq *int64, kind *int16, of *string, hash []byte) {
		if seq != nil {
			read = max(read, *seq)
		}
		if kind != nil {
			out = append(out, journal.Leaf{Kind: journal.Kind(*kind), Of: *of, Hash: journal.Hash(hash)})
		}
	})
	return out, read, err
}

// JournalOld implements journal.Store.
func (s *Store) JournalOld(ctx context.Context, behind journal.Place, n int) ([]journal.Leaf, journal.Place, error) {
	to := behind
	to.Kind = max(to.Kind, journal.Signal)
	name, args := oldRows(to, n)
	var passed int
	var out []journal.Leaf
	err := s.leaves(ctx, name, args, func(_ *int64, kind *int16, of *string, hash []byte) {
		passed++
		to.Of = of
		if len(hash) > 0 { // else it is sealed
			out = append(out, journal.Leaf{Kind: journal.Kind(*kind), Of: *of, Hash: journal.Hash(hash)})
		}
	})
	if err != nil {
		return nil, behind, err
	}
	if passed < n {
		to = journal.Place{Kind: to.Kind + 1}
	}
	return out, to, nil
}

// oldRows is the statement that reads n rows behind a place.
func oldRows(at journal.Place, n int) (name string, args []any) {
	if at.Kind == journal.Resolution {
		return "journal_old_resolutions", []any{at.Of, n}
	}
	return "journal_old", []any{int16(at.Kind), at.Of, n}
}

// leaves hands on the rows of a statement that reads what is to be sealed.
func (s *Store) leaves(ctx context.Context, name string, args []any, each func(seq *int64, kind *int16, of *string, hash []byte)) error {
	// Planned anew each time: a plan that was kept from when the tables were small walks
	// through all of them for each event.
	rows, err := s.pool.Query(ctx, query(name), append([]any{pgx.QueryExecModeCacheDescribe}, args...)...)
	if err != nil {
		return pg.Fault(fmt.Errorf("%s: %w", name, err))
	}
	var seq *int64
	var kind *int16
	var of *string
	var hash []byte
	_, err = pgx.ForEachRow(rows, []any{&seq, &kind, &of, &hash}, func() error {
		each(seq, kind, of, hash)
		return nil
	})
	if err != nil {
		return pg.Fault(fmt.Errorf("%s: %w", name, err))
	}
	return nil
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
