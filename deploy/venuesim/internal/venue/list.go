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

// listSeconds is how long a list is reused, as the caches of the venues do, unless the world changes.
const listSeconds = 10

// Entry is the place of a market in a sorted list.
type Entry struct {
	Key float64 // descending; then ID, descending
	ID  int64
}

func compare(a, b Entry) int { return cmp.Or(cmp.Compare(b.Key, a.Key), cmp.Compare(b.ID, a.ID)) }

// Lists caches sorted lists of markets by name: all pages of a walk read the same one. It is safe for concurrent use, and its
// zero value is ready.
type Lists struct {
	mu    sync.Mutex
	stamp string
	lists map[string][]Entry
}

// Get returns the list of a name. entry returns the place of a market, and false for a market that is not in the list.
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

// Page returns up to limit entries after a cursor, and the cursor of the next page, which is empty on the last one. ok is
// false for a cursor that Page did not return.
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
