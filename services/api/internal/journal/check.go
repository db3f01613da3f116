package journal

import "fmt"

// Findings contains the results of a Check.
type Findings struct {
	Leaves      int64  // number of leaves that were checked
	Checkpoints int    // number of checkpoints that were compared
	Newest      string // signed text of the newest checkpoint in the database
	Filling     bool   // rows that are older than the journal are still being added
	Differences []string
	More        int // number of further differences, which are not listed
}

// maxListed is the maximum number of entries of Findings.Differences.
const maxListed = 10_000

// Check compares the leaves of a journal with the rows from which they were made, and the tree of the leaves with
// checkpoints. The caller must call Leaf for each leaf in order, and then End.
type Check struct {
	key   Key
	out   Findings
	tree  Tree
	last  Head
	roots map[int64][]root // by number of leaves
}

// root is the root hash that a checkpoint states. origin names the checkpoint in differences.
type root struct {
	hash   Hash
	origin string
}

// NewCheck returns a Check of a journal with the given stored heads, oldest first. external contains checkpoints that were
// stored outside the database.
func NewCheck(key Key, heads []Head, external []Checkpoint) *Check {
	c := &Check{key: key, roots: map[int64][]root{}}
	for i := range heads {
		h := &heads[i]
		signed, err := key.Open(h.Note)
		switch {
		case err != nil:
			c.add("checkpoint of %d leaves: the signature is not valid with this key", h.Tree.Size())
			continue
		case signed.Size != h.Tree.Size() || signed.Root != h.Tree.Root():
			c.add("checkpoint of %d leaves: the signed text states another root or size (%d)", h.Tree.Size(), signed.Size)
		case h.Tree.Size() < c.last.Tree.Size():
			c.add("checkpoint of %d leaves: the previous one has %d", h.Tree.Size(), c.last.Tree.Size())
		}
		c.want(signed, "checkpoint")
		c.last = *h
	}
	for _, k := range external {
		c.want(k, "external checkpoint")
	}
	c.out.Newest, c.out.Filling = c.last.Note, c.last.Filling
	c.compare()
	return c
}

func (c *Check) want(signed Checkpoint, origin string) {
	c.roots[signed.Size] = append(c.roots[signed.Size], root{signed.Root, origin})
	c.out.Checkpoints++
}

// Filling reports whether rows that are older than the journal are still being added. It also returns true if the journal has no
// checkpoint.
func (c *Check) Filling() bool { return c.last.Filling || c.last.Note == "" }

// FeedSeq returns the event number up to which the rows of all events are in the journal.
func (c *Check) FeedSeq() int64 { return c.last.FeedSeq }

// Leaf checks leaf number n, counted from 0. now is the hash of its row as currently stored, or nil if the row is missing.
func (c *Check) Leaf(n int64, leaf Leaf, now *Hash) {
	if n != c.tree.Size() {
		c.add("leaf %d: leaf %d is missing before it", n, c.tree.Size())
	}
	switch {
	case now == nil:
		c.add("%s %s: missing; it is leaf %d of the journal", leaf.Kind, leaf.Of, n)
	case *now != leaf.Hash:
		c.add("%s %s: changed since it was added as leaf %d", leaf.Kind, leaf.Of, n)
	}
	c.tree.Add(leaf.Hash)
	c.out.Leaves++
	c.compare()
}

// Stray records a difference: a row that has no leaf, although the journal should contain it.
func (c *Check) Stray(kind Kind, of string) {
	c.add("%s %s: not in the journal and not waiting to be added", kind, of)
}

// compare checks the checkpoints that state the current number of leaves. It records a difference for each of them whose
// root is not the root of the tree.
func (c *Check) compare() {
	size := c.tree.Size()
	for _, r := range c.roots[size] {
		if r.hash != c.tree.Root() {
			c.add("%s of %d leaves: the journal has another root; a leaf before it was changed", r.origin, size)
		}
	}
	delete(c.roots, size)
}

func (c *Check) add(format string, args ...any) {
	if len(c.out.Differences) == maxListed {
		c.out.More++
		return
	}
	c.out.Differences = append(c.out.Differences, fmt.Sprintf(format, args...))
}

// End returns the findings. It must be called once, after the last leaf.
func (c *Check) End() *Findings {
	for size, list := range c.roots {
		for _, r := range list {
			c.add("%s of %d leaves: the journal has only %d", r.origin, size, c.tree.Size())
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
