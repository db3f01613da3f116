package venue

import "sync"

// Cache stores values by key. Its size is limited by the field Most. When it is full, it deletes an arbitrary value for each
// new key. Values do not expire. Cache is safe for concurrent use.
type Cache[V any] struct {
	Most int // largest number of values; 0 means 50,000

	mu     sync.Mutex
	values map[string]V
}

// Get returns the value of a key. The second result is false if the key has no value.
func (c *Cache[V]) Get(key string) (V, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	v, ok := c.values[key]
	return v, ok
}

// Put stores the value of a key and replaces an earlier value.
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
