package server_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"
)

// others are the venues beside Polymarket: how our ids begin, where one market
// is read, and where the state is in the answer.
var others = []struct {
	name, prefix, one, list string
	state                   func(map[string]any) any
}{
	{"kalshi", "kalshi-", "/kalshi/trade-api/v2/markets/", "/kalshi/trade-api/v2/events", func(v map[string]any) any {
		return v["market"].(map[string]any)["status"]
	}},
	{"limitless", "lmt-", "/limitless/markets/", "/limitless/markets/active", func(v map[string]any) any { return v["status"] }},
	{"manifold", "manifold-", "/manifold/v0/market/", "/manifold/v0/search-markets", func(v map[string]any) any { return v["resolution"] }},
}

func object(t *testing.T, url string) map[string]any {
	t.Helper()
	resp, body := get(t, url)
	var v map[string]any
	if err := json.Unmarshal([]byte(body), &v); err != nil || resp.StatusCode != http.StatusOK {
		t.Fatalf("%s: %d %v %.200s", url, resp.StatusCode, err, body)
	}
	return v
}

func TestEveryVenueTakesTheSameControl(t *testing.T) {
	t.Parallel()
	base := start(t)
	ago := time.Now().Add(-2 * time.Hour).UTC().Format(time.RFC3339)
	want := map[string][]any{
		"kalshi":    {"active", "closed", "determined", "disputed", "finalized", "finalized", "active"},
		"limitless": {"FUNDED", "FUNDED", "LOCKED", "DISPUTED", "RESOLVED", "RESOLVED", "FUNDED"},
		"manifold":  {nil, nil, "NO", nil, "YES", "CANCEL", nil},
	}
	for _, v := range others {
		status, made := post(t, base+"/sim/"+v.name+"/markets", `{"question":"Will the invented pier open?","yesPrice":0.375,"tags":["Science"],"startDate":"2026-01-02T00:00:00Z"}`)
		id, _ := made["id"].(string)
		key, ok := strings.CutPrefix(id, v.prefix)
		if status != http.StatusCreated || !ok {
			t.Fatalf("%s: %d %v", v.name, status, made)
		}
		for i, body := range []string{
			`{"state":"open"}`, `{"state":"closed","yesPrice":0.5}`, `{"state":"proposed","outcome":"NO"}`, `{"state":"disputed"}`, `{"state":"resolved","outcome":"YES"}`,
			`{"state":"resolved","outcome":"INVALID","resolutionTime":"` + ago + `"}`, `{"state":"open"}`,
		} {
			if v.name == "manifold" && strings.Contains(body, "disputed") {
				continue // refused there: see the next test
			}
			if status, got := post(t, base+"/sim/"+v.name+"/markets/"+id, body); status != http.StatusOK || got["id"] != id {
				t.Fatalf("%s %s: %d %v", v.name, body, status, got)
			}
			if got := v.state(object(t, base+v.one+key)); got != want[v.name][i] {
				t.Errorf("%s %s: %v, want %v", v.name, body, got, want[v.name][i])
			}
		}
	}
}

func TestWhatAVenueCannotDoIsRefused(t *testing.T) {
	t.Parallel()
	base := start(t)
	future := time.Now().Add(time.Hour).UTC().Format(time.RFC3339)
	for _, v := range others {
		_, made := post(t, base+"/sim/"+v.name+"/markets", `{"question":"q?","yesPrice":0.5}`)
		one := "/sim/" + v.name + "/markets/" + made["id"].(string)
		for path, body := range map[string]string{
			one + "?1": `{"state":"resolved"}`, one + "?2": `{"state":"gone"}`, one + "?3": `{"venueState":"gone"}`, one + "?4": `{"state":"resolved","outcome":"INVALID","resolution":"odd"}`,
			one + "?5": `{"state":"resolved","outcome":"YES","payout":0.5}`, one + "?6": `{"state":"resolved","outcome":"YES","resolutionTime":"` + future + `"}`,
			one + "?7": `{"state":"closed","resolutionTime":"2026-01-01T00:00:00Z"}`, one + "?8": `{"yesPrice":0.4,"payout":0.5}`, one + "?9": `{"state":"open","venueState":"finalized"}`,
			"/sim/" + v.name + "/markets":   `{"question":"q?","yesPrice":0.5,"outcomes":["Up","Down"]}`,
			"/sim/" + v.name + "/markets?2": `{"question":"q?","yesPrice":0.5,"kind":"odd"}`,
			"/sim/" + v.name + "/markets?3": `{"question":"q?","yesPrice":0.5,"startDate":"` + future + `"}`,
			one + "?10":                     `{"yesBid":0.4}`, one + "?11": `{"yesBid":0.4,"yesAsk":0.5,"spread":0.1}`, one + "?12": `{"spread":1.5}`, one + "?13": `{"yesBid":-1,"yesAsk":0.5}`,
			one + "?14": `{"closeTime":"2026-01-01T00:00:00Z"}`, one + "?15": `{"state":"open","closeTime":"2026-01-01T00:00:00Z"}`,
			one + "?16":                      `{"state":"closed","closeTime":"` + future + `"}`,
			"/sim/" + v.name + "/markets?4":  `{"question":"q?","yesPrice":0.5,"yesAsk":0.6}`,
			"/sim/" + v.name + "/fault":      `{"mode":"explode","seconds":1}`,
			"/sim/" + v.name + "/markets/17": `{"state":"closed","x":1}`,
		} {
			if status, got := post(t, base+path, body); status != http.StatusBadRequest || got["message"] == nil {
				t.Errorf("%s %s: %d %v", path, body, status, got)
			}
		}
		for _, id := range []string{"17", v.prefix + "17", v.prefix} {
			if status, got := post(t, base+"/sim/"+v.name+"/markets/"+id, `{"state":"closed"}`); status != http.StatusNotFound {
				t.Errorf("%s %s: %d %v", v.name, id, status, got)
			}
		}
		if v.name != "manifold" {
			if status, _ := post(t, base+"/sim/"+v.name+"/markets", `{"question":"q?","yesPrice":0.5,"creator":"u2"}`); status != http.StatusBadRequest {
				t.Errorf("a creator at %s: %d", v.name, status)
			}
		} else {
			if status, _ := post(t, base+one, `{"spread":0.1}`); status != http.StatusBadRequest {
				t.Errorf("a spread at Manifold: %d", status)
			}
			if status, _ := post(t, base+one, `{"state":"disputed"}`); status != http.StatusBadRequest {
				t.Errorf("a dispute at Manifold: %d", status)
			}
		}
	}
}

func TestVenueWordsOfAState(t *testing.T) {
	t.Parallel()
	base := start(t)
	for _, v := range others[:2] {
		_, made := post(t, base+"/sim/"+v.name+"/markets", `{"question":"q?","yesPrice":0.5}`)
		id := made["id"].(string)
		for _, word := range map[string][]string{
			"kalshi":    {"initialized", "inactive", "amended", "closed", "active"},
			"limitless": {"DRAFT", "FUNDED_FLAGGED", "LOCKED", "DISPUTED", "FUNDED"},
		}[v.name] {
			if status, got := post(t, base+"/sim/"+v.name+"/markets/"+id, fmt.Sprintf(`{"venueState":%q,"outcome":"NO"}`, word)); status != http.StatusOK {
				t.Fatalf("%s %s: %d %v", v.name, word, status, got)
			}
			if got := v.state(object(t, base+v.one+strings.TrimPrefix(id, v.prefix))); got != word {
				t.Errorf("%s: %v, want %s", v.name, got, word)
			}
		}
	}
}

func TestAResultInTheVenuesOwnWords(t *testing.T) {
	t.Parallel()
	base := start(t)
	for _, c := range []struct {
		venue, change string
		want          map[string]any // nil is null or missing
	}{
		{"kalshi", `"outcome":"INVALID","payout":0.24`, map[string]any{"result": "scalar", "settlement_value_dollars": "0.2400"}},
		{"kalshi", `"outcome":"INVALID","resolution":"void"`, map[string]any{"result": "void"}},
		{"kalshi", `"outcome":"INVALID","resolution":"blank"`, map[string]any{"result": "", "settlement_value_dollars": nil}},
		{"kalshi", `"outcome":"NO","resolution":"blank"`, map[string]any{"result": "", "settlement_value_dollars": "0.0000"}},
		{"limitless", `"outcome":"INVALID","resolution":"even"`, map[string]any{"winningOutcomeIndex": nil, "prices": []any{0.5, 0.5}, "payoutNumerators": []any{"1", "1"}}},
		{"limitless", `"outcome":"YES","resolution":"none"`, map[string]any{"winningOutcomeIndex": nil, "payoutNumerators": nil, "resolutionTxHash": nil}},
		{"manifold", `"outcome":"INVALID","payout":0.37`, map[string]any{"resolution": "MKT", "resolutionProbability": 0.37}},
		{"manifold", `"outcome":"INVALID","resolution":"MKT"`, map[string]any{"resolution": "MKT", "resolutionProbability": 0.5}},
		{"manifold", `"outcome":"INVALID","resolution":"CANCEL"`, map[string]any{"resolution": "CANCEL", "probability": 0.5}},
	} {
		for _, v := range others {
			if v.name != c.venue {
				continue
			}
			_, made := post(t, base+"/sim/"+v.name+"/markets", `{"question":"q?","yesPrice":0.5}`)
			id := made["id"].(string)
			if status, got := post(t, base+"/sim/"+v.name+"/markets/"+id, `{"state":"resolved",`+c.change+`}`); status != http.StatusOK {
				t.Fatalf("%s %s: %d %v", v.name, c.change, status, got)
			}
			got := object(t, base+v.one+strings.TrimPrefix(id, v.prefix))
			if inner, ok := got["market"].(map[string]any); ok {
				got = inner
			}
			for member, want := range c.want {
				if fmt.Sprint(got[member]) != fmt.Sprint(want) {
					t.Errorf("%s %s: %s is %v, want %v", v.name, c.change, member, got[member], want)
				}
			}
		}
	}
}

func TestFaultsAreForOneVenue(t *testing.T) {
	t.Parallel()
	base := start(t)
	limited := map[string]string{
		"kalshi": `{"error":"too many requests"}`, "limitless": `{"statusCode":429,"message":"ThrottlerException: Too Many Requests"}`,
		"manifold": `{"message":"Too many requests"}`,
	}
	set := func(name, body string) {
		t.Helper()
		if status, got := post(t, base+"/sim/"+name+"/fault", body); status != http.StatusOK {
			t.Fatalf("%s: %d %v", name, status, got)
		}
	}
	for _, v := range others {
		set(v.name, `{"mode":"429","seconds":60}`)
		for _, other := range others {
			resp, body := get(t, base+other.list)
			if want := other.name == v.name; want != (resp.StatusCode == http.StatusTooManyRequests) {
				t.Errorf("429 at %s: %s answers %d", v.name, other.name, resp.StatusCode)
			} else if want && (body != limited[v.name] || resp.Header.Get("Content-Type") != "application/json") {
				t.Errorf("%s: %s", v.name, body)
			}
		}
		set(v.name, `{"mode":"garbage","seconds":60}`)
		if resp, body := get(t, base+v.list); resp.StatusCode != http.StatusOK || json.Valid([]byte(body)) {
			t.Errorf("garbage at %s: %d %.80s", v.name, resp.StatusCode, body)
		}
		set(v.name, `{"mode":"refuse","seconds":60}`)
		if resp, err := http.Get(base + v.list); err == nil {
			resp.Body.Close()
			t.Errorf("refuse at %s: an answer came", v.name)
		}
		set(v.name, `{"mode":"none"}`)
		if resp, _ := get(t, base+v.list); resp.StatusCode != http.StatusOK {
			t.Errorf("after the fault %s answers %d", v.name, resp.StatusCode)
		}
	}
}

func TestOneSeedMakesOneUniverseForEachVenue(t *testing.T) {
	t.Parallel()
	base, again := start(t), start(t)
	questions := map[string]string{}
	for name, path := range map[string]string{"limitless": "/limitless/markets/active?limit=25&tradeType=amm", "manifold": "/manifold/v0/search-markets?limit=500"} {
		_, body := get(t, base+path)
		var list []map[string]any
		if json.Unmarshal([]byte(body), &list) != nil {
			var box struct{ Data []map[string]any }
			if err := json.Unmarshal([]byte(body), &box); err != nil {
				t.Fatal(err)
			}
			list = box.Data
		}
		same := 0
		for _, m := range list {
			text := fmt.Sprint(m["title"], m["question"])
			if other, taken := questions[text]; taken && other != name {
				same++
			}
			questions[text] = name
		}
		if same > len(list)/2 {
			t.Errorf("%s asks what another venue asks, %d times", name, same)
		}
	}
	one := object(t, base+"/kalshi/trade-api/v2/events?limit=5")
	for _, e := range one["events"].([]any) {
		path := "/kalshi/trade-api/v2/events/" + e.(map[string]any)["event_ticker"].(string)
		if got := object(t, again+path)["event"].(map[string]any)["title"]; got != e.(map[string]any)["title"] {
			t.Errorf("%s: %v and %v", path, got, e)
		}
	}
}
