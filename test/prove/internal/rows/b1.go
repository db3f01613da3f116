package rows

import (
	"context"
	"time"

	"github.com/signalcast/signalcast/test/prove/internal/frame"
)

// b1 kills one hub after the other under sixteen writers.
var b1 = frame.Row{
	ID: "B1", Title: "every acknowledged write survives kill -9 of a hub",
	Fault: frame.Fault{What: "the hub answers before the ledger does"},
	Run: func(ctx context.Context, env *frame.Env) (*frame.Seen, error) {
		seen := frame.NewSeen()
		c, err := newCrash(ctx, env, seen, "b1")
		if err != nil {
			return nil, err
		}
		names, rounds := []string{"hub", "hub-2"}, env.Of(3, 5, 50)
		var back frame.Times
		err = c.run(ctx, rounds, func(ctx context.Context, i int) error {
			began := time.Now()
			err := env.Stack.Crash(ctx, names[i%len(names)])
			back.Add(time.Since(began))
			return err
		})
		if err != nil {
			return nil, err
		}
		seen.Figure("slowestReturn", back.At(1))
		return seen, c.acknowledged(ctx, rounds)
	},
}
