package venue

import "sync"

// Cache stores at most Most values by a key of the venue. A full cache deletes an arbitrary value for each new key. It
// is safe for concurrent use.
type Cache[V any] struct {
	Most int // 50,000 when zero

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
	if c.values == nil {
		c.values = map[string]V{}
	}
	most := c.Most
	if most == 0 {
		most = 50_000
	}
	if _, known := c.values[key]; !known && len(c.values) >= most {
		for other := range c.values {
			delete(c.values, other)
			break
		}
	}
	c.values[key] = v
}
