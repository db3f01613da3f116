package edge

import "sync"

// recordRoom counts the records that are leaving, all and by address.
type recordRoom struct {
	mu  sync.Mutex
	all int
	of  map[string]int
}

// enter takes a place; leave gives it back. Fault: rate_limited.
func (r *recordRoom) enter(address string) (leave func(), err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.all == mostRecords || r.of[address] == recordsOfOne {
		return nil, errManyRecords
	}
	if r.of == nil {
		r.of = map[string]int{}
	}
	r.all++
	r.of[address]++
	return func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.all--
		if r.of[address]--; r.of[address] == 0 {
			delete(r.of, address)
		}
	}, nil
}
