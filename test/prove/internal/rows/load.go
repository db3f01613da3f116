package rows

import (
	"context"
	"sync"
	"time"
)

// steady starts do so many times a second for as long as given, whether or not
// earlier ones have come back, and waits for all. A pause of the machine is made
// up for, so that what was late counts as late.
func steady(ctx context.Context, perSecond int, lasting time.Duration, do func(i int)) int {
	var wg sync.WaitGroup
	defer wg.Wait()
	began := time.Now()
	total := int(lasting.Seconds() * float64(perSecond))
	for i := range total {
		due := began.Add(time.Duration(i) * time.Second / time.Duration(perSecond))
		select {
		case <-ctx.Done():
			return i
		case <-time.After(time.Until(due)):
		}
		wg.Go(func() { do(i) })
	}
	return total
}

// wait pauses until then, or until ctx ends.
func wait(ctx context.Context, then time.Time) error {
	for left := time.Until(then); left > 0; left = time.Until(then) {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(left):
		}
	}
	return ctx.Err()
}
