package venue

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/signalcast/signalcast/deploy/venuesim/internal/world"
)

// listSeconds is the number of seconds for which a list is cached, as at the real venues. A change of the world also invalidates
// the list.
const listSeconds = 10

// Entry is the position of a market in a sorted list.
type Entry struct {
	Key float64 // lists are sorted by Key and then by ID, both descending
	ID  int64
}

func compare(a, b Entry) int { return cmp.Or(cmp.Compare(b.Key, a.Key), cmp.Compare(b.ID, a.ID)) }

// Lists caches sorted lists of markets by name, so that consecutive pages come from the same list. It is safe for concurrent
// use. The zero value is ready for use.
type Lists struct {
	mu    sync.Mutex
	stamp string
	lists map[string][]Entry
}

// Get returns the sorted list with this name, from the cache if possible. The function entry returns the entry of a market,
// or false if the list does not contain the market.
func (l *Lists) Get(w *world.World, name string, entry func(*world.Market) (Entry, bool)) []Entry {
	l.mu.Lock()
	defer l.mu.Unlock()
	if stamp := fmt.Sprintf("%d/%d", w.Version(), w.Now().Unix()/listSeconds); l.stamp != stamp {
		l.stamp, l.lists = stamp, map[string][]Entry{}
	}
	list, ok := l.lists[name]
	if !ok {
		w.Each(func(m *world.Market) bool {
			if e, in := entry(m); in {
				list = append(list, e)
			}
			return true
		})
		slices.SortFunc(list, compare)
		list = slices.Compact(list)
		l.lists[name] = list
	}
	return list
}

// Page returns up to limit entries of list after a cursor, and the cursor of the next page. An empty cursor means the start of
// the list. next is empty on the last page. ok is false if the cursor is invalid.
func Page(list []Entry, cursor string, limit int) (page []Entry, next string, ok bool) {
	if cursor != "" {
		key, id, _ := strings.Cut(cursor, "_")
		var after Entry
		var err1, err2 error
		after.Key, err1 = strconv.ParseFloat(key, 64)
		after.ID, err2 = strconv.ParseInt(id, 10, 64)
		if err1 != nil || err2 != nil {
			return nil, "", false
		}
		at, exact := slices.BinarySearchFunc(list, after, compare)
		if exact {
			at++
		}
		list = list[at:]
	}
	page = list[:min(limit, len(list))]
	if len(page) < len(list) && len(page) > 0 {
		last := page[len(page)-1]
		next = strconv.FormatFloat(last.Key, 'f', -1, 64) + "_" + strconv.FormatInt(last.ID, 10)
	}
	return page, next, true
}
