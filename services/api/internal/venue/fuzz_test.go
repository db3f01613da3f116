package venue_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/signalcast/signalcast/pkg/protocol"
	"github.com/signalcast/signalcast/services/api/internal/market"
	"github.com/signalcast/signalcast/services/api/internal/venue/venuetest"
)

func FuzzPolymarket(f *testing.F) { polymarketKit.fuzz(f, polymarketKit.sample(f, "clob_book.json")) }

func FuzzKalshi(f *testing.F) { kalshiKit.fuzz(f, "") }

func FuzzLimitless(f *testing.F) { limitlessKit.fuzz(f, limitlessKit.sample(f, "orderbook.json")) }

func FuzzManifold(f *testing.F) { manifoldKit.fuzz(f, "") }

// fuzz checks that a market that is read from any record can be stored, and that no order book gives a quote or a price out
// of bounds. The fuzzed parameters are a record, an order book, and group: the title of the record's group or the category
// of its event.
func (k kit) fuzz(f *testing.F, book string) {
	files, err := filepath.Glob(filepath.Join(string(k.provider), "testdata", "samples", "market_*.json"))
	if err != nil || len(files) == 0 {
		f.Fatal(err)
	}
	for _, file := range files {
		raw, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(raw, []byte(book), "Entertainment")
	}
	for _, c := range []struct {
		kit          kit
		record, book string
	}{
		{polymarketKit, polymarketKit.sample(f, "market_open.json"), `{"asset_id":"75350934332311324234541427377712275198977982957664824366419065486241244037504",
			"timestamp":"9e99","bids":[{"price":"1e5","size":"1"}],"asks":[{"price":"-1","size":"1e-9"}]}`},
		{
			polymarketKit, `{"id":"7","question":"q","closed":false,"enableOrderBook":true,"outcomes":["No","Yes"],"clobTokenIds":["1","2"]}`,
			`{"asset_id":"1","timestamp":"1","bids":[{"price":"0.29","size":"1"}],"asks":[{"price":"0.31","size":"1"}]}`,
		},
		{polymarketKit, `{"id":"0","question":"q","closed":false,"outcomes":["Yes","No"]}`, ""},
		{kalshiKit, `{"market":{"ticker":"KXA","status":"finalized","result":"scalar","settlement_value_dollars":1e-5}}`, ""},
		{kalshiKit, `{"market":{"ticker":"KXA","status":"active","yes_bid_dollars":"999999","yes_ask_dollars":"1e5","last_price_dollars":-3}}`, ""},
		{limitlessKit, `{"slug":"a","title":"t","status":"RESOLVED","prices":["1e5","-0"],"payoutNumerators":["00","00"]}`, ""},
		{limitlessKit, `{"slug":"a","title":"t","status":"FUNDED","prices":["999999","999999"],"expirationTimestamp":-1}`, ""},
		{limitlessKit, `{"slug":"a","title":"t","status":"FUNDED","tradeType":"clob","tokens":{"yes":"7"}}`, `{"tokenId":"7","bids":[],"asks":[]}`},
		{manifoldKit, `{"id":"a","question":"q","outcomeType":"BINARY","mechanism":"cpmm-1","isResolved":true,` +
			`"resolution":"MKT","resolutionTime":1,"resolutionProbability":1e-30}`, ""},
		{manifoldKit, `{"id":"a","question":"q","outcomeType":"BINARY","mechanism":"cpmm-1","isResolved":false,"closeTime":1e999,"probability":-0}`, ""},
	} {
		if c.kit == k {
			f.Add([]byte(c.record), []byte(c.book), "")
		}
	}
	f.Fuzz(func(t *testing.T, answer, book []byte, group string) {
		key, event := k.member(answer, k.key), k.member(answer, "event_ticker")
		title, err := json.Marshal(group)
		if err != nil || key == "" || !json.Valid(answer) {
			return
		}
		b := k.setup(t, map[string]string{
			k.path + key: string(answer), "/clob/book": string(book), k.path + key + "/orderbook": string(book),
			"/markets/active":  fmt.Sprintf(`{"data":[{"slug":"p","title":%s,"status":"FUNDED","markets":[%s]}]}`, title, answer),
			"/events/" + event: fmt.Sprintf(`{"event":{"event_ticker":%q,"title":"t","category":%s}}`, event, title),
		})
		list, _, _ := b.ListOpen(t.Context(), "") // the list of Limitless assigns the market to its group
		if m, err := b.Get(t.Context(), protocol.MarketID(k.prefix+key)); err == nil {
			list = append(list, m)
		}
		for _, m := range list {
			if err := inconsistent(&m, k.provider, m.ID.NativeKey()); err != nil {
				t.Fatal(err)
			}
			if problem := problemOf(k.provider, &m); problem != "" {
				t.Fatalf("%s: payout %v, quote %+v, price %s", problem, m.Payout, m.Quote, priceOf(&m))
			}
		}
	})
}

// problemOf returns the rule of a venue that a market violates, or "" if it violates none.
func problemOf(p protocol.Provider, m *market.Record) string {
	switch {
	case p == protocol.Polymarket && m.Quote != nil && (m.Quote.At.After(venuetest.Noon) || *m.Yes > m.Quote.Yes):
		return "the quote does not match the price"
	case p == protocol.Limitless && m.Verdict != nil && *m.Payout != map[protocol.Verdict]string{
		protocol.VerdictYes: "1", protocol.VerdictNo: "0", protocol.VerdictInvalid: "0.5",
	}[*m.Verdict]:
		return "the payout does not match the verdict"
	}
	return ""
}
