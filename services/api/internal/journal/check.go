package journal

import "fmt"

// Findings is what a check has found.
type Findings struct {
	Leaves      int64
	Checkpoints int    // signed roots that were compared
	Newest      string // the newest of them
	Filling     bool   // rows from before the journal are still being sealed
	Differences []string
	More        int // differences beyond those listed
}

// mostListed bounds the list of differences.
const mostListed = 10_000

// Check goes through a journal leaf by leaf, in order.
type Check struct {
	key   Key
	out   Findings
	tree  Tree
	last  Head
	roots map[int64][]root // by size
}

type root struct {
	hash Hash
	who  string
}

// NewCheck begins a check of a journal with the heads given, oldest first, and with
// roots that were kept elsewhere.
func NewCheck(key Key, heads []Head, kept []Checkpoint) *Check {
	c := &Check{key: key, roots: map[int64][]root{}}
	for i := range heads {
		h := &heads[i]
		signed, err := key.Open(h.Note)
		switch {
		case err != nil:
			c.add("checkpoint of %d leaves: not signed with this key", h.Tree.Size())
			continue
		case signed.Size != h.Tree.Size() || signed.Root != h.Tree.Root():
			c.add("checkpoint of %d leaves: it is signed for %d others", h.Tree.Size(), signed.Size)
		case h.Tree.Size() < c.last.Tree.Size():
			c.add("checkpoint of %d leaves: the one before it has %d", h.Tree.Size(), c.last.Tree.Size())
		}
		c.want(signed, "checkpoint")
		c.last = *h
	}
	for _, k := range kept {
		c.want(k, "checkpoint that was kept")
	}
	c.out.Newest, c.out.Filling = c.last.Note, c.last.Filling
	c.compare()
	return c
}

func (c *Check) want(signed Checkpoint, who string) {
	c.roots[signed.Size] = append(c.roots[signed.Size], root{signed.Root, who})
	c.out.Checkpoints++
}

// Filling tells whether rows from before are still being sealed.
func (c *Check) Filling() bool { return c.last.Filling || c.last.Note == "" }

// FeedSeq is the number of the feed up to which everything is sealed.
func (c *Check) FeedSeq() int64 { return c.last.FeedSeq }

// Leaf takes the next leaf and the hash that its row has now; nil: the row is gone.
func (c *Check) Leaf(n int64, leaf Leaf, now *Hash) {
	if n != c.tree.Size() {
		c.add("leaf %d: leaf %d is missing before it", n, c.tree.Size())
	}
	switch {
	case now == nil:
		c.add("%s %s: gone, it was sealed as leaf %d", leaf.Kind, leaf.Of, n)
	case *now != leaf.Hash:
		c.add("%s %s: changed since it was sealed as leaf %d", leaf.Kind, leaf.Of, n)
	}
	c.tree.Add(leaf.Hash)
	c.out.Leaves++
	c.compare()
}

// Stray takes a row that is in no leaf.
func (c *Check) Stray(kind Kind, of string) {
	c.add("%s %s: was never sealed and is not on its way to it", kind, of)
}

// compare looks whether anybody has signed for a tree of this size.
func (c *Check) compare() {
	size := c.tree.Size()
	for _, r := range c.roots[size] {
		if r.hash != c.tree.Root() {
			c.add("%s of %d leaves: the journal has another root, a leaf before it was changed", r.who, size)
		}
	}
	delete(c.roots, size)
}

func (c *Check) add(format string, args ...any) {
	if len(c.out.Differences) == mostListed {
		c.out.More++
		return
	}
	c.out.Differences = append(c.out.Differences, fmt.Sprintf(format, args...))
}

// End is what was found.
func (c *Check) End() *Findings {
	for size, list := range c.roots {
		for _, r := range list {
			c.add("%s of %d leaves: the journal has %d", r.who, size, c.tree.Size())
		}
	}
	switch {
	case c.last.Note == "" && c.out.Leaves > 0:
		c.add("the journal has %d leaves and no checkpoint", c.out.Leaves)
	case c.last.Tree.Size() < c.tree.Size():
		c.add("the journal has %d leaves, the newest checkpoint %d", c.tree.Size(), c.last.Tree.Size())
	}
	return &c.out
}
