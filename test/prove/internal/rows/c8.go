package rows

import (
	"context"
	"fmt"
	"time"

	"github.com/signalcast/signalcast/test/prove/internal/frame"
)

// c8 looks at how soon every route is as before once a fault of C1 has ended.
// Nothing is started again.
var c8 = frame.Row{
	ID: "C8", Title: "recovery needs no restart", Limit: 4 * time.Minute,
	Fault: frame.Fault{What: "a lost peer is looked for five seconds later"},
	Run: func(ctx context.Context, env *frame.Env) (*frame.Seen, error) {
		seen := frame.NewSeen()
		m, err := theMatrix(ctx, env)
		if err != nil {
			return nil, err
		}
		const soon = 2 * time.Second
		limit := soon + min(generous*max(m.slowest, atLeast), soon)
		var times frame.Times
		n := 0
		for _, r := range m.mended {
			times.Add(r.took)
			seen.Check(r.why == "" && r.took <= limit, "%s %s: not normal after %v: %s", r.lost, r.how, r.took.Round(time.Millisecond), r.why)
			if r.why == "" && r.took <= soon {
				n++
			}
		}
		seen.Figure("longest", times.At(1))
		seen.Figure("median", times.At(.5))
		seen.Promise(fmt.Sprintf("normal ≤ 2 s after, %d of %d", len(m.mended), len(m.mended)),
			fmt.Sprintf("%d of %d, longest %d ms", n, len(m.mended), times.At(1).Milliseconds()))
		seen.Volume("%d routes after %d faults", m.routes, len(m.mended))
		return seen, nil
	},
}
