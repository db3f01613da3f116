package site

import (
	"maps"
	"sync"
	"time"
)

// DegradedSources has the time at which each source was last missing in a response. All methods are safe for concurrent use.
type DegradedSources struct {
	mu sync.Mutex
	at map[string]time.Time
}

// Mark stores that a source was missing at the time now.
func (d *DegradedSources) Mark(source string, now time.Time) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.at == nil {
		d.at = map[string]time.Time{}
	}
	d.at[source] = now
}

// List returns the times by source.
func (d *DegradedSources) List() map[string]time.Time {
	d.mu.Lock()
	defer d.mu.Unlock()
	return maps.Clone(d.at)
}
