package conform

import (
	"context"
	"net/http"
	"slices"
	"time"

	"github.com/signalcast/signalcast/cmd/signalcast/internal/show"
)

// clearing is how long a run that was ended may still take for what it has made.
const clearing = 5 * time.Second

// clear cleans up after an interrupted run: it clears the disputes of its markets and resolves each as INVALID, so that calls on
// it are void. It returns what is left, and does not wait for limits.
func (r *run) clear(ctx context.Context) (left []string) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), clearing)
	defer cancel()
	for _, market := range slices.Clone(r.own.open) {
		_ = r.settle(ctx, "/api/resolution/dispute", "marketId", market, "disputed", false)
		a := r.settle(ctx, "/api/resolution/finalize", "marketId", market, "verdict", "INVALID", "reason", "conformance kit")
		if a.err != nil || a.status != http.StatusOK && text(a.value, "error") != "already_resolved" {
			left = append(left, "the market "+market+" ("+show.Short(a.came(), 80)+")")
		}
	}
	if r.own.asked != "" {
		left = append(left, "perhaps a market that asks "+r.own.asked)
	}
	switch { // calls are never taken back
	case r.Market == "":
	case r.own.signal != "":
		left = append(left, "the call "+r.own.signal)
	case r.own.calling:
		left = append(left, "perhaps a call on "+r.Market)
	}
	return left
}

// settle is an act of the admin that is sent once, whatever is left of any limit.
func (r *run) settle(ctx context.Context, path string, pairs ...any) *answer {
	return r.ask(ctx, request{method: http.MethodPost, host: hub, path: path, admin: true, body: object(pairs...)})
}
