package rows

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/signalcast/signalcast/test/prove/internal/frame"
)

// c3 looks at the same answers again: what is less than whole may be kept by
// nobody, a thing that cannot be read is not a thing that does not exist, and
// whatever an answer says, the healthy system says too.
var c3 = frame.Row{
	ID: "C3", Title: "a degraded answer is never cached, never invented", Limit: 4 * time.Minute,
	Fault: frame.Fault{What: "an empty answer may be kept like a whole one"},
	Run: func(ctx context.Context, env *frame.Env) (*frame.Seen, error) {
		seen := frame.NewSeen()
		m, err := theMatrix(ctx, env)
		if err != nil {
			return nil, err
		}
		var degraded, cached, absent, invented int
		for _, c := range m.cells {
			a, w := c.answer, m.facts[c.key()]
			if a.Err != nil {
				continue // C1 tells of those
			}
			marked := a.Header.Get("X-Degraded") != ""
			kept := !slices.Contains(strings.Split(a.Header.Get("Cache-Control"), ", "), "no-store")
			if marked || a.Status >= 500 {
				degraded++
				if kept {
					cached++
					seen.Wrong("%s: %d may be kept: Cache-Control %q", c, a.Status, a.Header.Get("Cache-Control"))
				}
			}
			if a.Status == http.StatusNotFound && !w.status[a.Status] {
				absent++
				seen.Wrong("%s: a false 404", c)
			}
			if empty := w.missing(c); len(empty) > 0 && !marked {
				cached++
				seen.Wrong("%s: without %s, and does not say so: Cache-Control %q", c, strings.Join(empty, ", "), a.Header.Get("Cache-Control"))
			}
			if a.Status != http.StatusOK || !marked && !strings.Contains(c.op.Path, "{") {
				continue // a whole list moves on
			}
			if said := w.invented(c); len(said) > 0 {
				invented++
				seen.Wrong("%s: nobody else says %s", c, strings.Join(said[:min(len(said), 3)], ", "))
			}
		}
		seen.Check(degraded > 0, "nothing was degraded")
		seen.Promise("cached 0, false 404s 0, invented 0", fmt.Sprintf("%d, %d, %d", cached, absent, invented))
		seen.Volume("%s answers, %s less than whole", frame.Number(len(m.cells)), frame.Number(degraded))
		return seen, nil
	},
}
