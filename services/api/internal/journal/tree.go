package journal

import (
	"crypto/sha256"
	"errors"
	"math/bits"

	"golang.org/x/mod/sumdb/tlog"
)

// Hash is the hash of a leaf or of a tree.
type Hash = tlog.Hash

// Tree is what is needed of a tree to let it grow: its size and the roots of the full
// trees that it is made of, largest first. The zero value is the empty tree.
type Tree struct {
	size     int64
	frontier []Hash
}

// ErrTree says that a size and an edge do not belong together.
var ErrTree = errors.New("journal: the edge is not that of a tree of this size")

// Restore is the tree that was kept as a size and an edge.
func Restore(size int64, edge []Hash) (Tree, error) {
	if size < 0 || bits.OnesCount64(uint64(size)) != len(edge) {
		return Tree{}, ErrTree
	}
	return Tree{size, append([]Hash{}, edge...)}, nil
}

// Size is the number of leaves.
func (t *Tree) Size() int64 { return t.size }

// Frontier is what Restore takes.
func (t *Tree) Frontier() []Hash { return append([]Hash{}, t.frontier...) }

// Add appends a leaf.
func (t *Tree) Add(leaf Hash) {
	for n := t.size; n&1 == 1; n >>= 1 {
		last := len(t.frontier) - 1
		leaf = tlog.NodeHash(t.frontier[last], leaf)
		t.frontier = t.frontier[:last]
	}
	t.frontier = append(t.frontier, leaf)
	t.size++
}

// Root is the root (RFC 6962, 2.1).
func (t *Tree) Root() Hash {
	if t.size == 0 {
		return sha256.Sum256(nil)
	}
	root := t.frontier[len(t.frontier)-1]
	for i := len(t.frontier) - 2; i >= 0; i-- {
		root = tlog.NodeHash(t.frontier[i], root)
	}
	return root
}
