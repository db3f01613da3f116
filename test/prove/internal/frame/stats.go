package frame

import (
	"slices"
	"sync"
	"time"
)

// Times gathers how long things took.
type Times struct {
	mu   sync.Mutex
	list []time.Duration
}

// Add notes one.
func (t *Times) Add(d time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.list = append(t.list, d)
}

// Len is how many were noted.
func (t *Times) Len() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.list)
}

// Each hands every time to a function.
func (t *Times) Each(do func(time.Duration)) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, d := range t.list {
		do(d)
	}
}

// At is the time below which the share q of all lie; 1 is the longest.
func (t *Times) At(q float64) time.Duration {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.list) == 0 {
		return 0
	}
	slices.Sort(t.list)
	return t.list[min(len(t.list)-1, int(q*float64(len(t.list))))]
}

// Above counts those longer than d.
func (t *Times) Above(d time.Duration) (n int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, v := range t.list {
		if v > d {
			n++
		}
	}
	return n
}
