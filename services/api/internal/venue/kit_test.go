package venue_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/signalcast/signalcast/pkg/protocol"
	"github.com/signalcast/signalcast/services/api/internal/market"
	"github.com/signalcast/signalcast/services/api/internal/venue"
	"github.com/signalcast/signalcast/services/api/internal/venue/loosejson"
	"github.com/signalcast/signalcast/services/api/internal/venue/venuetest"
)

// kit contains the data that the tests need about one venue and its sample answers.
type kit struct {
	provider protocol.Provider
	base     string // path of the venue's API at the test host
	path     string // path of one market without its key
	prefix   string // prefix of market ids
	key      string // name of the record member that contains the key of the market
	open     string // name of the sample of an open market
}

var (
	polymarketKit = kit{protocol.Polymarket, "", venuetest.Gamma + "/markets/", "", "id", "market_open.json"}
	kalshiKit     = kit{protocol.Kalshi, venuetest.Kalshi, "/markets/", "kalshi-", "ticker", "market_open.json"}
	limitlessKit  = kit{protocol.Limitless, venuetest.Limitless, "/markets/", "lmt-", "slug", "market_clob_open.json"}
	manifoldKit   = kit{protocol.Manifold, venuetest.Manifold, "/market/", "manifold-", "id", "market_open_binary.json"}

	kits = []kit{polymarketKit, kalshiKit, limitlessKit, manifoldKit}
)

// kitOf returns the kit of a provider. The test panics for an unknown provider.
func kitOf(p protocol.Provider) kit {
	return kits[slices.IndexFunc(kits, func(k kit) bool { return k.provider == p })]
}

// m is a JSON object of a venue, or a set of changed members of one.
type m = map[string]any

// bundle is a test host that simulates one venue, and an adapter that reads from it.
type bundle struct {
	*venuetest.Host
	market.Venue
}

// setup starts a test host with the given answers by path, and returns it with an adapter that reads from it.
func (k kit) setup(t *testing.T, answers map[string]string) *bundle {
	t.Helper()
	h := venuetest.NewHost(t, k.base, answers)
	return &bundle{h, venuetest.Adapters(t, h.URL, h.Meter, venuetest.Now)[k.provider]}
}

// answer returns the body with which the venue answers a request for one market, given the record of the market.
func (k kit) answer(record []byte) string {
	if k.provider == protocol.Kalshi {
		return `{"market":` + string(record) + `}`
	}
	return string(record)
}

// member returns a text member of the market record in an answer, or "" if the record has no such text.
func (k kit) member(answer []byte, name string) string {
	var record m
	_ = json.Unmarshal(answer, &record) // anything but an object has no members
	if k.provider == protocol.Kalshi {
		record, _ = record["market"].(m)
	}
	text, _ := record[name].(string)
	return text
}

// one starts a test host with the answer for one market and the further answers in more. It returns the result of reading
// the market with the adapter.
func (k kit) one(t *testing.T, answer string, more ...map[string]string) (market.Record, error) {
	t.Helper()
	key := k.member([]byte(answer), k.key)
	answers := map[string]string{k.path + key: answer}
	for _, m := range more {
		maps.Copy(answers, m)
	}
	return k.setup(t, answers).Get(t.Context(), protocol.MarketID(k.prefix+key))
}

func (k kit) sample(t testing.TB, name string) string { return venuetest.Sample(t, k.provider, name) }

// edit returns the sample of an open market with changed members. A nil value deletes a member.
func (k kit) edit(t *testing.T, changes m) string {
	t.Helper()
	return venuetest.Edit(t, k.provider, k.sample(t, k.open), changes)
}

// ids returns the ids of markets as text: without the prefix of the provider, sorted, and separated by spaces.
func (k kit) ids(list []market.Record) string {
	var out []string
	for i := range list {
		out = append(out, strings.TrimPrefix(string(list[i].ID), k.prefix))
	}
	slices.Sort(out)
	return strings.Join(out, " ")
}

// cases maps the name of each case to changes of the sample of an open market and to the expected text about the market that
// the adapter reads.
type cases = map[string]struct {
	changes m
	want    string
}

// check reads the changed sample of each case with the adapter and compares the text that show returns for the market with
// the expected text.
func (k kit) check(t *testing.T, show func(*market.Record) string, list cases) {
	t.Helper()
	for name, c := range list {
		m, err := k.one(t, k.edit(t, c.changes))
		if got := show(&m); err != nil || got != c.want {
			t.Errorf("%s: %q, want %q, %v", name, got, c.want, err)
		}
	}
}

// closedAt returns ClosedAt of a market as text, or "" if it is nil.
func closedAt(m *market.Record) string {
	if m.ClosedAt == nil {
		return ""
	}
	return m.ClosedAt.Format(time.RFC3339Nano)
}

// stateOf returns the status of a market as text, such as "open", "closed provisional disputed" or "resolved INVALID 0.5".
func stateOf(m *market.Record) string {
	out := string(m.Status)
	if m.Provisional {
		out += " provisional"
	}
	if m.Disputed {
		out += " disputed"
	}
	if m.Verdict != nil {
		out += " " + string(*m.Verdict)
	}
	if m.Payout != nil {
		out += " " + *m.Payout
	}
	return out
}

// priceOf returns the YES price of a market in bps, or "" if the market has no price.
func priceOf(m *market.Record) string {
	if m.Yes == nil {
		return ""
	}
	return strconv.Itoa(int(*m.Yes))
}

// quoteOf returns the YES and NO prices of the quote of a market in bps, such as "3100 7100", or "" if there is no quote.
func quoteOf(m *market.Record) string {
	if m.Quote == nil {
		return ""
	}
	return fmt.Sprintf("%d %d", m.Quote.Yes, m.Quote.No)
}

// hasSource reports whether a quote is dated Noon and has the given rule and the SHA-256 digest of answer.
func hasSource(q *market.Quote, rule, answer string) bool {
	sum := sha256.Sum256([]byte(answer))
	return q != nil && q.Rule == rule && q.At.Equal(venuetest.Noon) && bytes.Equal(q.SHA256, sum[:])
}

// inconsistent returns an error if members of a market contradict each other or the rules of its provider.
func inconsistent(m *market.Record, p protocol.Provider, key string) error {
	final := m.Status == protocol.MarketResolved
	payout, readable := loosejson.Price(0), true
	if m.Payout != nil {
		payout, readable = loosejson.ParsePrice(*m.Payout)
	}
	got, ok := venue.NativeKey(p, m.ID)
	for _, c := range []struct {
		what string
		bad  bool
	}{
		{"id", !ok || got != key},
		{"quote", m.Quote != nil && (!validQuote(m.Quote) || m.Status != protocol.MarketOpen)},
		{"price", m.Yes != nil && !m.Yes.Valid()},
		{"verdict", final != (m.Verdict != nil) || final && !slices.Contains(
			[]protocol.Verdict{protocol.VerdictYes, protocol.VerdictNo, protocol.VerdictInvalid}, *m.Verdict)},
		{"status", !slices.Contains(
			[]protocol.MarketStatus{protocol.MarketOpen, protocol.MarketClosed, protocol.MarketResolved, protocol.MarketUnknown}, m.Status)},
		{"provisional", final && m.Provisional || m.Disputed && !m.Provisional},
		{"payout", m.Payout != nil && (!final || !readable || payout < 0 || payout > loosejson.One ||
			p != protocol.Polymarket && payout.Bps() != *m.Yes)}, // the price of a Polymarket market is the one that the venue shows
	} {
		if c.bad {
			return fmt.Errorf("%s of %q: %s, price %s, quote %s, %+v", c.what, key, stateOf(m), priceOf(m), quoteOf(m), *m)
		}
	}
	_, err := json.Marshal(m)
	return err
}

// validQuote reports whether a quote has prices from 1 to 9999 bps whose sum is at least 10,000. The sum may exceed 10,000
// by the widest spread plus rounding.
func validQuote(q *market.Quote) bool {
	sum := q.Yes + q.No
	return q.Yes >= 1 && q.Yes <= 9999 && q.No >= 1 && q.No <= 9999 && sum >= 10_000 && sum <= 11_001 && !q.At.IsZero() && q.Rule != ""
}
