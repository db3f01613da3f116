package journal

import (
	"context"
	"time"

	"github.com/signalcast/signalcast/pkg/dbtime"
)

// Kind is the table of the row of a leaf.
type Kind int16

// Kinds of leaves.
const (
	Signal Kind = iota + 1
	Result
	Event
	Resolution
)

// String returns the name of the table.
func (k Kind) String() string {
	return [...]string{"?", "signals", "signal_results", "signal_events", "market_resolutions"}[max(0, min(k, Resolution))]
}

// Leaf is a row of the journal.
type Leaf struct {
	Kind Kind
	Of   string // key of the row
	Hash Hash
}

// Head is the state of the journal.
type Head struct {
	Tree    Tree
	FeedSeq int64 // rows of events up to this number are in the tree
	Filling bool  // rows older than the journal are still being added
	Note    string
	Filled  Place // progress of the filling; not stored, so a new leader starts the filling again
}

// Place is a position in the filling: rows are read by kind, and within a kind by key. The zero Place is before all rows.
type Place struct {
	Kind Kind
	Of   *string // key of the last row; nil: before the first row of the kind
}

// Done reports whether no rows follow the place.
func (p Place) Done() bool { return p.Kind > Resolution }

// Store stores the journal and reads the rows to add.
type Store interface {
	// JournalHead returns the newest head; false if there is none.
	JournalHead(ctx context.Context) (Head, bool, error)
	// JournalNews reads n events after a number of the feed. It returns the rows of these events that are not in the journal,
	// and the number of the last event read.
	JournalNews(ctx context.Context, after int64, n int) ([]Leaf, int64, error)
	// JournalOld reads up to n rows after a place, of any age. It returns those that are not in the journal, and the place of
	// the last row read.
	JournalOld(ctx context.Context, after Place, n int) ([]Leaf, Place, error)
	// JournalAppend stores leaves after the first size leaves, and the new head, in one transaction.
	JournalAppend(ctx context.Context, after int64, leaves []Leaf, to Head, at time.Time) error
	FeedHead(ctx context.Context) (int64, error)
	FeedOldest(ctx context.Context) (int64, error)
}

// Intervals and batch sizes of the sealer. It runs after the feed, so no request waits for it.
const (
	sealEvery = time.Second
	sealBatch = 5000
	fillBatch = 20_000
)

// Sealer adds the rows of new events to the journal. The leader runs it. Two concurrent Sealers do no harm, because a leaf
// position can be stored only once.
type Sealer struct {
	store Store
	key   Key
	now   func() time.Time
}

// NewSealer returns a Sealer.
func NewSealer(store Store, key Key, now func() time.Time) *Sealer { return &Sealer{store, key, now} }

// Run adds rows until ctx ends or the store fails.
func (s *Sealer) Run(ctx context.Context) error {
	var head *Head
	return dbtime.Every(ctx, sealEvery, func() (err error) {
		head, err = s.Seal(ctx, head)
		return err
	})
}

// Seal adds all rows that are not in the journal and returns the new head. If from is nil, it reads the head first.
func (s *Sealer) Seal(ctx context.Context, from *Head) (*Head, error) {
	head, err := s.start(ctx, from)
	if err != nil {
		return nil, err
	}
	for {
		leaves, read, place := []Leaf(nil), head.FeedSeq, Place{}
		if head.Filling {
			leaves, place, err = s.store.JournalOld(ctx, head.Filled, fillBatch)
		} else {
			leaves, read, err = s.store.JournalNews(ctx, head.FeedSeq, sealBatch)
		}
		if err != nil {
			return nil, err
		}
		filled := head.Filling && place.Done()
		ended := !head.Filling && read == head.FeedSeq
		next := Head{Tree: head.Tree, FeedSeq: read, Filling: head.Filling && !filled, Note: head.Note, Filled: place}
		if len(leaves) > 0 || filled {
			if next, err = s.append(ctx, head, leaves, next); err != nil {
				return nil, err
			}
		}
		head = &next
		if ended {
			return head, nil
		}
	}
}

func (s *Sealer) append(ctx context.Context, head *Head, leaves []Leaf, next Head) (Head, error) {
	tree, err := Restore(head.Tree.Size(), head.Tree.frontier)
	if err != nil {
		return next, err
	}
	for i := range leaves {
		tree.Add(leaves[i].Hash)
	}
	next.Tree = tree
	if next.Note, err = s.key.Sign(&tree); err != nil {
		return next, err
	}
	return next, s.store.JournalAppend(ctx, head.Tree.Size(), leaves, next, s.now())
}

// start reads the head. If rows existed before the journal, or the feed has dropped events whose rows are not in the journal,
// the head is marked for filling.
func (s *Sealer) start(ctx context.Context, from *Head) (*Head, error) {
	if from != nil {
		return from, nil
	}
	head, known, err := s.store.JournalHead(ctx)
	if err != nil {
		return nil, err
	}
	oldest, err := s.store.FeedOldest(ctx)
	if err != nil {
		return nil, err
	}
	if known && (head.Filling || oldest <= head.FeedSeq+1) {
		return &head, nil
	}
	// Rows that are committed from now on belong to events after this number. They are added after the filling.
	if head.FeedSeq, err = s.store.FeedHead(ctx); err != nil {
		return nil, err
	}
	head.Filling = true
	return &head, nil
}
