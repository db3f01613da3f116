package journal

import (
	"context"
	"time"

	"github.com/signalcast/signalcast/pkg/dbtime"
)

// Kind is the table that a leaf is made of.
type Kind int16

// The kinds.
const (
	Signal Kind = iota + 1
	Result
	Event
	Resolution
)

// String is the name of the table.
func (k Kind) String() string {
	return [...]string{"?", "signals", "signal_results", "signal_events", "market_resolutions"}[max(0, min(k, Resolution))]
}

// Leaf is a row that is to be sealed, or was.
type Leaf struct {
	Kind Kind
	Of   string // the row's key
	Hash Hash
}

// Head is where the journal stands.
type Head struct {
	Tree    Tree
	FeedSeq int64 // what the feed told up to here is sealed
	Filling bool  // rows from before are still being sealed
	Note    string
	Filled  Place // not kept: whoever reads the head begins the filling anew
}

// Place is how far a filling has got: rows are gone through by kind, and each kind by
// its key. The zero Place is before all of them.
type Place struct {
	Kind Kind
	Of   *string // the last row's key; nil: before the first of the kind
}

// Done tells whether there is nothing behind the place.
func (p Place) Done() bool { return p.Kind > Resolution }

// Store keeps the journal and reads what is to be sealed.
type Store interface {
	// JournalHead is the newest head; false: there is none yet.
	JournalHead(ctx context.Context) (Head, bool, error)
	// JournalNews reads n events behind a number of the feed: the rows that they tell
	// of and that are not sealed, and the number up to which it has read.
	JournalNews(ctx context.Context, after int64, n int) ([]Leaf, int64, error)
	// JournalOld reads up to n rows behind a place, however old they are: those of them
	// that are not sealed, and the place to go on from.
	JournalOld(ctx context.Context, behind Place, n int) ([]Leaf, Place, error)
	// JournalAppend adds leaves behind a size and the head that they lead to, at once.
	JournalAppend(ctx context.Context, behind int64, leaves []Leaf, to Head, at time.Time) error
	FeedHead(ctx context.Context) (int64, error)
	FeedOldest(ctx context.Context) (int64, error)
}

// Times and sizes of the sealer. It comes behind the feed, so nothing waits for it.
const (
	sealEvery = time.Second
	sealBatch = 5000
	fillBatch = 20_000
)

// Sealer lets the journal grow with the feed. One at a time works; two would not harm
// each other, for a leaf has one place.
type Sealer struct {
	store Store
	key   Key
	now   func() time.Time
}

// NewSealer wires the sealer.
func NewSealer(store Store, key Key, now func() time.Time) *Sealer { return &Sealer{store, key, now} }

// Run seals until ctx ends or the store fails.
func (s *Sealer) Run(ctx context.Context) error {
	var head *Head
	return dbtime.Every(ctx, sealEvery, func() (err error) {
		head, err = s.Seal(ctx, head)
		return err
	})
}

// Seal seals what there is and gives the head to go on from; nil is a head that has to
// be read.
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

// start reads the head. A ledger that had rows before it had a journal, and one whose
// feed has dropped what was not sealed, is filled up first.
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
	// What is committed from now on is behind this number, wherever the filling is.
	if head.FeedSeq, err = s.store.FeedHead(ctx); err != nil {
		return nil, err
	}
	head.Filling = true
	return &head, nil
}
