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
	Fault: frame.Fault{What: "commits are answered before they are on disk", Settings: []string{"synchronous_commit=off", "wal_writer_delay=10s", "wal_writer_flush_after=1GB"}},
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
