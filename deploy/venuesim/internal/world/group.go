package world

import "hash/fnv"

// Members gives the markets of the event whose first market has the number
// head, in their order; none when no event begins there.
func (w *World) Members(head int64) []Market {
	first, ok := w.Get(head)
	if !ok || first.Event.Head != head {
		return nil
	}
	numbers := make([]int64, 0, first.Event.Children)
	if first.Created() {
		w.mu.RLock()
		numbers = append(numbers, w.groups[first.Event.ID]...)
		w.mu.RUnlock()
	} else {
		for i := range first.Event.Children {
			numbers = append(numbers, head+int64(i))
		}
	}
	out := make([]Market, 0, len(numbers))
	for _, n := range numbers {
		if m, ok := w.Get(n); ok && m.Event.Head == head {
			out = append(out, m)
		}
	}
	return out
}

// Draw is a number fixed by what it is drawn for.
func Draw(salt string, n uint64) uint64 {
	h := fnv.New64a()
	var b [8]byte
	for i := range b {
		b[i] = byte(n >> (8 * i))
	}
	_, _ = h.Write([]byte(salt))
	_, _ = h.Write(b[:])
	v := h.Sum64()
	v = (v ^ v>>31) * 0xbf58476d1ce4e5b9
	return v ^ v>>29
}
