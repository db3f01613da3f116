package ratelimit

import "slices"

// calls is the sliding log of one key: the times of its allowed requests in nanoseconds, oldest first.
type calls []int64

// expire removes the requests whose age at the time now is at least window. If the last request is later than now, the clock was
// set back: expire then shifts the log by the difference, like slide.lua.
func (c calls) expire(now, window int64) calls {
	if n := len(c); n > 0 && c[n-1] > now {
		shift := c[n-1] - now
		for i := range c {
			c[i] -= shift
		}
	}
	return c[:copy(c, c.after(now-window))]
}

// add inserts the time of a request in chronological order. The log may already contain a later time of a concurrent request.
func (c calls) add(at int64) calls {
	return slices.Insert(c, len(c)-len(c.after(at)), at)
}

// after returns the part of the log with times later than at. It shares the memory of the log.
func (c calls) after(at int64) calls {
	first, _ := slices.BinarySearch(c, at+1)
	return c[first:]
}
