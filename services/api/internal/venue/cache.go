package venue

import "sync"

// mostCached bounds each Cache.
const mostCached = 50_000

// Cache stores values by a key of the venue; a full cache is emptied. The zero value is
// ready. It is safe for concurrent use.
type Cache[V any] struct {
	mu     sync.Mutex
	values map[string]V
}

// Get returns the value of a key.
func (c *Cache[V]) Get(key string) (V, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	v, ok := c.values[key]
	return v, ok
}

// Put stores the value of a key.
func (c *Cache[V]) Put(key string, v V) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.values == nil || len(c.values) >= mostCached {
		c.values = map[string]V{}
	}
	c.values[key] = v
}
