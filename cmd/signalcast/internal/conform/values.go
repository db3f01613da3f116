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

// forms of market ids, by the word of their provider.
var marketForms = map[string]*regexp.Regexp{
	"polymarket": regexp.MustCompile(`^[0-9]+$`), "kalshi": regexp.MustCompile(`^kalshi-`), "limitless": regexp.MustCompile(`^lmt-`),
	"manifold": regexp.MustCompile(`^manifold-`), "manual": regexp.MustCompile(`^native-`),
}

func marketIDs(ctx context.Context, r *run) {
	for _, path := range []string{"/api/markets/airable", "/api/network/program"} {
		a := r.get(ctx, hub, path)
		each(a.value, "", func(where string, o map[string]any) {
			provider, id := text(o, "provider"), text(o, "marketId")
			if id == "" {
				id = text(o, "id")
			}
			if form := marketForms[provider]; form != nil && id != "" {
				r.due(form.MatchString(id) && marketForm.MatchString(id), a, "an id of "+provider, where+": "+say(id))
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
			r.due(form == nil || form.MatchString(m), a, "the provider of "+m, say(at(a.value, "provider")))
		}
	}
}

// maskedIDs checks the ids in every read of the hub with operators, except the ledger of a market, which has the raw id.
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
	known := map[string]string{} // by handle
	for _, path := range paths {
		a := r.get(ctx, hub, path)
		each(a.value, "", func(where string, o map[string]any) {
			for _, name := range []string{"operatorPublicId", "privyId", "operatorId"} {
				id, there := o[name].(string)
				if !there || !r.due(maskForm.MatchString(id), a, name+" is op_ and 16 hex digits", where+"."+name+" is "+say(o[name])) {
					continue
				}
				if handle := text(o, "handle"); handle != "" {
					if known[handle] == "" {
						known[handle] = id
					}
					r.due(known[handle] == id, a, "one id for "+handle, id+" and "+known[handle])
				}
			}
		})
	}
}

// bounds of members, by name, wherever they stand.
var bounds = map[string]struct {
	low, high float64
	whole     bool
}{
	"priceAtPrediction": {0, 10000, true}, "crowdYesAtSignal": {0, 10000, true}, "closePrice": {0, 10000, true}, "liveYesBps": {0, 10000, true},
	"yesBps": {0, 10000, true}, "oddsBps": {0, 10000, true}, "clvBps": {-10000, 10000, true}, "avgClvBps": {-10000, 10000, true},
	"moveBps": {-10000, 10000, true}, "gapBps": {-10000, 10000, true}, "yesPct": {0, 100, false}, "topYesPct": {0, 100, false},
	"accuracy": {0, 100, true}, "yesPercent": {0, 100, true}, "noPercent": {0, 100, true}, "confidence": {1, 100, true}, "attention": {0, 100, true},
	"situationScore": {0, 100, true}, "fromProbability": {0, 1, false}, "toProbability": {0, 1, false}, "delta": {-1, 1, false}, "peakDelta": {-1, 1, false},
}

func priceBounds(ctx context.Context, r *run) {
	paths := []string{
		"/api/signals/feed?type=recent&limit=50", "/api/signals/feed?type=open&limit=50", "/api/operator/leaderboard?operators=all", "/api/network/operators",
		"/api/" + r.Venue + "/markets", "/api/" + r.Venue + "/featured", "/api/" + r.Venue + "/resolved", "/api/markets/airable", "/api/wire", "/api/situations",
		"/api/network/crowd",
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
					r.due(n >= b.low && n <= b.high && (!b.whole || n == math.Trunc(n)), a, fmt.Sprintf("%s is %v to %v", name, b.low, b.high), where+": "+say(n))
				}
			}
		})
	}
	for _, m := range r.markets(ctx, 3) {
		a := r.get(ctx, hub, "/api/network/market/"+m)
		yes, known := number(a.value, "market.yesPrice")
		no, both := number(a.value, "market.noPrice")
		r.due(!known || yes >= 0 && yes <= 1, a, "yesPrice is 0 to 1", say(yes))
		r.due(!both || no >= 0 && no <= 1, a, "noPrice is 0 to 1", say(no))
	}
	a := r.get(ctx, hub, "/api/network/program")
	for _, s := range list(a.value, "segments") {
		yes, known := number(s, "yesPrice")
		no, both := number(s, "noPrice")
		r.due(!known || !both || yes >= 0 && yes <= 100 && math.Abs(yes+no-100) < 0.2, a, "yesPrice and noPrice are of 100", say(yes)+" and "+say(no))
	}
}

// priceSides works the mark of open calls out again: it is wrong where a NO call carries
// the price of YES. The run's own NO call is among them.
func priceSides(ctx context.Context, r *run) {
	const feed = "/api/signals/feed?type=open&limit=50"
	mine := func(s any) bool { return text(s, "marketId") == r.own.market && text(s, "handle") == r.own.handle }
	a := r.get(ctx, hub, feed)
	if r.own.signal != "" {
		a = r.later(ctx, feed, func(a *answer) bool { return slices.ContainsFunc(list(a.value, "signals"), mine) })
		if i := slices.IndexFunc(list(a.value, "signals"), mine); r.due(i >= 0, a, "the call of this run", "other ones") {
			got, _ := whole(list(a.value, "signals")[i], "priceAtPrediction")
			r.due(got == r.own.filed.price, a, fmt.Sprintf("priceAtPrediction %d, of NO", r.own.filed.price), fmt.Sprint(got))
		}
	}
	for _, s := range list(a.value, "signals") {
		price, ok := whole(s, "priceAtPrediction")
		live, known := whole(s, "liveYesBps")
		if !ok || !known {
			continue
		}
		if text(s, "direction") == "NO" {
			live = 10000 - live
		}
		move, known := whole(s, "moveBps")
		r.due(known && move == live-price, a, fmt.Sprintf("moveBps is %d: the side called now, less its price", live-price), "moveBps is "+say(at(s, "moveBps")))
	}
	for _, id := range r.calls(ctx, 5) {
		a := r.get(ctx, hub, "/api/signals/"+id)
		basis, known := r.basis(ctx, id)
		price, priced := whole(a.value, "priceAtPrediction")
		if known && priced {
			r.due(price <= basis, a, "a price that is not above the one that was scored, "+say(basis), say(price))
		}
	}
}

// basis is the price that a call was scored at, from its history.
func (r *run) basis(ctx context.Context, id string) (int, bool) {
	e := r.get(ctx, hub, "/api/signals/"+id+"/events")
	for _, event := range list(e.value, "events") {
		if text(event, "type") == "resolved" {
			return whole(event, "payload.scoreBasisBps")
		}
	}
	return 0, false
}

func crowdNumbers(ctx context.Context, r *run) {
	for _, m := range r.markets(ctx, 4) {
		a := r.get(ctx, hub, "/api/m/"+m+"/crowd")
		yes, _ := whole(a.value, "yesCount")
		no, _ := whole(a.value, "noCount")
		total, ok := whole(a.value, "totalSignals")
		if !ok {
			continue
		}
		r.due(yes+no == total, a, "yesCount and noCount make totalSignals", fmt.Sprintf("%d, %d and %d", yes, no, total))
		if total == 0 {
			r.due(at(a.value, "yesPercent") == nil && at(a.value, "noPercent") == nil, a, "no percentages of no calls", say(at(a.value, "yesPercent")))
			continue
		}
		want := int(math.Floor(100*float64(yes)/float64(total) + 0.5))
		percent, _ := whole(a.value, "yesPercent")
		rest, _ := whole(a.value, "noPercent")
		r.due(percent == want && rest == 100-want, a, fmt.Sprintf("%d and %d percent", want, 100-want), fmt.Sprintf("%d and %d", percent, rest))
		l := r.get(ctx, hub, "/api/m/"+m+"/signals")
		n := len(list(l.value, "signals"))
		count, _ := whole(l.value, "count")
		r.due(count >= n, l, "count is at least the rows that came", fmt.Sprintf("%d rows, count %d", n, count))
	}
}

func wireOrder(ctx context.Context, r *run) {
	a := r.get(ctx, hub, "/api/wire?limit=200")
	sizes := []float64{}
	for _, m := range list(a.value, "items") {
		from, _ := number(m, "fromProbability")
		to, _ := number(m, "toProbability")
		delta, ok := number(m, "delta")
		r.due(ok && math.Abs(to-from-delta) < 0.0011, a, "delta is to less from", fmt.Sprintf("%v, %v and %v", from, to, delta))
		r.due(strings.Contains(text(m, "marketId"), ":"), a, "marketId is <provider>:<id>", say(at(m, "marketId")))
		sizes = append(sizes, -math.Abs(delta))
	}
	r.due(slices.IsSorted(sizes), a, "the largest movement first", "another order")
	s := r.get(ctx, hub, "/api/situations?limit=100")
	var scores []float64
	for _, m := range list(s.value, "situations") {
		score, _ := number(m, "situationScore")
		scores = append(scores, -score)
		r.situation(s, m)
	}
	r.due(slices.IsSorted(scores), s, "the highest situationScore first", "another order")
}

// situation works out one situation again (contract 4.15.2).
func (r *run) situation(a *answer, m any) {
	peak, _ := number(m, "peakDelta")
	volume, _ := number(m, "volume")
	count, _ := number(m, "marketCount")
	size := math.Abs(peak)
	want := math.Min(100, math.Round(100*size*(0.6+0.4*math.Min(1, math.Log10(1+volume)/7)))+math.Min(10, 2*(count-1)))
	score, _ := number(m, "situationScore")
	r.due(math.Abs(score-want) <= 1, a, fmt.Sprintf("situationScore is %v", want), say(score)) // peakDelta is rounded
	word := "Routine"
	if size >= 0.20 {
		word = "Critical"
	} else if size >= 0.08 {
		word = "Elevated"
	}
	r.due(text(m, "criticality") == word, a, "criticality is "+word, say(at(m, "criticality")))
}
