package conform

import (
	"context"
	"fmt"
	"math"
	"net/http"
	"regexp"
	"slices"
	"strings"
)

// marketForms are the formats of market ids by provider (docs/concepts.md, Market).
var marketForms = map[string]*regexp.Regexp{
	"polymarket": regexp.MustCompile(`^[0-9]+$`), "kalshi": regexp.MustCompile(`^kalshi-`), "limitless": regexp.MustCompile(`^lmt-`),
	"manifold": regexp.MustCompile(`^manifold-`), "manual": regexp.MustCompile(`^native-`),
}

// marketIDs checks the format of market ids, and that reads of unknown ids return 404.
func marketIDs(ctx context.Context, r *run) {
	for _, path := range []string{"/api/markets/airable", "/api/network/program"} {
		a := r.get(ctx, hub, path)
		each(a.value, "", func(where string, o map[string]any) {
			provider, id := text(o, "provider"), text(o, "marketId")
			if id == "" {
				id = text(o, "id")
			}
			if form := marketForms[provider]; form != nil && id != "" {
				r.expect(form.MatchString(id) && marketForm.MatchString(id), a, "an id of "+provider, where+": "+describe(id))
			}
		})
	}
	for _, id := range []string{"polymarket:701122", "nowhere-1", "-1"} {
		r.status(r.get(ctx, hub, "/api/m/"+id), http.StatusNotFound)
	}
	for _, m := range r.markets(ctx, 3) {
		a := r.get(ctx, hub, "/api/m/"+m)
		if r.status(a, http.StatusOK) && at(a.value, "provider") != nil {
			form := marketForms[text(a.value, "provider")]
			r.expect(form == nil || form.MatchString(m), a, "the provider of "+m, describe(at(a.value, "provider")))
		}
	}
}

// maskedIDs checks the public ids of operators in responses of the hub. It does not read the calls of a market, because these
// contain another id of the operator (docs/concepts.md, Operator).
func maskedIDs(ctx context.Context, r *run) {
	paths := []string{
		"/api/signals/feed?type=recent&limit=50", "/api/signals/feed?type=open&limit=50", "/api/operator/leaderboard?operators=all",
		"/api/network/operators", "/api/broadcast/feed", "/api/fashion/signals",
	}
	for _, id := range r.calls(ctx, 3) {
		paths = append(paths, "/api/signals/"+id)
	}
	for _, h := range r.handles(ctx, 2) {
		paths = append(paths, "/api/operator/"+h, "/api/protocol/v1/passports/"+h)
	}
	known := map[string]string{} // public id by handle
	for _, path := range paths {
		a := r.get(ctx, hub, path)
		each(a.value, "", func(where string, o map[string]any) {
			for _, name := range []string{"operatorPublicId", "privyId", "operatorId"} {
				id, there := o[name].(string)
				if !there || !r.expect(maskForm.MatchString(id), a, name+" is op_ and 16 hex digits",
					where+"."+name+" is "+describe(o[name])) {
					continue
				}
				if handle := text(o, "handle"); handle != "" {
					if known[handle] == "" {
						known[handle] = id
					}
					r.expect(known[handle] == id, a, "one id for "+handle, id+" and "+known[handle])
				}
			}
		})
	}
}

// bounds contains the allowed ranges of numeric members, by the name of the member. The ranges apply to objects of every kind.
var bounds = map[string]struct {
	low, high float64
	whole     bool
}{
	"priceAtPrediction": {0, 10000, true}, "crowdYesAtSignal": {0, 10000, true}, "closePrice": {0, 10000, true},
	"liveYesBps": {0, 10000, true},
	"yesBps":     {0, 10000, true}, "oddsBps": {0, 10000, true}, "clvBps": {-10000, 10000, true}, "avgClvBps": {-10000, 10000, true},
	"moveBps": {-10000, 10000, true}, "gapBps": {-10000, 10000, true}, "yesPct": {0, 100, false}, "topYesPct": {0, 100, false},
	"accuracy": {0, 100, true}, "yesPercent": {0, 100, true}, "noPercent": {0, 100, true}, "confidence": {1, 100, true},
	"attention": {0, 100, true}, "situationScore": {0, 100, true}, "fromProbability": {0, 1, false}, "toProbability": {0, 1, false},
	"delta": {-1, 1, false}, "peakDelta": {-1, 1, false},
}

// priceBounds checks that prices, percentages and scores are within the ranges in bounds. The prices of a single market must
// be from 0 to 1, and the prices of a segment of the programme must add up to 100.
func priceBounds(ctx context.Context, r *run) {
	paths := []string{
		"/api/signals/feed?type=recent&limit=50", "/api/signals/feed?type=open&limit=50",
		"/api/operator/leaderboard?operators=all", "/api/network/operators",
		"/api/" + r.Venue + "/markets", "/api/" + r.Venue + "/featured", "/api/" + r.Venue + "/resolved",
		"/api/markets/airable", "/api/wire", "/api/situations", "/api/network/crowd",
	}
	for _, id := range r.calls(ctx, 3) {
		paths = append(paths, "/api/signals/"+id)
	}
	for _, path := range paths {
		a := r.get(ctx, hub, path)
		each(a.value, "", func(where string, o map[string]any) {
			for name, b := range bounds {
				n, isNumber := o[name].(float64)
				if isNumber {
					ok := n >= b.low && n <= b.high && (!b.whole || n == math.Trunc(n))
					r.expect(ok, a, fmt.Sprintf("%s is %v to %v", name, b.low, b.high), where+": "+describe(n))
				}
			}
		})
	}
	for _, m := range r.markets(ctx, 3) {
		a := r.get(ctx, hub, "/api/network/market/"+m)
		yes, known := number(a.value, "market.yesPrice")
		no, both := number(a.value, "market.noPrice")
		r.expect(!known || yes >= 0 && yes <= 1, a, "yesPrice is 0 to 1", describe(yes))
		r.expect(!both || no >= 0 && no <= 1, a, "noPrice is 0 to 1", describe(no))
	}
	a := r.get(ctx, hub, "/api/network/program")
	for _, s := range list(a.value, "segments") {
		yes, known := number(s, "yesPrice")
		no, both := number(s, "noPrice")
		sum := yes >= 0 && yes <= 100 && math.Abs(yes+no-100) < 0.2
		r.expect(!known || !both || sum, a, "the sum of yesPrice and noPrice is 100", describe(yes)+" and "+describe(no))
	}
}

// priceSides computes moveBps of pending calls again: the live price of the side called minus the stated price. The value is
// wrong if a server stores the price of YES for a NO call. The NO call of the run must be among the pending calls. priceSides
// also checks that the stated price is not above the scoring price.
func priceSides(ctx context.Context, r *run) {
	const feed = "/api/signals/feed?type=open&limit=50"
	mine := func(s any) bool { return text(s, "marketId") == r.state.market && text(s, "handle") == r.state.handle }
	a := r.get(ctx, hub, feed)
	if r.state.signal != "" {
		a = r.poll(ctx, feed, func(a *answer) bool { return slices.ContainsFunc(list(a.value, "signals"), mine) })
		if i := slices.IndexFunc(list(a.value, "signals"), mine); r.expect(i >= 0, a, "the call of this run", "only other calls") {
			got, _ := integer(list(a.value, "signals")[i], "priceAtPrediction")
			r.expect(got == r.state.filed.price, a, fmt.Sprintf("priceAtPrediction %d, of NO", r.state.filed.price), fmt.Sprint(got))
		}
	}
	for _, s := range list(a.value, "signals") {
		price, ok := integer(s, "priceAtPrediction")
		live, known := integer(s, "liveYesBps")
		if !ok || !known {
			continue
		}
		if text(s, "direction") == "NO" {
			live = 10000 - live
		}
		move, known := integer(s, "moveBps")
		r.expect(known && move == live-price, a,
			fmt.Sprintf("moveBps is %d: live price of the side called minus stated price", live-price),
			"moveBps is "+describe(at(s, "moveBps")))
	}
	for _, id := range r.calls(ctx, 5) {
		a := r.get(ctx, hub, "/api/signals/"+id)
		basis, known := r.basis(ctx, id)
		price, priced := integer(a.value, "priceAtPrediction")
		if known && priced {
			r.expect(price <= basis, a, "a stated price of at most the scoring price, "+describe(basis), describe(price))
		}
	}
}

// basis returns the scoring price of a call in bps from its history, and false if the history contains no result.
func (r *run) basis(ctx context.Context, id string) (int, bool) {
	e := r.get(ctx, hub, "/api/signals/"+id+"/events")
	for _, event := range list(e.value, "events") {
		if text(event, "type") == "resolved" {
			return integer(event, "payload.scoreBasisBps")
		}
	}
	return 0, false
}

// crowdNumbers checks that the counts and the percentages of YES and NO calls are consistent, on up to four markets.
func crowdNumbers(ctx context.Context, r *run) {
	for _, m := range r.markets(ctx, 4) {
		a := r.get(ctx, hub, "/api/m/"+m+"/crowd")
		yes, _ := integer(a.value, "yesCount")
		no, _ := integer(a.value, "noCount")
		total, ok := integer(a.value, "totalSignals")
		if !ok {
			continue
		}
		r.expect(yes+no == total, a, "the sum of yesCount and noCount is totalSignals", fmt.Sprintf("%d, %d and %d", yes, no, total))
		if total == 0 {
			r.expect(at(a.value, "yesPercent") == nil && at(a.value, "noPercent") == nil, a, "null percentages without calls",
				describe(at(a.value, "yesPercent")))
			continue
		}
		want := int(math.Floor(100*float64(yes)/float64(total) + 0.5))
		percent, _ := integer(a.value, "yesPercent")
		rest, _ := integer(a.value, "noPercent")
		r.expect(percent == want && rest == 100-want, a, fmt.Sprintf("%d and %d percent", want, 100-want),
			fmt.Sprintf("%d and %d", percent, rest))
		l := r.get(ctx, hub, "/api/m/"+m+"/signals")
		n := len(list(l.value, "signals"))
		count, _ := integer(l.value, "count")
		r.expect(count >= n, l, "count is at least the number of rows", fmt.Sprintf("%d rows, count %d", n, count))
	}
}

// wireOrder checks that price movements are sorted by size and situations by score, and that their numbers are consistent.
func wireOrder(ctx context.Context, r *run) {
	a := r.get(ctx, hub, "/api/wire?limit=200")
	sizes := []float64{}
	for _, m := range list(a.value, "items") {
		from, _ := number(m, "fromProbability")
		to, _ := number(m, "toProbability")
		delta, ok := number(m, "delta")
		r.expect(ok && math.Abs(to-from-delta) < 0.0011, a, "delta is toProbability minus fromProbability",
			fmt.Sprintf("%v, %v and %v", from, to, delta))
		r.expect(strings.Contains(text(m, "marketId"), ":"), a, "marketId is <provider>:<id>", describe(at(m, "marketId")))
		sizes = append(sizes, -math.Abs(delta))
	}
	r.expect(slices.IsSorted(sizes), a, "the largest movement first", "another order")
	s := r.get(ctx, hub, "/api/situations?limit=100")
	var scores []float64
	for _, m := range list(s.value, "situations") {
		score, _ := number(m, "situationScore")
		scores = append(scores, -score)
		r.situation(s, m)
	}
	r.expect(slices.IsSorted(scores), s, "the highest situationScore first", "another order")
}

// situation computes the score and the criticality of a situation again and compares the two values with the response.
func (r *run) situation(a *answer, m any) {
	peak, _ := number(m, "peakDelta")
	volume, _ := number(m, "volume")
	count, _ := number(m, "marketCount")
	size := math.Abs(peak)
	want := math.Min(100, math.Round(100*size*(0.6+0.4*math.Min(1, math.Log10(1+volume)/7)))+math.Min(10, 2*(count-1)))
	score, _ := number(m, "situationScore")
	// peakDelta is rounded, so the computed score may differ by 1.
	r.expect(math.Abs(score-want) <= 1, a, fmt.Sprintf("situationScore is %v", want), describe(score))
	word := "Routine"
	if size >= 0.20 {
		word = "Critical"
	} else if size >= 0.08 {
		word = "Elevated"
	}
	r.expect(text(m, "criticality") == word, a, "criticality is "+word, describe(at(m, "criticality")))
}
