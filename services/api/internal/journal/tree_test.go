package journal

import (
	"fmt"
	"testing"

	"golang.org/x/mod/sumdb/tlog"
)

// TestTreeMatchesTlog checks that a Tree, which stores only its frontier, has the root that package tlog computes from all
// hashes.
func TestTreeMatchesTlog(t *testing.T) {
	t.Parallel()
	var stored []tlog.Hash
	read := tlog.HashReaderFunc(func(indexes []int64) ([]tlog.Hash, error) {
		out := make([]tlog.Hash, len(indexes))
		for i, at := range indexes {
			out[i] = stored[at]
		}
		return out, nil
	})
	var tree Tree
	for n := range int64(300) {
		leaf := tlog.RecordHash(fmt.Append(nil, "row ", n))
		more, err := tlog.StoredHashesForRecordHash(n, leaf, read)
		if err != nil {
			t.Fatal(err)
		}
		stored = append(stored, more...)
		tree.Add(leaf)
		want, err := tlog.TreeHash(n+1, read)
		if err != nil {
			t.Fatal(err)
		}
		if tree.Root() != want {
			t.Fatalf("%d leaves: the root differs from that of package tlog", n+1)
		}
		again, err := Restore(tree.Size(), tree.Frontier())
		if err != nil || again.Root() != want {
			t.Fatalf("%d leaves: restored: %v", n+1, err)
		}
	}
	if _, err := Restore(3, tree.Frontier()[:1]); err == nil {
		t.Error("Restore accepted a frontier of the wrong length")
	}
}

func TestCheckpoints(t *testing.T) {
	t.Parallel()
	key, err := NewKey("0123456789abcdef0123456789abcdef")
	if err != nil {
		t.Fatal(err)
	}
	other, err := NewKey("another one, of at least 32 bytes")
	if err != nil {
		t.Fatal(err)
	}
	var tree Tree
	tree.Add(tlog.RecordHash([]byte("a row")))
	signed, err := key.Sign(&tree)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := key.Open(signed); err != nil || got.Size != 1 || got.Root != tree.Root() {
		t.Errorf("Open returned %+v, %v", got, err)
	}
	for name, text := range map[string]string{"none": "", "changed": "x" + signed, "another size": signed[:len(origin)+1] + "2" + signed[len(origin)+2:]} {
		if _, err := key.Open(text); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
	if _, err := other.Open(signed); err == nil {
		t.Error("a checkpoint of another key was accepted")
	}
}
