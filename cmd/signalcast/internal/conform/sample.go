package conform

import (
	"context"
	"regexp"
)

// own is what the run made itself.
type own struct {
	handle, market, signal string
	filed                  filed
	claimed                bool     // the outcome of market, which the run made
	second                 second   // filed by the protocol route
	disputed               string   // a market that was, and has no call
	messages               []string // ids of attested messages
	open                   []string // markets that the run made and nobody has claimed
	asked                  string   // the question of a market whose making was not answered
	calling                bool     // filed was sent and not answered
}

// signals are calls of the feed, newest first.
func (r *run) signals(ctx context.Context, kind string) []any {
	return list(r.get(ctx, hub, "/api/signals/feed?type="+kind+"&limit=50").value, "signals")
}

var (
	handleForm = regexp.MustCompile(`^[a-z0-9_]{2,32}$`)
	uuidForm   = regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$`)
	marketForm = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9:._-]{0,127}$`)
	maskForm   = regexp.MustCompile(`^op_[0-9a-f]{16}$`)
	codeForm   = regexp.MustCompile(`^[a-z][a-z0-9]*(_[a-z0-9]+)*$`)
)

// handles are operators that can be asked for. What becomes part of a path has the form
// of the protocol, whatever the server says.
func (r *run) handles(ctx context.Context, most int) (out []string) {
	seen := map[string]bool{}
	add := func(h string) {
		if handleForm.MatchString(h) && !seen[h] && len(out) < most {
			seen[h] = true
			out = append(out, h)
		}
	}
	add(r.own.handle)
	for _, kind := range []string{"beat_crowd", "recent"} {
		for _, s := range r.signals(ctx, kind) {
			add(text(s, "handle"))
		}
	}
	for _, o := range list(r.get(ctx, hub, "/api/operator/leaderboard?operators=all").value, "leaderboard") {
		add(text(o, "handle"))
	}
	return out
}

// calls are ids of calls, the run's own first.
func (r *run) calls(ctx context.Context, most int) (out []string) {
	seen := map[string]bool{}
	add := func(id string) {
		if uuidForm.MatchString(id) && !seen[id] && len(out) < most {
			seen[id] = true
			out = append(out, id)
		}
	}
	add(r.own.signal)
	for _, h := range r.handles(ctx, 4) {
		for _, c := range list(r.get(ctx, hub, "/api/operator/"+h).value, "recentCalls") {
			add(text(c, "signalId"))
		}
	}
	return out
}

// markets are ids of markets that the server tells of.
func (r *run) markets(ctx context.Context, most int) (out []string) {
	seen := map[string]bool{}
	add := func(id string) {
		if marketForm.MatchString(id) && !seen[id] && len(out) < most {
			seen[id] = true
			out = append(out, id)
		}
	}
	add(r.own.market)
	for _, s := range r.signals(ctx, "recent") {
		add(text(s, "marketId"))
	}
	for _, m := range list(r.get(ctx, hub, "/api/markets/airable").value, "markets") {
		add(text(m, "marketId"))
	}
	for _, m := range list(r.get(ctx, hub, "/api/"+r.Venue+"/markets").value, "markets") {
		add(text(m, "id"))
	}
	return out
}

func first(of []string) string {
	if len(of) == 0 {
		return ""
	}
	return of[0]
}
