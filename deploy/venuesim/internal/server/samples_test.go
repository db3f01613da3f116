package server_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// samples is the folder with recorded answers of venues. The api tests its venue adapters with them.
const samples = "../../../../services/api/internal/venue"

// sampleCase describes the comparison of an answer about a new market with a recorded answer.
type sampleCase struct {
	sample string
	change string // body of a change before the request
	path   string // path of the request; empty: that of the venue. Words in braces are replaced
	create string // additional members of the new market
	status int    // 0: 200
	equal  string // names of members that must have the value of the sample; "*": all
}

// TestAnswersHaveTheFormOfTheSamples compares answers with recorded answers: their members, their JSON types, and the values of
// some members.
func TestAnswersHaveTheFormOfTheSamples(t *testing.T) {
	t.Parallel()
	const (
		yes        = `{"state":"resolved","outcome":"YES"}`
		no         = `{"state":"resolved","outcome":"NO"}`
		void       = `{"state":"resolved","outcome":"INVALID"}`
		old        = `,"startDate":"{yesterday}"`
		gamma      = "/gamma/markets/{key}?include_tag=true"
		kalshi     = "/kalshi/trade-api/v2"
		search     = "/manifold/v0/search-markets?filter=open&contractType=BINARY&sort=newest&limit=1"
		group      = "/limitless/markets/group-of-one-g{number}"
		uma        = "closed umaResolutionStatus acceptingOrders enableOrderBook"
		tokens     = "closed enable_order_book accepting_orders is_50_50_outcome"
		result     = "status result settlement_value_dollars"
		winner     = "status expired winningOutcomeIndex tradeType marketType"
		resolution = "isResolved resolution outcomeType mechanism token"
	)
	base := start(t)
	for venue, v := range map[string]struct {
		path     string
		optional []string // members that only some markets have
		cases    []sampleCase
	}{
		"polymarket": {gamma, strings.Fields("gameStartTime sportsMarketType umaEndDate tags"), []sampleCase{
			{sample: "market_open", equal: uma},
			{sample: "market_open_up_down", create: `,"outcomes":["Up","Down"]`, equal: uma},
			{sample: "market_provisional_proposed", change: `{"state":"proposed","outcome":"YES"}`, equal: uma},
			{sample: "market_provisional_disputed_still_trading", change: `{"state":"disputed","outcome":"YES"}`, equal: uma},
			{sample: "market_resolved_yes", change: yes, equal: uma + " outcomePrices"},
			{sample: "market_resolved_invalid_50_50", change: void, equal: uma + " outcomePrices"},
			{sample: "clob_book", path: "/clob/book?token_id={token}"},
			{sample: "clob_prices_history_1d", path: "/clob/prices-history?interval=1d&fidelity=5&market={token}", create: old},
			{sample: "clob_market_resolved_yes", change: yes, path: "/clob/markets/{condition}", equal: tokens},
			{sample: "clob_market_resolved_50_50", change: void, path: "/clob/markets/{condition}", equal: tokens},
			{
				sample: "clob_prices_history_error_window_400", path: "/clob/prices-history?startTs=1&endTs=1296002&market={token}",
				status: http.StatusBadRequest, equal: "*",
			},
		}},
		"kalshi": {kalshi + "/markets/{key}", strings.Fields("floor_strike cap_strike custom_strike strike_date"), []sampleCase{
			{sample: "market_open", equal: result},
			{sample: "market_initialized", change: `{"venueState":"initialized"}`, equal: result},
			{sample: "market_inactive_paused", change: `{"venueState":"inactive"}`, equal: result},
			{sample: "market_closed_not_resolved", change: `{"state":"closed"}`, equal: result},
			{sample: "market_provisional_determined_yes", change: `{"state":"proposed","outcome":"YES"}`, equal: result},
			{sample: "market_provisional_amended_no", change: `{"venueState":"amended","outcome":"NO"}`, equal: result},
			{sample: "market_provisional_disputed", change: `{"state":"disputed","outcome":"YES"}`, equal: result},
			{sample: "market_resolved_yes", change: yes, equal: result},
			{sample: "market_resolved_no_result_blank", change: strings.Replace(no, "}", `,"resolution":"blank"}`, 1), equal: result},
			{sample: "market_resolved_invalid_void", change: strings.Replace(void, "}", `,"resolution":"blank"}`, 1), equal: result},
			{sample: "market_resolved_invalid_scalar_fraction", change: strings.Replace(void, "}", `,"payout":0.24}`, 1), equal: result},
			{sample: "events_page2_last", path: kalshi + "/events?status=open&with_nested_markets=true"},
			{sample: "series_single", path: kalshi + "/series/KXWEATHER"},
			{sample: "error_bad_request_400", path: kalshi + "/events?status=active", status: http.StatusBadRequest, equal: "*"},
			{sample: "error_not_found_404", path: kalshi + "/markets/KXNONE-1", status: http.StatusNotFound, equal: "*"},
		}},
		"limitless": {"/limitless/markets/{key}", nil, []sampleCase{
			{sample: "market_clob_open", equal: winner},
			{sample: "market_amm_open_percent_prices", create: `,"kind":"amm"`, equal: winner},
			{sample: "market_flagged_still_open", change: `{"venueState":"FUNDED_FLAGGED"}`, equal: winner},
			{sample: "market_draft", change: `{"venueState":"DRAFT"}`, equal: winner},
			{sample: "market_closed_not_resolved_expired", change: `{"state":"closed"}`, equal: winner},
			{sample: "market_provisional_locked", change: `{"state":"proposed","outcome":"YES"}`, equal: winner},
			{sample: "market_resolved_yes", change: yes, equal: winner},
			{sample: "market_resolved_no", change: no, equal: winner},
			{sample: "market_resolved_invalid_split", change: void, equal: winner},
			{sample: "market_resolved_winner_missing", change: strings.Replace(yes, "}", `,"resolution":"none"}`, 1), equal: winner},
			{sample: "market_group_child", create: `,"eventTitle":"Guild winner"`, equal: winner},
			{sample: "market_group", create: `,"eventTitle":"Group of one"`, path: group, equal: winner},
			{sample: "orderbook", path: "/limitless/markets/{key}/orderbook"},
			{sample: "error_limit_too_big_400", path: "/limitless/markets/active?limit=26", status: http.StatusBadRequest, equal: "*"},
			{sample: "error_not_found_404", path: "/limitless/markets/none-17", status: http.StatusNotFound, equal: "*"},
		}},
		"manifold": {"/manifold/v0/market/{key}", []string{"resolverId"}, []sampleCase{
			{sample: "market_open_binary", equal: resolution},
			{sample: "market_closed_not_resolved", change: `{"state":"closed"}`, equal: resolution},
			{sample: "market_provisional_just_resolved", change: `{"state":"proposed","outcome":"YES"}`, equal: resolution},
			{sample: "market_resolved_no", change: no, equal: resolution},
			{sample: "market_resolved_invalid_mkt", change: strings.Replace(void, "}", `,"payout":0.37}`, 1), equal: resolution},
			{sample: "market_resolved_invalid_cancel", change: void, equal: resolution},
			{sample: "search_markets_open_binary", path: search},
			{sample: "error_not_found_404", path: "/manifold/v0/market/none", status: http.StatusNotFound, equal: "*"},
			{sample: "error_validation_400", path: "/manifold/v0/search-markets?cursor=x", status: http.StatusBadRequest, equal: "*"},
		}},
	} {
		for _, c := range v.cases {
			t.Run(venue+"/"+c.sample, func(t *testing.T) { // not parallel: lists must start with the new market
				fill := strings.NewReplacer("{yesterday}", time.Now().Add(-30*time.Hour).UTC().Format(time.RFC3339))
				m := create(t, base, venue, `,"tags":["Weather"]`+fill.Replace(c.create))
				if c.change != "" {
					m.change(t, c.change)
				}
				path := c.path
				if path == "" {
					path = v.path
				}
				want, got := readSample(t, venue, c.sample), m.read(t, path, max(c.status, http.StatusOK))
				for _, d := range differences("", want, got, v.optional) {
					t.Errorf("%s%s", path, d)
				}
				if c.equal == "*" && fmt.Sprint(got) != fmt.Sprint(want) {
					t.Errorf("%s: %v, want %v", path, got, want)
				}
				for _, name := range strings.Fields(c.equal) {
					if w, g := member(want, name), member(got, name); fmt.Sprint(w) != fmt.Sprint(g) {
						t.Errorf("%s: %s is %v, want %v", path, name, g, w)
					}
				}
			})
		}
	}
}

func readSample(t *testing.T, venue, name string) (v any) {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(samples, venue, "testdata", "samples", name+".json"))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(raw, &v); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return v
}

// member returns a member of an object, or of the object in its member "market". It returns nil if there is none.
func member(v any, name string) any {
	object, _ := v.(map[string]any)
	if inner, ok := object["market"].(map[string]any); ok {
		object = inner
	}
	return object[name]
}

// differences returns a text for each member or JSON type in which an answer differs from a recorded answer. Of lists it
// compares only the first element.
func differences(path string, want, got any, optional []string) (out []string) {
	w, isObject := want.(map[string]any)
	g, ok := got.(map[string]any)
	if !isObject || !ok {
		list, isList := want.([]any)
		other, ok := got.([]any)
		switch {
		case fmt.Sprintf("%T", want) != fmt.Sprintf("%T", got):
			return []string{fmt.Sprintf("%s is a %T, want %T", path, got, want)}
		case isList && ok && len(list) > 0 && len(other) > 0:
			return differences(path+"[0]", list[0], other[0], optional)
		case isList && len(list) > 0:
			return []string{path + " is empty"}
		}
		return nil
	}
	for name, value := range w {
		if have, ok := g[name]; ok {
			out = append(out, differences(path+"."+name, value, have, optional)...)
		} else if !slices.Contains(optional, name) {
			out = append(out, path+"."+name+" is missing")
		}
	}
	for name := range g {
		if _, ok := w[name]; !ok && !slices.Contains(optional, name) {
			out = append(out, path+"."+name+" is not in the sample")
		}
	}
	return out
}
