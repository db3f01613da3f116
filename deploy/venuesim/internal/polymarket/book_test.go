package polymarket_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/signalcast/signalcast/deploy/venuesim/internal/world"
)

// bookRecord is what a client takes from a book.
type bookRecord struct {
	AssetID    string `json:"asset_id"`
	Timestamp  string
	Bids, Asks []struct{ Price, Size string }
}

// top is the best bid and ask, which come last.
func (b bookRecord) top() string {
	last := func(side []struct{ Price, Size string }) string {
		if len(side) == 0 {
			return "none"
		}
		return side[len(side)-1].Price
	}
	return last(b.Bids) + " " + last(b.Asks)
}

func (b *bundle) books(t *testing.T, tokens ...string) []bookRecord {
	t.Helper()
	body := []string{}
	for _, token := range tokens {
		body = append(body, fmt.Sprintf(`{"token_id":%q}`, token))
	}
	rec := httptest.NewRecorder()
	b.h.ServeHTTP(rec, httptest.NewRequest(http.MethodPost, "/clob/books", strings.NewReader("["+strings.Join(body, ",")+"]")))
	var out []bookRecord
	if err := json.Unmarshal(rec.Body.Bytes(), &out); err != nil || rec.Code != http.StatusOK {
		t.Fatalf("%d %s", rec.Code, rec.Body)
	}
	return out
}

func TestBooksOfManyTokens(t *testing.T) {
	t.Parallel()
	b := setup(t)
	id := b.create(t, world.Draft{Price: 250_000})
	m, _ := b.world.Get(id)
	list := b.books(t, m.Tokens[0], "77", m.Tokens[1])
	if len(list) != 2 || list[0].AssetID != m.Tokens[0] || list[0].top() != "0.245 0.255" || list[1].top() != "0.745 0.755" {
		t.Fatalf("%+v", list)
	}
	one := httptest.NewRecorder()
	b.h.ServeHTTP(one, httptest.NewRequest(http.MethodGet, "/clob/book?token_id="+m.Tokens[0], nil))
	var alone bookRecord
	if err := json.Unmarshal(one.Body.Bytes(), &alone); err != nil || alone.top() != list[0].top() || alone.Timestamp != list[0].Timestamp {
		t.Errorf("alone: %s %v", one.Body, err)
	}
	spread, micros := world.Micros(30_000), func(n world.Micros) *world.Micros { return &n }
	for _, c := range []struct {
		change  world.Change
		yes, no string
	}{
		{world.Change{Spread: &spread}, "0.235 0.265", "0.735 0.765"},
		{world.Change{Book: &world.Top{Bid: 290_000, Ask: 310_000}}, "0.29 0.31", "0.69 0.71"},
		{world.Change{Book: &world.Top{Bid: 0, Ask: 310_000}}, "none 0.31", "0.69 none"},
		{world.Change{Book: &world.Top{Bid: 290_000, Ask: world.One}}, "0.29 none", "none 0.71"},
		{world.Change{Book: &world.Top{Bid: 320_000, Ask: 310_000}}, "0.32 0.31", "0.69 0.68"},
		{world.Change{Price: micros(500_000)}, "0.485 0.515", "0.485 0.515"},
	} {
		if err := b.world.Change(id, c.change); err != nil {
			t.Fatal(err)
		}
		if got := b.books(t, m.Tokens...); got[0].top() != c.yes || got[1].top() != c.no {
			t.Errorf("%+v: %s and %s, want %s and %s", c.change, got[0].top(), got[1].top(), c.yes, c.no)
		}
	}
	for _, bad := range []string{"{", `{"token_id":"1"}`, "[" + strings.Repeat(`{"token_id":"1"},`, 500) + `{"token_id":"1"}]`} {
		rec := httptest.NewRecorder()
		b.h.ServeHTTP(rec, httptest.NewRequest(http.MethodPost, "/clob/books", strings.NewReader(bad)))
		if rec.Code != http.StatusBadRequest {
			t.Errorf("%.30s: %d", bad, rec.Code)
		}
	}
}

// A change of the book alone is sent with the best bid and ask of both tokens.
func TestStreamSendsANewSpread(t *testing.T) {
	t.Parallel()
	l := setup(t).line(t)
	id := l.create(t, world.Draft{Price: 300_000})
	token := l.tokens(id)[0]
	l.say(subscribe(false, token))
	l.change(id, world.Change{Book: &world.Top{Bid: 290_000, Ask: 310_000}})
	frames := l.beat()
	if got := events(frames); !slices.Equal(got, []string{"price_change", "last_trade_price"}) {
		t.Fatal(got)
	}
	for _, c := range frames[0].(map[string]any)["price_changes"].([]any) {
		change := c.(map[string]any)
		want := "0.29 0.31"
		if change["asset_id"] != token {
			want = "0.69 0.71"
		}
		if got := fmt.Sprint(change["best_bid"], " ", change["best_ask"]); got != want {
			t.Errorf("%v, want %s", change, want)
		}
	}
	if again := l.beat(); len(again) != 0 {
		t.Errorf("sent again: %v", again)
	}
}
