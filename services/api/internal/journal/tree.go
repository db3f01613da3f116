package journal

import (
	"crypto/sha256"
	"errors"
	"math/bits"

	"golang.org/x/mod/sumdb/tlog"
)

// Hash is the SHA-256 hash of a leaf or an inner node of the tree.
type Hash = tlog.Hash

// Tree contains the part of a Merkle tree that is needed to append leaves: the number of leaves, and the roots of the complete
// subtrees, largest first. The zero value is the empty tree.
type Tree struct {
	size     int64
	frontier []Hash
}

// ErrTree is returned by Restore if the number of subtrees does not match the size of the tree.
var ErrTree = errors.New("journal: the frontier does not match the size of the tree")

// Restore returns the tree with size leaves. frontier contains the roots of its complete subtrees, as Frontier has returned
// them. Error: ErrTree.
func Restore(size int64, frontier []Hash) (Tree, error) {
	if size < 0 || bits.OnesCount64(uint64(size)) != len(frontier) {
		return Tree{}, ErrTree
	}
	return Tree{size, append([]Hash{}, frontier...)}, nil
}

// Size returns the number of leaves of the tree.
func (t *Tree) Size() int64 { return t.size }

// Frontier returns a copy of the roots of the complete subtrees, largest first. Restore accepts it.
func (t *Tree) Frontier() []Hash { return append([]Hash{}, t.frontier...) }

// Add appends a leaf with this hash to the tree.
func (t *Tree) Add(leaf Hash) {
	for n := t.size; n&1 == 1; n >>= 1 {
		last := len(t.frontier) - 1
		leaf = tlog.NodeHash(t.frontier[last], leaf)
		t.frontier = t.frontier[:last]
	}
	t.frontier = append(t.frontier, leaf)
	t.size++
}

// Root returns the root hash of the tree (RFC 6962, 2.1). For an empty tree, it is the SHA-256 of no bytes.
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
