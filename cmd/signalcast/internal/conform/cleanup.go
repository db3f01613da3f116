package conform

import (
	"context"
	"net/http"
	"slices"
	"time"

	"github.com/signalcast/signalcast/cmd/signalcast/internal/show"
)

const cleanUpTimeout = 5 * time.Second

// cleanUp closes the markets that an interrupted run created: it clears their disputes and resolves each as INVALID. It does
// not wait for rate limits. It returns descriptions of the markets that may still be open. It also describes the call on the
// configured market, because calls cannot be deleted.
func (r *run) cleanUp(ctx context.Context) (left []string) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), cleanUpTimeout)
	defer cancel()
	for _, market := range slices.Clone(r.state.open) {
		_ = r.adminOnce(ctx, "/api/resolution/dispute", "marketId", market, "disputed", false)
		a := r.adminOnce(ctx, "/api/resolution/finalize", "marketId", market, "verdict", "INVALID", "reason", "conformance kit")
		if a.err != nil || a.status != http.StatusOK && text(a.value, "error") != "already_resolved" {
			left = append(left, "the market "+market+" ("+show.Short(a.summary(), 80)+")")
		}
	}
	if r.state.pendingQuestion != "" {
		left = append(left, "possibly a market with the question "+r.state.pendingQuestion)
	}
	switch { // calls cannot be deleted
	case r.Market == "":
	case r.state.signal != "":
		left = append(left, "the call "+r.state.signal)
	case r.state.callPending:
		left = append(left, "possibly a call on "+r.Market)
	}
	return left
}

// adminOnce sends a POST request with the admin secret once, without waiting for rate limits. pairs are the names and values of
// the body.
func (r *run) adminOnce(ctx context.Context, path string, pairs ...any) *answer {
	return r.sendNow(ctx, request{method: http.MethodPost, host: hub, path: path, admin: true, body: object(pairs...)})
}
