package rows

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/signalcast/signalcast/test/prove/client"
	"github.com/signalcast/signalcast/test/prove/internal/frame"
)

// c2 writes while the database is away, and while the ledger is, through every
// door: each names what is away and says when to come again.
var c2 = frame.Row{
	ID: "C2", Title: "503 codes exactly as written",
	Fault: frame.Fault{What: "the link tells every outage as its own"},
	Run: func(ctx context.Context, env *frame.Env) (*frame.Seen, error) {
		seen := frame.NewSeen()
		c, err := gather(ctx, env, "C2", "c2-writer")
		if err != nil {
			return nil, err
		}
		all := doors(env, c)
		var hubs []door
		for _, d := range all {
			if !d.api {
				hubs = append(hubs, d)
			}
		}
		right := 0
		for _, cell := range []struct {
			down, code string
			doors      []door
		}{
			{"postgres", "db_unavailable", all},
			{"api", "signal_service_unavailable", hubs},
		} {
			up, err := env.Stack.Down(cell.down)
			if err != nil {
				return nil, err
			}
			for i, d := range cell.doors {
				if why := unavailable(env.Client.Do(ctx, d.request(env, i, nil)), cell.code); why != "" {
					seen.Wrong("%s without %s: %s", d.name, cell.down, why)
					continue
				}
				right++
			}
			if err := errors.Join(up(ctx), reachable(ctx, env, c.market)); err != nil {
				return nil, err
			}
		}
		seen.Volume("%d doors, 2 outages", len(all))
		seen.OutOf(len(all)+len(hubs), right)
		return seen, nil
	},
}

// unavailable tells what is wrong with a 503; empty: nothing.
func unavailable(a client.Answer, code string) string {
	after, err := strconv.Atoi(a.Header.Get("Retry-After"))
	switch {
	case a.Status != 503 || a.Code() != code:
		return "answered " + a.String()
	case err != nil || after < 1:
		return fmt.Sprintf("Retry-After is %q", a.Header.Get("Retry-After"))
	case a.Header.Get("Cache-Control") != "no-store":
		return fmt.Sprintf("Cache-Control is %q", a.Header.Get("Cache-Control"))
	}
	return ""
}
