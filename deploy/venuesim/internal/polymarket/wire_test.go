package polymarket_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/signalcast/signalcast/deploy/venuesim/internal/world"
)

func sample(t *testing.T, name string) any {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("testdata", name+".json"))
	if err != nil {
		t.Fatal(err)
	}
	var v any
	if err := json.Unmarshal(raw, &v); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return v
}

func kindOf(v any) string {
	switch v.(type) {
	case nil:
		return "null"
	case bool:
		return "bool"
	case float64:
		return "number"
	case string:
		return "string"
	case []any:
		return "list"
	}
	return "object"
}

// sameForm compares field sets and JSON types. extra names members that may
// stand here although the sample lacks them, missing those that may be absent.
func sameForm(path string, want, got any, extra, missing []string) (faults []string) {
	if kindOf(want) != kindOf(got) {
		return []string{fmt.Sprintf("%s: %s, want %s", path, kindOf(got), kindOf(want))}
	}
	switch w := want.(type) {
	case map[string]any:
		g := got.(map[string]any)
		for key, value := range w {
			have, ok := g[key]
			if !ok {
				if !slices.Contains(missing, key) {
					faults = append(faults, path+"."+key+" is missing")
				}
				continue
			}
			faults = append(faults, sameForm(path+"."+key, value, have, extra, missing)...)
		}
		for key := range g {
			if _, ok := w[key]; !ok && !slices.Contains(extra, key) {
				faults = append(faults, path+"."+key+" is not in the sample")
			}
		}
	case []any:
		g := got.([]any)
		if len(w) > 0 && len(g) > 0 {
			faults = append(faults, sameForm(path+"[0]", w[0], g[0], extra, missing)...)
		}
	}
	return faults
}

func checkForm(t *testing.T, name string, want, got any, extra, missing []string) {
	t.Helper()
	for _, f := range sameForm("", want, got, extra, missing) {
		t.Errorf("%s%s", name, f)
	}
}

func TestMarketFormsMatchTheSamples(t *testing.T) {
	t.Parallel()
	b := setup(t)
	cases := []struct {
		sample string
		change world.Change
		draft  world.Draft
		extra  []string
	}{
		{sample: "market_open"},
		{sample: "market_open_up_down", draft: world.Draft{Outcomes: []string{"Up", "Down"}}},
		{sample: "market_resolved_yes", change: world.Change{State: world.Resolved, Verdict: world.Yes}, extra: []string{"umaEndDate"}},
		{sample: "market_provisional_proposed", change: world.Change{State: world.Proposed, Verdict: world.Yes}},
		{sample: "market_provisional_disputed_still_trading", change: world.Change{State: world.Disputed, Verdict: world.Yes}},
		// the sample is of a game; a created market is not
		{sample: "market_resolved_invalid_50_50", change: world.Change{State: world.Resolved, Verdict: world.Invalid}, extra: []string{"umaEndDate"}},
	}
	for _, c := range cases {
		id := b.create(t, c.draft)
		if c.change.State != "" {
			if err := b.world.Change(id, c.change); err != nil {
				t.Fatal(err)
			}
		}
		want := sample(t, c.sample).(map[string]any)
		tagged := want["tags"] != nil
		got := b.object(t, fmt.Sprintf("/gamma/markets/%d?include_tag=%t", id, tagged), http.StatusOK)
		checkForm(t, c.sample, want, got, c.extra, []string{"gameStartTime", "sportsMarketType"})
		for _, key := range []string{"closed", "umaResolutionStatus", "acceptingOrders", "enableOrderBook"} {
			if want[key] != got[key] {
				t.Errorf("%s: %s is %v, want %v", c.sample, key, got[key], want[key])
			}
		}
	}
}

func TestFinalPricesMatchTheSamples(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for verdict, want := range map[world.Verdict]string{
		world.Yes: sample(t, "market_resolved_yes").(map[string]any)["outcomePrices"].(string), world.No: `["0", "1"]`,
		world.Invalid: sample(t, "market_resolved_invalid_50_50").(map[string]any)["outcomePrices"].(string),
	} {
		id := b.create(t, world.Draft{})
		if err := b.world.Change(id, world.Change{State: world.Resolved, Verdict: verdict}); err != nil {
			t.Fatal(err)
		}
		if got := b.object(t, fmt.Sprintf("/gamma/markets/%d", id), http.StatusOK)["outcomePrices"]; got != want {
			t.Errorf("%s: prices %v, want %s", verdict, got, want)
		}
	}
}

func TestEventFormsMatchTheSamples(t *testing.T) {
	t.Parallel()
	b := setup(t)
	list := b.object(t, "/gamma/events/keyset?limit=500", http.StatusOK)
	checkForm(t, "events_keyset_page1", sample(t, "events_keyset_page1"), pick(list, true), []string{"gameStartTime", "sportsMarketType"}, []string{"negRiskMarketID"})
	// the sample holds an event of three markets whose last is the placeholder
	want := sample(t, "event_multi_outcome").(map[string]any)
	event := pick(list, true)["events"].([]any)[0].(map[string]any)
	got := b.object(t, "/gamma/events/"+event["id"].(string), http.StatusOK)
	checkForm(t, "event_multi_outcome", want, got, nil, nil)
	last := func(e map[string]any) any { m := e["markets"].([]any); return m[len(m)-1] }
	checkForm(t, "placeholder", last(want), last(got), nil, nil)
}

// pick keeps the one-winner events of five and more.
func pick(list map[string]any, negRisk bool) map[string]any {
	var kept []any
	for _, e := range list["events"].([]any) {
		e := e.(map[string]any)
		if e["negRisk"] == negRisk && len(e["markets"].([]any)) >= 5 {
			kept = append(kept, e)
		}
	}
	return map[string]any{"events": kept, "next_cursor": list["next_cursor"]}
}

func TestOrderBookFormsMatchTheSamples(t *testing.T) {
	t.Parallel()
	b := setup(t)
	open := b.create(t, world.Draft{})
	m, _ := b.world.Get(open)
	token := url.QueryEscape(m.Tokens[0])
	for name, path := range map[string]string{
		"clob_book": "/clob/book?token_id=" + token, "clob_midpoint": "/clob/midpoint?token_id=" + token,
		"clob_price_buy": "/clob/price?side=BUY&token_id=" + token, "clob_last_trade_price": "/clob/last-trade-price?token_id=" + token,
		"clob_prices_history_1d": "/clob/prices-history?interval=1d&fidelity=5&market=" + token,
	} {
		checkForm(t, name, sample(t, name), b.object(t, path, http.StatusOK), nil, nil)
	}
	for name, verdict := range map[string]world.Verdict{"clob_market_resolved_yes": world.Yes, "clob_market_resolved_50_50": world.Invalid} {
		id := b.create(t, world.Draft{})
		if err := b.world.Change(id, world.Change{State: world.Resolved, Verdict: verdict}); err != nil {
			t.Fatal(err)
		}
		m, _ := b.world.Get(id)
		want, got := sample(t, name).(map[string]any), b.object(t, "/clob/markets/"+m.ConditionID, http.StatusOK)
		checkForm(t, name, want, got, nil, nil)
		for _, key := range []string{"closed", "enable_order_book", "accepting_orders", "is_50_50_outcome"} {
			if want[key] != got[key] {
				t.Errorf("%s: %s is %v, want %v", name, key, got[key], want[key])
			}
		}
		winner := got["tokens"].([]any)[0].(map[string]any)["winner"]
		if winner != (verdict == world.Yes) {
			t.Errorf("%s: first token winner %v", name, winner)
		}
	}
}

func TestErrorsMatchTheSamples(t *testing.T) {
	t.Parallel()
	b := setup(t)
	m, _ := b.world.Get(b.create(t, world.Draft{}))
	for name, c := range map[string]struct {
		path   string
		status int
	}{
		"error_market_not_found_404":             {"/gamma/markets/1999999999", 404},
		"error_bad_id_422":                       {"/gamma/markets/abc", 422},
		"error_offset_too_large_422":             {"/gamma/markets?offset=2001", 422},
		"clob_book_error_404":                    {"/clob/book?token_id=" + strings.Repeat("7", 77), 404},
		"clob_prices_history_error_fidelity_400": {"/clob/prices-history?interval=1w&fidelity=4&market=" + m.Tokens[0], 400},
		"clob_prices_history_error_window_400":   {"/clob/prices-history?startTs=1&endTs=1296002&market=" + m.Tokens[0], 400},
	} {
		want, _ := json.Marshal(sample(t, name))
		got, _ := json.Marshal(b.object(t, c.path, c.status))
		if string(want) != string(got) {
			t.Errorf("%s: %s, want %s", c.path, got, want)
		}
	}
}
