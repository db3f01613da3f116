package broker

import (
	"slices"
	"sort"
)

// newest stores the newest event without a number of each key, up to maxNewest, in the order of their changes. Changes are
// numbered from 1, so that a lagging subscription continues after the last change that it was sent.
type newest struct {
	last  int64   // number of the last change
	list  []*news // by ascending number; contains replaced events until the next compaction
	byKey map[ephemeralKey]*news
}

// news is a stored event. A later event with the same key has replaced it if replaced is true.
type news struct {
	*ephemeral
	number   int64
	replaced bool
}

// put stores an event. It replaces the event with the same key or, if maxNewest other events are stored, the oldest of them.
func (n *newest) put(e *ephemeral) {
	if n.byKey == nil {
		n.byKey = make(map[ephemeralKey]*news)
	}
	n.last++
	added := &news{ephemeral: e, number: n.last}
	if old := n.byKey[e.key]; old != nil {
		old.replaced = true
	}
	n.byKey[e.key] = added
	n.list = append(n.list, added)
	for len(n.byKey) > maxNewest {
		if !n.list[0].replaced {
			delete(n.byKey, n.list[0].key)
		}
		n.list[0], n.list = nil, n.list[1:]
	}
	if len(n.list) > 2*len(n.byKey)+16 {
		n.list = slices.DeleteFunc(n.list, func(e *news) bool { return e.replaced })
	}
}

// after returns the frames of the events that changed after the given number, up to about chunkBytes, and the number up to which
// it has searched.
func (n *newest) after(number int64) (frames []byte, through int64) {
	start := sort.Search(len(n.list), func(i int) bool { return n.list[i].number > number })
	for _, e := range n.list[start:] {
		if len(frames) >= chunkBytes {
			return frames, number
		}
		if number = e.number; !e.replaced {
			frames = append(frames, e.frame...)
		}
	}
	return frames, n.last
}
