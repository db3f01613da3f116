package rows

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync/atomic"

	"github.com/signalcast/signalcast/test/prove/client"
	"github.com/signalcast/signalcast/test/prove/internal/frame"
)

// names are the ids that I8 spells in other ways, one of each kind.
type names struct {
	env  *frame.Env
	seen *frame.Seen
	rand *rand.Rand
	ids  []string
	keys []client.Key

	near  int // spellings that are near to an id; random ones follow
	share int // of the random ones, every so many are written too

	asked, good, known, claims, refused atomic.Int64
}

func newNames(ctx context.Context, env *frame.Env, seen *frame.Seen) (*names, error) {
	n := &names{env: env, seen: seen, rand: env.Rand("I8"), share: env.Of(1, 4, 1)}
	native, err := markets(ctx, env, "I8", 1)
	if err != nil {
		return nil, err
	}
	n.ids = native
	for _, p := range providers {
		id, err := venueMarket(ctx, env, p, fmt.Sprintf("Will the name of a market at %s last?", p))
		if err != nil {
			return nil, err
		}
		n.ids = append(n.ids, id)
	}
	ops, err := pool(ctx, env, "i8", env.Of(20, 40, 400), 1)
	if err != nil {
		return nil, err
	}
	for _, o := range ops {
		n.keys = append(n.keys, o.Keys[0])
	}
	return n, nil
}
