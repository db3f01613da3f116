package polymarket_test

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/signalcast/signalcast/pkg/syntax"
	"github.com/signalcast/signalcast/services/api/internal/venue/venuetest"
)

// level writes one side of a book with a single price.
func level(price string) string {
	if price == "" {
		return "[]"
	}
	return fmt.Sprintf(`[{"price":%q,"size":"5"}]`, price)
}

func TestGetReadsTheBookOfAnOpenMarket(t *testing.T) {
	t.Parallel()
	open := sample(t, "market_open.json")
	swapped := venuetest.Edit(t, open, "", map[string]any{"outcomes": `["No", "Yes"]`})
	for name, c := range map[string]struct {
		record, bid, ask string
		yes, no          syntax.Bps // 0: no quote
		middle           int
	}{
		"a cent apart":          {open, "0.29", "0.31", 3100, 7100, 3000},
		"equal":                 {open, "0.3", "0.3", 3000, 7000, 3000},
		"tenths of a bps":       {open, "0.30001", "0.30009", 3001, 7000, 3001},
		"YES is second":         {swapped, "0.29", "0.31", 7100, 3100, 7000},
		"as wide as may be":     {open, "0.25", "0.35", 3500, 7500, 3000},
		"too wide":              {open, "0.25", "0.351", 0, 0, 6150},
		"no bids":               {open, "", "0.31", 0, 0, 6150},
		"no asks":               {open, "0.29", "", 0, 0, 6150},
		"crossed":               {open, "0.32", "0.31", 0, 0, 6150},
		"a price that is none":  {open, "NaN", "0.31", 0, 0, 6150},
		"an ask of certainty":   {open, "0.995", "1", 0, 0, 6150},
		"rounded to certainty":  {open, "0.9999", "0.99991", 0, 0, 6150},
		"the last bps":          {open, "0.9998", "0.9999", 9999, 2, 9999},
		"a bid of nothing":      {open, "0", "0.01", 0, 0, 6150},
		"the size of the level": {open, `0.29","size":"0"},{"price":"0.28`, "0.31", 3100, 7200, 2950},
	} {
		m, err := one(t, c.record, map[string]string{"/clob/book": bookOf(c.bid, c.ask)})
		if err != nil || m.YesBps == nil {
			t.Errorf("%s: %+v %v", name, m, err)
			continue
		}
		if q := m.Quote; (q == nil) != (c.yes == 0) || q != nil && (q.Yes != c.yes || q.No != c.no) || *m.YesBps != c.middle {
			t.Errorf("%s: quote %+v, middle %d, want %d and %d, middle %d", name, q, *m.YesBps, c.yes, c.no, c.middle)
		}
	}
}

// bookOf is a book of the token of market_open.json.
func bookOf(bid, ask string) string {
	bids := level(bid)
	if strings.Contains(bid, "size") { // levels written out
		bids = `[{"price":"` + bid + `","size":"5"}]`
	}
	return fmt.Sprintf(`{"market":"0x1","asset_id":"75350934332311324234541427377712275198977982957664824366419065486241244037504","timestamp":"1","bids":%s,"asks":%s}`,
		bids, level(ask))
}

func TestAQuoteNamesItsAnswer(t *testing.T) {
	t.Parallel()
	raw := sample(t, "clob_book.json")
	m, err := one(t, sample(t, "market_open.json"), map[string]string{"/clob/book": raw})
	sum := sha256.Sum256([]byte(raw))
	if q := m.Quote; err != nil || q == nil || q.Yes != 6200 || q.No != 3900 || q.Rule != "polymarket.book" ||
		!q.At.Equal(noon) || !bytes.Equal(q.SHA256, sum[:]) {
		t.Errorf("%+v %v", m.Quote, err)
	}
}

func TestOnlyAnOpenMarketHasAQuote(t *testing.T) {
	t.Parallel()
	for _, name := range []string{
		"market_closed_not_resolved.json", "market_provisional_proposed.json", "market_provisional_disputed_still_trading.json", "market_resolved_yes.json",
	} {
		m, err := one(t, sample(t, name), map[string]string{"/clob/book": bookOf("0.29", "0.31"), "/clob/books": "[]"})
		if err != nil || m.Quote != nil {
			t.Errorf("%s: %+v %v", name, m.Quote, err)
		}
	}
	open := sample(t, "market_open.json")
	other := strings.Replace(bookOf("0.29", "0.31"), "7535", "7536", 1)
	for name, book := range map[string]string{"another token": other, "garbage": "[", "a list": "[]", "null": "null"} {
		if m, err := one(t, open, map[string]string{"/clob/book": book}); err != nil || m.Quote != nil || *m.YesBps != 6150 {
			t.Errorf("%s: %+v %v", name, m.Quote, err)
		}
	}
}

// The closing time is that of the venue, and only once trading has ended.
func TestClosingTime(t *testing.T) {
	t.Parallel()
	closed := sample(t, "market_resolved_yes.json")
	at := func(text string) string { return venuetest.Edit(t, closed, "", map[string]any{"closedTime": text}) }
	for text, want := range map[string]string{
		"2026-10-01 10:11:12.345678+00": "2026-10-01T10:11:12.345Z", "2026-10-01": "", "": "", "soon": "",
		"2026-10-10 12:00:00+00": "2026-10-10T12:00:00Z", "2026-10-10 12:00:01+00": "",
	} {
		m, err := one(t, at(text), nil)
		got := ""
		if m.ClosedAt != nil {
			got = m.ClosedAt.Format(time.RFC3339Nano)
		}
		if err != nil || got != want {
			t.Errorf("%q: closed at %q, want %q, %v", text, got, want, err)
		}
	}
	open := venuetest.Edit(t, sample(t, "market_open.json"), "", map[string]any{"closedTime": "2026-10-01 10:11:12+00"})
	if m, err := one(t, open, nil); err != nil || m.ClosedAt != nil {
		t.Errorf("an open market is closed at %v, %v", m.ClosedAt, err)
	}
}
