package rows

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"time"

	"github.com/signalcast/signalcast/test/prove/client"
	"github.com/signalcast/signalcast/test/prove/internal/frame"
)

// entry is an entry of a director that the programme has room for: a market in the
// place where the programme has it anyway.
func entry(ctx context.Context, env *frame.Env) (map[string]any, error) {
	tick := time.NewTicker(200 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(30 * time.Second); time.Now().Before(end); {
		var program struct {
			Segments []struct{ Kind, ID, Category, StartsAt string }
		}
		a := env.Client.Do(ctx, client.Request{URL: env.Hub(0) + "/api/broadcast/program?limit=400&lanes=0"})
		if err := a.Into(http.StatusOK, &program); err != nil {
			return nil, err
		}
		var fits []map[string]any
		for _, s := range program.Segments {
			if at, err := time.Parse(time.RFC3339, s.StartsAt); s.Kind == "bumper" && err == nil && time.Until(at) > time.Minute {
				fits = append(fits, map[string]any{"marketId": s.ID, "lane": s.Category, "startsAt": s.StartsAt, "reason": "as it was"})
			}
		}
		if len(fits) > 0 {
			return fits[rand.IntN(len(fits))], nil
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-tick.C:
		}
	}
	return nil, fmt.Errorf("the programme stays empty")
}
