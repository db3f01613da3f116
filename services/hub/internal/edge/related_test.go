package edge_test

import (
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"

	cataloguev1 "github.com/signalcast/signalcast/proto/catalogue/v1"
)

func TestAroundAMarket(t *testing.T) {
	t.Parallel()
	b, _, _ := published(t)
	b.ledger.Lock()
	one, mill := b.ledger.Markets[marketID], b.ledger.Markets[nativeID]
	b.ledger.Relations = map[string][]*cataloguev1.Relation{marketID: {
		{Market: mill, Relation: "similar", Similarity: 0.25}, {Market: one, Relation: "same_lane", Similarity: 0},
	}}
	b.ledger.Sentiments = map[string]*cataloguev1.GetSentimentResponse{marketID: {
		Yes: 4, No: 6, WeightYes: 2.4, WeightNo: 3.75, ConfidenceYes: proto.Float64(60.5), TakesYes: 2, TakesNo: 4, Signals24H: 3,
		Move24HBps: proto.Int32(-450),
	}}
	unpriced := proto.CloneOf(one)
	unpriced.Id, unpriced.YesBps = "5", nil
	narrow := proto.CloneOf(one)
	narrow.Id, narrow.YesBps = "6", proto.Int32(6600)
	b.ledger.Gaps = []*cataloguev1.Gap{
		{Market: narrow, CrowdYes: 2, CrowdNo: 1}, {Market: unpriced, CrowdYes: 9, CrowdNo: 1}, {Market: one, CrowdYes: 0, CrowdNo: 3},
	}
	b.ledger.Unlock()
	for name, target := range map[string]string{
		"active":           "/api/m/701122/related",
		"active_alone":     "/api/m/" + nativeID + "/related",
		"sentiment":        "/api/m/701122/sentiment",
		"sentiment_none":   "/api/m/" + nativeID + "/sentiment",
		"network":          "/api/network/market/701122",
		"network_resolved": "/api/network/market/" + nativeID,
		"gaps":             "/api/network/crowd",
		"gaps_one":         "/api/network/crowd?market=701122&limit=-4",
		"gaps_none":        "/api/network/crowd?market=999",
	} {
		w := b.send("GET", target, "")
		golden(t, "related/"+name, w)
		if open := strings.HasPrefix(target, "/api/network/"); open != (w.Header().Get("Access-Control-Allow-Origin") == "*") {
			t.Errorf("%s: %v", target, w.Header())
		}
	}
	for _, target := range []string{"%00", "%ff", "polymarket:1", strings.Repeat("1", 9000)} {
		if w := b.send("GET", "/api/network/crowd?market="+target, ""); w.Code != 200 || !strings.Contains(w.Body.String(), `"markets":[]`) {
			t.Errorf("%.20s: %d %s", target, w.Code, w.Body)
		}
	}
}

// The words of a sentiment, at their edges.
func TestMoods(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for _, c := range []struct {
		yes, no float64
		n       int64
		want    string
	}{
		{0, 0, 0, "0 neutral"},
		{6, 4, 1, "20 bullish"},
		{4, 6, 9, "-20 bearish"},
		{5.9, 4.1, 6, "18 mixed"},
		{5.9, 4.1, 5, "18 neutral"},
		{1, 0, 1, "100 bullish"},
		{0, 3, 3, "-100 bearish"},
		{5.975, 4.025, 6, "20 bullish"},
	} {
		b.ledger.Lock()
		b.ledger.Sentiments = map[string]*cataloguev1.GetSentimentResponse{marketID: {Yes: c.n, WeightYes: c.yes, WeightNo: c.no}}
		b.ledger.Unlock()
		w := b.send("GET", "/api/m/701122/sentiment", "")
		if got := field(w, "score") + " " + field(w, "label"); got != c.want {
			t.Errorf("%v against %v of %d: %s, want %s", c.yes, c.no, c.n, got, c.want)
		}
	}
}
