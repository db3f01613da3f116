package input

import (
	"math/rand/v2"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/signalcast/signalcast/test/system/stack"
)

// marketID matches a valid market id (docs/concepts.md), in the syntax that Go and Postgres share. It does not use code of the
// product.
var marketID = regexp.MustCompile(`^([1-9][0-9]{0,19}|(kalshi|lmt|manifold|native)-[A-Za-z0-9][A-Za-z0-9:._-]*)$`)

func isMarketID(id string) bool { return len(id) <= 128 && marketID.MatchString(id) }

// TestMarketIDsAreParsedTheSameEverywhere checks that every route interprets a text as the same market id, or refuses it.
func TestMarketIDsAreParsedTheSameEverywhere(t *testing.T) {
	t.Parallel()
	s := inputStack(t)
	ids := []string{s.NewNativeMarket(t, 5000, nil)}
	for _, venue := range stack.Venues {
		ids = append(ids, s.NewVenueMarket(t, venue, 0.41, stack.JSON{"volume": 12345.5}).ID)
	}
	near := spellings(ids)
	texts, random := near, rand.New(rand.NewPCG(1, 8))
	for range stack.Size(t, 0, 400, 4000) {
		texts = append(texts, mutate(random, ids[random.IntN(len(ids))]))
	}
	writeShare := stack.Size(t, 1, 4, 1)
	r := idReader{s: s, crowd: stack.NewCrowd(100), operators: s.SeedOperators(t, stack.Size(t, 20, 40, 400))}
	stack.Each(len(texts), 8, func(i int) {
		r.read(t, i, texts[i])
		if i%writeShare == 0 || len(texts[i]) < 40 && i < len(near) {
			r.file(t, i, texts[i])
			r.finalize(t, texts[i])
		}
	})
	const malformed = `SELECT (SELECT count(*) FROM api.signals WHERE market_id !~ $1)
		+ (SELECT count(*) FROM api.markets WHERE market_id !~ $1)`
	if n := stack.Query[int](t, s, malformed, marketID.String()); n != 0 {
		t.Errorf("%d calls and markets are stored with a malformed id; want 0", n)
	}
	if r.known.Load() == 0 || r.refused.Load() == 0 {
		t.Errorf("%d reads found a market and %d resolutions were refused; want at least one of each", r.known.Load(), r.refused.Load())
	}
}

type idReader struct {
	s         *stack.Stack
	crowd     *stack.Crowd
	operators []*stack.Operator

	known, refused atomic.Int64
}

// read requests the id through three routes that accept a market id in the path or in the query.
func (r *idReader) read(t *testing.T, i int, id string) {
	for _, route := range []struct {
		path    string
		unknown int // status for a well-formed id that no venue has
	}{
		{"/api/m/" + url.PathEscape(id), http.StatusNotFound},
		{"/api/m/" + url.PathEscape(id) + "/crowd", http.StatusOK},
		{"/api/resolution/outcome?market=" + url.QueryEscape(id), http.StatusOK},
	}[i%3:] {
		a := r.crowd.Do(t, http.MethodGet, r.s.Hub+route.path)
		got := a.Member("marketId")
		switch unavailable := a.Status == http.StatusServiceUnavailable && a.Code() == "venue_unavailable"; {
		case isMarketID(id) && a.Status == http.StatusOK && got == id:
			r.known.Add(1)
		case isMarketID(id) && (a.Status == route.unknown || unavailable):
		case !isMarketID(id) && a.Status >= 400 && a.Status < 500 && a.Status != http.StatusTooManyRequests:
		default:
			t.Errorf("GET %s was answered %d for market id %q; want %q or a refusal\n%.200s", route.path, a.Status, got, id, a.Body)
		}
	}
}

// file files a call on the id.
func (r *idReader) file(t *testing.T, i int, id string) {
	a := r.operators[i%len(r.operators)].File(t, stack.Call(id, "YES", 5000))
	code := a.Code()
	refused := code == "invalid_market_id" || code == "invalid_body" || id == "" && code == "missing_market_id"
	switch {
	case isMarketID(id) && a.Status == http.StatusOK:
		if got := stack.Query[string](t, r.s, "SELECT market_id FROM api.signals WHERE id = $1", a.Text("id")); got != id {
			t.Errorf("a call on %q is stored for %q", id, got)
		}
	case isMarketID(id) && (a.Status == http.StatusNotFound || a.Status == http.StatusConflict || code == "venue_unavailable"):
	case !isMarketID(id) && a.Status == http.StatusBadRequest && refused:
	default:
		t.Errorf("a call on %q was answered %d %s; want it stored for that id, or refused\n%.200s", id, a.Status, code, a.Body)
	}
}

// finalize tries to resolve a market with this id, unless it is the id of a native market. The request must be refused.
func (r *idReader) finalize(t *testing.T, id string) {
	if isMarketID(id) && strings.HasPrefix(id, "native-") {
		return
	}
	body := stack.JSON{"marketId": id, "verdict": "YES"}
	a := r.crowd.Do(t, http.MethodPost, r.s.Hub+"/api/resolution/finalize", r.s.Admin(), stack.Body(body))
	if a.Status != http.StatusBadRequest {
		t.Errorf("resolving %q was answered %d; want 400\n%.200s", id, a.Status, a.Body)
		return
	}
	r.refused.Add(1)
}

// spellings returns the ids, and texts that are similar to one of them.
func spellings(ids []string) []string {
	out := append([]string{}, ids...)
	for _, id := range ids {
		out = append(out, "0"+id, "00"+id, " "+id, id+" ", "\t"+id, id+"\n", id+"\x00", "+"+id, "-"+id, id+".0", id+"e0", "0x"+id,
			id+"/", "/"+id, id+"%20", "%2f"+id, id+"%2F..", "./"+id, id+"?x=1", id+"#x", id+",1", id+";", "'"+id+"'",
			strings.ToUpper(id), strings.ToUpper(id[:1])+id[1:], digitsFrom(id, '\uff10'), digitsFrom(id, '\u0660'),
			id+"\u200b", "\ufeff"+id, id+"\u0301", strings.ReplaceAll(id, "-", "\u2010"), strings.ReplaceAll(id, "-", "_"),
			strings.ReplaceAll(id, "-", ":"), strings.Replace(id, "-", "--", 1), strings.Replace(id, "-", "", 1),
			id+strings.Repeat("0", 128), strings.ReplaceAll(id, "i", "\u0131"))
		for _, prefix := range []string{"polymarket", "kalshi", "limitless", "lmt", "manifold", "manual", "native", "POLYMARKET"} {
			out = append(out, prefix+":"+id, prefix+"-"+id, prefix+"/"+id)
		}
		if _, key, ok := strings.Cut(id, "-"); ok {
			out = append(out, key, "-"+key, "kalshi-"+key, "lmt-"+key, "manifold-"+key, "native-"+key)
		}
	}
	return append(out, "", "0", "-", "..", "%00", "native-", "lmt-.", "kalshi-..", "manifold--", "native-../x",
		"18446744073709551616", "99999999999999999999", "999999999999999999999")
}

// digitsFrom replaces the digits of an id by the digits of another script. zero is the zero digit of that script.
func digitsFrom(id string, zero rune) string {
	return strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' {
			return zero + r - '0'
		}
		return r
	}, id)
}

// mutate changes one to three characters of an id at random.
func mutate(random *rand.Rand, id string) string {
	characters, out := []rune("0123456789abcxyzABZ-_.:/%\\ \t'\"<>\u0660\uff11\u00b2\u2460\u0131\u200d"), []rune(id)
	for range 1 + random.IntN(3) {
		at, character := random.IntN(len(out)), characters[random.IntN(len(characters))]
		switch random.IntN(3) {
		case 0:
			out[at] = character
		case 1:
			out = append(out[:at:at], append([]rune{character}, out[at:]...)...)
		default:
			if len(out) > 1 {
				out = append(out[:at:at], out[at+1:]...)
			}
		}
	}
	return string(out)
}
