package ratelimit

import "slices"

// calls is the sliding log of one key: times of accepted calls in nanoseconds,
// oldest first.
type calls []int64

// expire drops the calls that are window or more before now. When the clock was
// set back the log moves with it, as in the script.
func (c calls) expire(now, window int64) calls {
	if n := len(c); n > 0 && c[n-1] > now {
		shift := c[n-1] - now
		for i := range c {
			c[i] -= shift
		}
	}
	return c[:copy(c, c.after(now-window))]
}

// add keeps the order: a call noted late may belong before others.
func (c calls) add(at int64) calls {
	return slices.Insert(c, len(c)-len(c.after(at)), at)
}

// after is the part of the log that is younger than at.
func (c calls) after(at int64) calls {
	first, _ := slices.BinarySearch(c, at+1)
	return c[first:]
}
