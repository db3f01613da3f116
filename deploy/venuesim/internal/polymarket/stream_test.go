package polymarket_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/signalcast/signalcast/deploy/venuesim/internal/polymarket"
	"github.com/signalcast/signalcast/deploy/venuesim/internal/socket"
	"github.com/signalcast/signalcast/deploy/venuesim/internal/world"
)

// line is a session whose frames are read as a client reads them.
type line struct {
	*bundle
	t       *testing.T
	session socket.Session
}

func (b *bundle) line(t *testing.T) *line {
	return &line{b, t, polymarket.New(b.world, nil).Stream()}
}

// plain gives frames as they travel.
func (l *line) plain(frames []any) []any {
	l.t.Helper()
	out := []any{}
	for _, f := range frames {
		raw, err := json.Marshal(f)
		if err != nil {
			l.t.Fatal(err)
		}
		var v any
		if err := json.Unmarshal(raw, &v); err != nil {
			l.t.Fatal(err)
		}
		out = append(out, v)
	}
	return out
}

func (l *line) say(message string) []any {
	l.t.Helper()
	return l.plain(l.session.Take([]byte(message)))
}

func (l *line) beat() []any { l.t.Helper(); return l.plain(l.session.Beat()) }

func (l *line) tokens(id int64) []string {
	l.t.Helper()
	m, ok := l.world.Get(id)
	if !ok || len(m.Tokens) != 2 {
		l.t.Fatalf("market %d: %v", id, m.Tokens)
	}
	return m.Tokens
}

func (l *line) change(id int64, c world.Change) {
	l.t.Helper()
	if err := l.world.Change(id, c); err != nil {
		l.t.Fatal(err)
	}
}

func price(p world.Micros) world.Change { return world.Change{Price: &p} }

func subscribe(more bool, tokens ...string) string {
	return fmt.Sprintf(`{"type":"market","assets_ids":["%s"],"initial_dump":true,"custom_feature_enabled":%v}`, strings.Join(tokens, `","`), more)
}

// events are frames by their type, in their order.
func events(frames []any) (out []string) {
	for _, f := range frames {
		out = append(out, f.(map[string]any)["event_type"].(string))
	}
	return out
}

func TestStreamFormsMatchTheSamples(t *testing.T) {
	t.Parallel()
	l := setup(t).line(t)
	id := l.create(t, world.Draft{})
	tokens := l.tokens(id)
	first := l.say(subscribe(true, tokens...))
	if len(first) != 1 || len(first[0].([]any)) != 2 {
		t.Fatalf("first frame: %v", first)
	}
	checkForm(t, "ws_server_initial_books_array", sample(t, "ws_server_initial_books_array"), first[0], nil, nil)
	if got := l.say(subscribe(true, "77", "no token")); len(got) != 1 || fmt.Sprint(got[0]) != "[]" {
		t.Errorf("tokens that nobody has: %v", got)
	}
	l.change(id, price(300_000))
	moved := l.beat()
	if got := events(moved); !slices.Equal(got, []string{"price_change", "last_trade_price", "best_bid_ask", "last_trade_price", "best_bid_ask"}) {
		t.Fatal(got)
	}
	for i, name := range []string{"ws_server_price_change", "ws_server_last_trade_price", "ws_server_best_bid_ask"} {
		checkForm(t, name, sample(t, name), moved[i], nil, nil)
	}
	l.change(id, world.Change{State: world.Resolved, Verdict: world.No})
	over := l.beat()
	if got := events(over); !slices.Equal(got, []string{"market_resolved"}) {
		t.Fatal(got)
	}
	checkForm(t, "ws_server_market_resolved", sample(t, "ws_server_market_resolved"), over[0], nil, nil)
	if got := over[0].(map[string]any); got["winning_asset_id"] != tokens[1] || got["winning_outcome"] != "No" {
		t.Error(got)
	}
	l.pass(time.Minute)
	if got := l.beat(); len(got) != 0 {
		t.Errorf("after its end: %v", got)
	}
}

// TestBooksOfTheChannelAreThoseOfReads keeps a book by what the channel tells, as
// clients do, and holds it against the one that is read.
func TestBooksOfTheChannelAreThoseOfReads(t *testing.T) {
	t.Parallel()
	l := setup(t).line(t)
	id := l.create(t, world.Draft{Outcomes: []string{"No", "Yes"}, Price: 512_000})
	tokens := l.tokens(id)
	books := map[string]map[string]string{} // by token, "side price" to size
	for _, b := range l.say(subscribe(false, tokens...))[0].([]any) {
		book := map[string]string{}
		for side, word := range map[string]string{"bids": "BUY", "asks": "SELL"} {
			for _, level := range b.(map[string]any)[side].([]any) {
				one := level.(map[string]any)
				book[word+" "+one["price"].(string)] = one["size"].(string)
			}
		}
		books[b.(map[string]any)["asset_id"].(string)] = book
	}
	for _, p := range []world.Micros{513_000, 517_500, 40_000, 40_500, 999_000, 0, 250_000} {
		l.change(id, price(p))
		frames := l.beat()
		if got := events(frames); !slices.Equal(got, []string{"price_change", "last_trade_price", "last_trade_price"}) {
			t.Fatalf("%v: %v", p, got)
		}
		for _, c := range frames[0].(map[string]any)["price_changes"].([]any) {
			one := c.(map[string]any)
			book, key := books[one["asset_id"].(string)], one["side"].(string)+" "+one["price"].(string)
			if book[key] = one["size"].(string); one["size"] == "0" {
				delete(book, key)
			}
		}
		for _, token := range tokens {
			want, read := map[string]string{}, l.object(t, "/clob/book?token_id="+token, 200)
			for side, word := range map[string]string{"bids": "BUY", "asks": "SELL"} {
				for _, level := range read[side].([]any) {
					one := level.(map[string]any)
					want[word+" "+one["price"].(string)] = one["size"].(string)
				}
			}
			if fmt.Sprint(books[token]) != fmt.Sprint(want) {
				t.Errorf("at %v: %v\nwant %v", p, books[token], want)
			}
		}
	}
}

func TestWhatIsFollowed(t *testing.T) {
	t.Parallel()
	l := setup(t).line(t)
	a, b := l.create(t, world.Draft{}), l.create(t, world.Draft{})
	for _, odd := range []string{"", "{", "[]", "null", `{"type":"user"}`, `{"operation":"dance"}`, `{"type":"market","assets_ids":"x"}`} {
		if got := l.say(odd); len(got) != 0 {
			t.Errorf("%q: %v", odd, got)
		}
	}
	if got := l.session.Take([]byte("PING")); len(got) != 1 || got[0] != socket.Text("PONG") {
		t.Error(got)
	}
	if got := l.say(strings.Replace(subscribe(false, l.tokens(a)[0]), `"initial_dump":true`, `"initial_dump":false`, 1)); len(got) != 0 {
		t.Errorf("a dump that was not asked for: %v", got)
	}
	if got := l.say(`{"operation":"subscribe","assets_ids":["` + l.tokens(b)[0] + `"]}`); len(got[0].([]any)) != 1 {
		t.Errorf("more tokens: %v", got)
	}
	l.change(a, price(300_000))
	l.change(b, price(300_000))
	if got := events(l.beat()); !slices.Equal(got, []string{"price_change", "last_trade_price", "price_change", "last_trade_price"}) {
		t.Error(got)
	}
	if got := l.beat(); len(got) != 0 {
		t.Errorf("told twice: %v", got)
	}
	l.say(`{"operation":"unsubscribe","assets_ids":["` + l.tokens(a)[0] + `"]}`)
	l.change(a, price(310_000))
	l.change(b, world.Change{State: world.Closed})
	if got := l.beat(); len(got) != 0 || !slices.Equal(l.session.Follows(), []int64{b}) {
		t.Errorf("%v, follows %v", got, l.session.Follows())
	}
}

// TestTooManyTokens: above the venue's limit nothing comes and nothing says so.
func TestTooManyTokens(t *testing.T) {
	t.Parallel()
	l := setup(t).line(t)
	id := l.create(t, world.Draft{})
	tokens := l.tokens(id)
	for range 250 {
		tokens = append(tokens, l.tokens(l.create(t, world.Draft{}))...)
	}
	if got := l.say(subscribe(false, tokens...)); len(got) != 0 {
		t.Errorf("%d frames", len(got))
	}
	l.change(id, price(300_000))
	if got := l.beat(); len(got) != 0 {
		t.Errorf("%v", got)
	}
}

// TestInventedPricesMove: without anybody's doing.
func TestInventedPricesMove(t *testing.T) {
	t.Parallel()
	l := setup(t).line(t)
	var tokens []string
	for _, m := range l.object(t, "/gamma/markets/keyset?closed=false&limit=100", 200)["markets"].([]any) {
		var list []string
		if text, ok := m.(map[string]any)["clobTokenIds"].(string); ok && json.Unmarshal([]byte(text), &list) == nil {
			tokens = append(tokens, list[0])
		}
	}
	l.say(subscribe(false, tokens...))
	moves := 0
	for range 30 {
		l.pass(10 * time.Second)
		moves += len(l.beat())
	}
	if moves == 0 {
		t.Errorf("%d tokens, no move in five minutes", len(tokens))
	}
	t.Logf("%d tokens, %d events in five minutes", len(tokens), moves)
}
