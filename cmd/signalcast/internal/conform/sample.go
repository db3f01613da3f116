package conform

import (
	"context"
	"regexp"
	"slices"
)

// state contains the data of the run that later checks and the cleanup use.
type state struct {
	handle, market, signal string     // handle of the key; market and id of the first call
	filed                  filed      // request of the first call
	claimed                bool       // the run claims the outcome of market
	second                 secondCall // call that was filed through the protocol route
	disputed               string     // id of a market whose dispute was cleared; it has no calls
	messages               []string   // ids of attested messages
	open                   []string   // ids of markets that the run created and has not resolved
	pendingQuestion        string     // question of a market whose creation was not answered
	callPending            bool       // the request of the first call was not answered
}

// signals requests the feed with the value kind for the query parameter type. It returns up to 50 calls.
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

// pick returns the first candidates that match form, without duplicates, up to the given maximum number. Values of an untrusted
// server must match before they become part of a path.
func pick(form *regexp.Regexp, most int, candidates []string) (out []string) {
	for _, c := range candidates {
		if len(out) < most && form.MatchString(c) && !slices.Contains(out, c) {
			out = append(out, c)
		}
	}
	return out
}

// texts returns the text of the given member of each object in items.
func texts(items []any, member string) []string {
	out := make([]string, 0, len(items))
	for _, item := range items {
		out = append(out, text(item, member))
	}
	return out
}

// handles returns handles of operators, up to the given maximum number. The handle of the key comes first.
func (r *run) handles(ctx context.Context, most int) []string {
	all := []string{r.state.handle}
	for _, kind := range []string{"beat_crowd", "recent"} {
		all = append(all, texts(r.signals(ctx, kind), "handle")...)
	}
	board := r.get(ctx, hub, "/api/operator/leaderboard?operators=all")
	return pick(handleForm, most, append(all, texts(list(board.value, "leaderboard"), "handle")...))
}

// calls returns ids of calls, up to the given maximum number. The first call that the run filed comes first.
func (r *run) calls(ctx context.Context, most int) []string {
	all := []string{r.state.signal}
	for _, h := range r.handles(ctx, 4) {
		all = append(all, texts(list(r.get(ctx, hub, "/api/operator/"+h).value, "recentCalls"), "signalId")...)
	}
	return pick(uuidForm, most, all)
}

// markets returns ids of markets, up to the given maximum number. The market of the first call of the run comes first.
func (r *run) markets(ctx context.Context, most int) []string {
	all := append([]string{r.state.market}, texts(r.signals(ctx, "recent"), "marketId")...)
	all = append(all, texts(list(r.get(ctx, hub, "/api/markets/airable").value, "markets"), "marketId")...)
	return pick(marketForm, most, append(all, texts(list(r.get(ctx, hub, "/api/"+r.Venue+"/markets").value, "markets"), "id")...))
}

func first(of []string) string {
	if len(of) == 0 {
		return ""
	}
	return of[0]
}
