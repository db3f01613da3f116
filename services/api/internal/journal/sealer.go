package journal

import (
	"context"
	"time"

	"github.com/signalcast/signalcast/pkg/dbtime"
)

// Kind identifies the database table of the row from which a leaf was made.
type Kind int16

// Values of Kind. They are stored and must not change.
const (
	Signal Kind = iota + 1
	Result
	Event
	Resolution
)

// String returns the name of the table. It returns "?" for a number below Signal, and the name for Resolution for a greater
// number.
func (k Kind) String() string {
	return [...]string{"?", "signals", "signal_results", "signal_events", "market_resolutions"}[max(0, min(k, Resolution))]
}

// Leaf is an entry of the journal: the hash of one row.
type Leaf struct {
	Kind Kind
	Of   string // primary key of the row, as text
	Hash Hash
}

// Head is the state of the journal at one time.
type Head struct {
	Tree    Tree
	FeedSeq int64  // the rows of events up to this number are in the tree
	Filling bool   // rows that are older than the journal are still being added
	Note    string // signed checkpoint of Tree
	Filled  Place  // position up to which older rows were added; not stored, so a new leader starts again
}

// Place is a position in the sequence of all rows, which are ordered by kind and key. The zero Place is before all rows.
type Place struct {
	Kind Kind
	Of   *string // key of the last row read; nil: before the first row of the kind
}

// Done reports whether the place is after all rows.
func (p Place) Done() bool { return p.Kind > Resolution }

// Store stores the journal, and reads the rows that must be added to it.
type Store interface {
	// JournalHead returns the newest stored head, and false if none is stored.
	JournalHead(ctx context.Context) (Head, bool, error)
	// JournalNews reads up to n events of the feed after a number. It returns the rows of these events that are not in the
	// journal, and the number of the last event read.
	JournalNews(ctx context.Context, after int64, n int) ([]Leaf, int64, error)
	// JournalOld reads up to n rows after a place, whatever their age. It returns those that are not in the journal, and the
	// place of the last row read.
	JournalOld(ctx context.Context, after Place, n int) ([]Leaf, Place, error)
	// JournalAppend stores leaves at the positions from after on, and the new head to, in one transaction. after is the size of
	// the tree without the leaves.
	JournalAppend(ctx context.Context, after int64, leaves []Leaf, to Head, at time.Time) error
	FeedHead(ctx context.Context) (int64, error)
	FeedOldest(ctx context.Context) (int64, error)
}

// sealEvery is the interval at which the Sealer adds rows. sealBatch is the maximum number of events in one step, and fillBatch
// is the maximum number of older rows.
const (
	sealEvery = time.Second
	sealBatch = 5000
	fillBatch = 20_000
)

// Sealer adds the rows of new events to the journal, and signs a checkpoint of the new tree. The leader of all replicas runs
// it. If two Sealers run at the same time, the journal remains correct, because each position of a leaf can be stored only
// once.
type Sealer struct {
	store Store
	key   Key
	now   func() time.Time
}

// NewSealer returns a Sealer that signs checkpoints with key.
func NewSealer(store Store, key Key, now func() time.Time) *Sealer { return &Sealer{store, key, now} }

// Run adds the missing rows to the journal every second until ctx ends or the store fails.
func (s *Sealer) Run(ctx context.Context) error {
	var head *Head
	return dbtime.Every(ctx, sealEvery, func() (err error) {
		head, err = s.Seal(ctx, head)
		return err
	})
}

// Seal adds all rows that are not in the journal, and returns the new head. from is the head that the previous call returned;
// if it is nil, Seal reads the head from the store.
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

// start returns the head from which to continue. If the journal is empty, or if the feed no longer stores all events after
// FeedSeq, start sets Filling, so that all missing rows are added.
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
	// Rows that are committed from now on belong to events after this number. They are added after the older rows.
	if head.FeedSeq, err = s.store.FeedHead(ctx); err != nil {
		return nil, err
	}
	head.Filling = true
	return &head, nil
}
