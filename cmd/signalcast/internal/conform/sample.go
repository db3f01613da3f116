package conform

import (
	"context"
	"regexp"
	"slices"
)

// own is what the run made itself.
type own struct {
	handle, market, signal string
	filed                  filed
	claimed                bool     // the outcome of market, which the run made
	second                 second   // filed by the protocol route
	disputed               string   // a market that was, and has no call
	messages               []string // ids of attested messages
	open                   []string // markets that the run made and whose outcome is not claimed
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

// pick returns the first most candidates of a form, each once. What becomes part of a path has the form of the protocol,
// whatever the server answers.
func pick(form *regexp.Regexp, most int, candidates []string) (out []string) {
	for _, c := range candidates {
		if len(out) < most && form.MatchString(c) && !slices.Contains(out, c) {
			out = append(out, c)
		}
	}
	return out
}

// texts returns a member of each object of a list.
func texts(items []any, member string) []string {
	out := make([]string, 0, len(items))
	for _, item := range items {
		out = append(out, text(item, member))
	}
	return out
}

// handles returns handles of operators, that of the key first.
func (r *run) handles(ctx context.Context, most int) []string {
	all := []string{r.own.handle}
	for _, kind := range []string{"beat_crowd", "recent"} {
		all = append(all, texts(r.signals(ctx, kind), "handle")...)
	}
	board := r.get(ctx, hub, "/api/operator/leaderboard?operators=all")
	return pick(handleForm, most, append(all, texts(list(board.value, "leaderboard"), "handle")...))
}

// calls returns ids of calls, that of the run first.
func (r *run) calls(ctx context.Context, most int) []string {
	all := []string{r.own.signal}
	for _, h := range r.handles(ctx, 4) {
		all = append(all, texts(list(r.get(ctx, hub, "/api/operator/"+h).value, "recentCalls"), "signalId")...)
	}
	return pick(uuidForm, most, all)
}

// markets returns ids of markets, that of the run first.
func (r *run) markets(ctx context.Context, most int) []string {
	all := append([]string{r.own.market}, texts(r.signals(ctx, "recent"), "marketId")...)
	all = append(all, texts(list(r.get(ctx, hub, "/api/markets/airable").value, "markets"), "marketId")...)
	return pick(marketForm, most, append(all, texts(list(r.get(ctx, hub, "/api/"+r.Venue+"/markets").value, "markets"), "id")...))
}

func first(of []string) string {
	if len(of) == 0 {
		return ""
	}
	return of[0]
}
