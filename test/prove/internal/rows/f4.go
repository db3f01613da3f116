package rows

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/signalcast/signalcast/test/prove/internal/frame"
)

// f4 starts Postgres, Redis, a hub and an api of its own in every order. Each has shown
// that it runs before the next one begins, so whoever needs a later one has met its
// absence. Ready means that a call is taken and that a reader of the live feed hears
// of it.
var f4 = frame.Row{
	ID: "F4", Title: "any start order", Limit: 3 * time.Minute,
	Fault: frame.Fault{What: "a service ends when it finds no database"},
	Run: func(ctx context.Context, env *frame.Env) (*frame.Seen, error) {
		const within = 5 * time.Second
		seen := frame.NewSeen()
		orders := permutations([]string{"pg", "redis", "hub", "api"})
		if env.Size == frame.Small {
			orders = orders[len(orders)-1:]
		}
		k, err := newKit(ctx, env, len(orders))
		if err != nil {
			return nil, err
		}
		defer k.close()
		inTime, ready, times := 0, 0, &frame.Times{}
		for i, order := range orders {
			k.halt(ctx)
			began, err := k.start(ctx, order)
			if err == nil {
				err = k.works(ctx, i, began.Add(generous*within))
			}
			if ctx.Err() != nil {
				return nil, errors.Join(ctx.Err(), err)
			}
			took := time.Since(began)
			times.Add(took)
			if err != nil {
				seen.Wrong("%v: %v", order, err)
				continue
			}
			ready++
			if took <= within {
				inTime++
			}
		}
		n := len(orders)
		seen.Figure("inTime", inTime)
		seen.Figure("median", times.At(.5))
		seen.Figure("slowest", times.At(1))
		seen.Check(ready == n, "%d of %d orders are ready within %v", ready, n, generous*within)
		seen.Promise(fmt.Sprintf("ready %d of %d ≤ 5 s", n, n), fmt.Sprintf("ready %d of %d, ≤ 5 s %d, slowest %.1f s, median %.1f s",
			ready, n, inTime, times.At(1).Seconds(), times.At(.5).Seconds()))
		seen.Volume("%d starts", 4*n)
		return seen, nil
	},
}

// permutations are all orders of a list.
func permutations(list []string) (all [][]string) {
	if len(list) == 0 {
		return [][]string{nil}
	}
	for i, first := range list {
		rest := append(append([]string{}, list[:i]...), list[i+1:]...)
		for _, order := range permutations(rest) {
			all = append(all, append([]string{first}, order...))
		}
	}
	return all
}
