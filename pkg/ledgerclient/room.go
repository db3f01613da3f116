package ledgerclient

import (
	"time"
)

const (
	// fairTime is how long a call may take when many wait.
	fairTime = 750 * time.Millisecond
	// lastWait is how long one may wait and still be carried; after it its caller
	// would leave while it is being written.
	lastWait = 1750 * time.Millisecond
	// longFlight is how long a message may be under way before the next carry less.
	longFlight = 750 * time.Millisecond
	// leastLook is how long the ledger is looked at before it is judged.
	leastLook = 250 * time.Millisecond

	leastJoined = 64
)

// room is how many calls may be pending, and how many of them travel together. While
// more wait than one message carries, only as many may be pending as were answered
// lately within fairTime. Without that, a ledger that is offered more than it can write
// gets calls that have waited for almost all of their time and writes them for nobody,
// while those that it could answer wait behind them.
type room struct {
	places, joined int

	crowded  bool
	since    time.Time // while it is crowded: of the look
	answered int       // in it
}

func newRoom() room { return room{places: maxPending, joined: leastJoined} }

// fits tells whether one more call may come when so many are pending.
func (r *room) fits(pending int) bool {
	return pending < r.places
}

// carries tells whether a call that has waited so long still goes out.
func (r *room) carries(waited time.Duration) bool { return waited <= lastWait }

// rest forgets what was learned of a crowd that is gone.
func (r *room) rest() { r.places, r.crowded = maxPending, false }

// learn takes that a message with so many calls was answered after such a flight, and
// how many wait now. Only messages that were full tell how much the ledger can take.
func (r *room) learn(now time.Time, calls int, flight time.Duration, waiting int) {
	full := calls >= r.joined
	switch {
	case flight > longFlight:
		r.joined = max(leastJoined, r.joined/2)
	case flight < longFlight/2 && full:
		r.joined = min(maxJoined, 2*r.joined)
	}
	if waiting <= r.joined { // the next message takes all; more may come, if not all at once
		r.places, r.crowded = min(r.places+r.places/4, maxPending), false
		return
	}
	switch {
	case r.crowded:
		r.answered += calls
	case full: // as many came by the flight beside it
		r.crowded, r.since, r.answered = true, now.Add(-flight), maxFlights*calls
	}
	if look := now.Sub(r.since); full && look >= leastLook {
		within := int(float64(r.answered) * float64(fairTime) / float64(look))
		r.places = min(max(within, r.joined), maxPending)
		r.since, r.answered = now, 0
	}
}
