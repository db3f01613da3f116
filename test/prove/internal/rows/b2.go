package rows

import (
	"context"
	"time"

	"github.com/signalcast/signalcast/test/prove/internal/frame"
)

// b2 kills Postgres with all its processes under sixteen writers. What the kernel
// and the disk have taken stays: lost page caches and lying disks are not covered.
var b2 = frame.Row{
	ID: "B2", Title: "… and kill -9 of Postgres", Limit: 2 * time.Minute,
	// A killed process loses only what it had not yet handed to the kernel, which the
	// writer of the log does within moments; so it is held still.
	Fault: frame.Fault{
		What: "commits are answered before they are on disk", Settings: []string{"synchronous_commit=off"},
		Plant: func(ctx context.Context, env *frame.Env) error {
			writer, err := env.Count(ctx, "SELECT pid FROM pg_stat_activity WHERE backend_type = 'walwriter'")
			if err != nil {
				return err
			}
			return env.Stack.HangChild("postgres", writer)
		},
	},
	Run: func(ctx context.Context, env *frame.Env) (*frame.Seen, error) {
		seen := frame.NewSeen()
		c, err := newCrash(ctx, env, seen, "b2")
		if err != nil {
			return nil, err
		}
		rounds := env.Of(1, 5, 50)
		var back frame.Times
		err = c.run(ctx, rounds, func(ctx context.Context, _ int) error {
			began := time.Now()
			err := env.Stack.Crash(ctx, "postgres")
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
