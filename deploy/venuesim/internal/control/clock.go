package control

import (
	"net/http"
	"sync"
	"time"
)

// Clock is the clock of all venues. It follows the clock of the machine until a test sets it. Then it stays at the time that
// the test set.
type Clock struct {
	machine func() time.Time

	mu  sync.Mutex
	set time.Time // zero: not set
}

// NewClock returns a clock that follows machine until a test sets it.
func NewClock(machine func() time.Time) *Clock { return &Clock{machine: machine} }

// Now returns the time of the clock.
func (c *Clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.set.IsZero() {
		return c.machine()
	}
	return c.set
}

// ServeHTTP sets the clock to the time in the member "at" of the body, in RFC 3339.
func (c *Clock) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var in struct {
		At time.Time `json:"at"`
	}
	if err := decode(w, r, &in); err != nil || in.At.IsZero() {
		answerError(w, invalid("at must be RFC 3339, such as 2027-01-31T12:00:00.5Z"))
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.set = in.At.UTC()
	answer(w, http.StatusOK, map[string]string{"at": c.set.Format(time.RFC3339Nano)})
}

// Wrap returns a handler that sets the header Date of each response to the time of the clock.
func (c *Clock) Wrap(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Date", c.Now().UTC().Format(http.TimeFormat))
		next.ServeHTTP(w, r)
	})
}
