package market

import (
	"maps"
	"time"

	"github.com/signalcast/signalcast/pkg/syntax"
)

// memory stores ids until a time. When it is full it deletes those whose time has passed, and
// all of them if that is not enough, because callers choose the ids.
type memory map[syntax.MarketID]time.Time

func (m memory) holds(id syntax.MarketID, now time.Time) bool {
	until, ok := m[id]
	if ok && !now.Before(until) {
		delete(m, id)
		return false
	}
	return ok
}

func (m memory) put(id syntax.MarketID, now, until time.Time) {
	if len(m) >= maxMemory {
		maps.DeleteFunc(m, func(_ syntax.MarketID, end time.Time) bool { return !now.Before(end) })
		if len(m) > maxMemory/2 { // so that the next full one is far away
			clear(m)
		}
	}
	m[id] = until
}
