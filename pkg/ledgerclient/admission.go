package ledgerclient

import "time"

const (
	// targetLatency is the time within which an admitted call should be answered while the queue is full.
	targetLatency = 750 * time.Millisecond
	// maxQueueTime is the longest time that a call may wait before it is sent. The client of a call that waited
	// longer would time out before the api has stored the call.
	maxQueueTime = 1750 * time.Millisecond
	// slowBatch is the latency of a batch above which later batches are smaller.
	slowBatch = 750 * time.Millisecond
	// minWindow is the shortest observation from which the capacity of the api is estimated.
	minWindow = 250 * time.Millisecond

	minBatchSize = 64
)

// admission decides how many calls may be pending and how many are sent in one batch.
//
// Without it, an api that receives more calls than it can store answers few of them in time: most calls are stored
// after their clients have timed out. While the queue is longer than one batch, admission limits the pending calls to
// the number that the api answered per targetLatency since windowStart.
type admission struct {
	limit     int // maximum number of pending calls
	batchSize int

	overloaded  bool      // the queue was longer than one batch when the last batch completed
	windowStart time.Time // valid while overloaded
	completed   int       // calls answered since windowStart
}

func newAdmission() admission { return admission{limit: maxPending, batchSize: minBatchSize} }

// admit reports whether another call may enter when pending calls are queued or in flight.
func (a *admission) admit(pending int) bool { return pending < a.limit }

// expired reports whether a call that has waited for the time waited must be rejected instead of sent.
func (a *admission) expired(waited time.Duration) bool { return waited > maxQueueTime }

// reset ends an overload and restores the limit maxPending.
func (a *admission) reset() { a.limit, a.overloaded = maxPending, false }

// observe records a completed batch: its size, its latency and the number of calls that are still queued. It then adjusts the
// batch size and the limit of pending calls. Capacity is estimated from full batches only, because the size of smaller
// batches reflects the arrival rate.
func (a *admission) observe(now time.Time, calls int, latency time.Duration, queued int) {
	full := calls >= a.batchSize
	switch {
	case latency > slowBatch:
		a.batchSize = max(minBatchSize, a.batchSize/2)
	case latency < slowBatch/2 && full:
		a.batchSize = min(maxBatchSize, 2*a.batchSize)
	}
	if queued <= a.batchSize { // the next batch takes all queued calls: raise the limit gradually
		a.limit, a.overloaded = min(a.limit+a.limit/4, maxPending), false
		return
	}
	switch {
	case a.overloaded:
		a.completed += calls
	case full: // the other batches in flight count as completed too
		a.overloaded, a.windowStart, a.completed = true, now.Add(-latency), maxSenders*calls
	}
	if window := now.Sub(a.windowStart); full && window >= minWindow {
		capacity := int(float64(a.completed) * float64(targetLatency) / float64(window))
		a.limit = min(max(capacity, a.batchSize), maxPending)
		a.windowStart, a.completed = now, 0
	}
}
