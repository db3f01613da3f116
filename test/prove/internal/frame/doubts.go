package frame

import "sync"

// Write is one call that a client filed, with what it heard.
type Write struct {
	Market, User string // User is the operator's id
	Key          string // the credential
	Idem         string // Idempotency-Key; empty: none
	Yes          bool
	Price        int
	ID           string // of the acknowledgement; empty when there was none
}

// Doubts gathers the writes whose answer was lost, for the row that asks again.
type Doubts struct {
	mu   sync.Mutex
	list []Write
}

// Add keeps writes.
func (d *Doubts) Add(list ...Write) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.list = append(d.list, list...)
}

// Take hands out what was kept.
func (d *Doubts) Take() []Write {
	d.mu.Lock()
	defer d.mu.Unlock()
	list := d.list
	d.list = nil
	return list
}
