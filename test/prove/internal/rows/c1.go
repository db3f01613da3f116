package rows

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/signalcast/signalcast/test/prove/internal/frame"
)

// atLeast is what the machine of a check may add by itself to a short time.
const atLeast = 200 * time.Millisecond

// c1 reads every route that the description knows while each dependency fails
// in each way. What may say 503 is what the description says: single objects,
// and lists never.
var c1 = frame.Row{
	ID: "C1", Title: "graceful-empty reads, every route, every fault", Limit: 4 * time.Minute,
	Fault: frame.Fault{What: "lists have no empty form"},
	Run: func(ctx context.Context, env *frame.Env) (*frame.Seen, error) {
		seen := frame.NewSeen()
		m, err := theMatrix(ctx, env)
		if err != nil {
			return nil, err
		}
		m.bad(ctx, seen)
		const most = time.Second
		limit := most + generous*max(m.slowest, atLeast)
		right, late, waited := 0, 0, map[loss][]string{}
		times, empty, refused := &frame.Times{}, 0, 0
		for _, c := range m.cells {
			times.Add(c.answer.Took())
			if c.answer.Took() > most {
				late++
			}
			if c.answer.Header.Get("X-Degraded") != "" {
				empty++
			}
			if c.answer.Status == http.StatusServiceUnavailable {
				refused++
			}
			switch why := m.broken(ctx, c); {
			case why != "":
				seen.Wrong("%s: %s", c, why)
			case c.answer.Took() > limit:
				key := loss{c.lost, c.how}
				waited[key] = append(waited[key], fmt.Sprintf("%s %d ms", c.op.Name(), c.answer.Took().Milliseconds()))
			default:
				right++
			}
		}
		for key, list := range waited {
			seen.Wrong("%s %s: %d answers took too long: %s", key.lost, key.how, len(list), strings.Join(list, ", "))
		}
		for i, name := range []string{"slowest", "p99"} {
			seen.Figure(name, times.At([]float64{1, .99}[i]))
		}
		seen.Figure("slowestBefore", m.slowest)
		seen.Figure("above1s", late)
		seen.Figure("degraded", empty)
		seen.Figure("refused", refused)
		seen.Promise("cells 100%, slowest ≤ 1 s", fmt.Sprintf("%s of %s, slowest %d ms (%d above 1 s)",
			frame.Number(right), frame.Number(len(m.cells)), times.At(1).Milliseconds(), late))
		seen.Volume("%d routes, %d faults, %d answered empty, %d with 503", m.routes, len(m.mended), empty, refused)
		return seen, nil
	},
}

// broken tells what is wrong with a cell; empty: nothing.
func (m *matrix) broken(ctx context.Context, c *cell) string {
	a := c.answer
	if a.Err == nil && a.Status != http.StatusOK && a.Status != http.StatusServiceUnavailable && !m.healthy(c.read, a.Status) {
		return fmt.Sprintf("answered %.120s, and never so while all is well", a)
	}
	if err := c.fits(ctx); err != nil {
		return fmt.Sprintf("%s: %.120s", oneLine(err), a)
	}
	return ""
}
