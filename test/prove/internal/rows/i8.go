package rows

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strings"

	"github.com/signalcast/signalcast/test/prove/client"
	"github.com/signalcast/signalcast/test/prove/internal/frame"
)

// i8 writes ids of markets in every way that nearly is one, and asks for them at
// every door: an id is read as itself or not at all. Whether it is one, a second
// reading of the rules says, which shares nothing with the first.
var i8 = frame.Row{
	ID: "I8", Title: "a market id has one reading",
	Fault: frame.Fault{What: "zeros before a number do not count"},
	Run: func(ctx context.Context, env *frame.Env) (*frame.Seen, error) {
		seen := frame.NewSeen()
		n, err := newNames(ctx, env, seen)
		if err != nil {
			return nil, err
		}
		list := n.forms(env.Of(0, 400, 4000))
		frame.Each(len(list), 8, func(i int) {
			n.read(ctx, i, list[i])
			if i%n.share == 0 || len(list[i]) < 40 && i < n.near {
				n.write(ctx, i, list[i])
				n.finalize(ctx, i, list[i])
			}
		})
		odd, err := env.Count(ctx, `SELECT (SELECT count(*) FROM api.signals WHERE market_id !~ $1) +
			(SELECT count(*) FROM api.markets WHERE market_id !~ $1)`, oneReading.String())
		if err != nil {
			return nil, err
		}
		seen.Check(odd == 0, "%d rows stand under an id of no known form", odd)
		good, finalized := n.good.Load(), n.refused.Load()
		seen.Check(n.known.Load() > 0 && finalized > 0, "%d ids were known, %d claims refused", n.known.Load(), finalized)
		seen.Promise("one meaning or 400 / 404, finalize refuses non-native 100%",
			fmt.Sprintf("%s of %s, %d of %d refused", frame.Number(int(good)), frame.Number(int(n.asked.Load())), finalized, n.claims.Load()))
		seen.Volume("%s spellings, %s requests, %d of ids that are known", frame.Number(len(list)), frame.Number(int(n.asked.Load())), n.known.Load())
		return seen, nil
	},
}

// oneReading is our own reading of the rules: ruling by ruling, as one pattern.
// It is understood by Postgres as well.
var oneReading = regexp.MustCompile(`^([1-9][0-9]{0,19}|(kalshi|lmt|manifold|native)-[A-Za-z0-9][A-Za-z0-9:._-]*)$`)

func wellFormed(id string) bool { return len(id) <= 128 && oneReading.MatchString(id) }

// forms lists spellings near to ids that exist, and then n random ones.
func (n *names) forms(random int) []string {
	out := append([]string{}, n.ids...)
	add := func(list ...string) { out = append(out, list...) }
	for _, id := range n.ids {
		add("0"+id, "00"+id, " "+id, id+" ", "\t"+id, id+"\n", id+"\x00", "+"+id, "-"+id, id+".0", id+"e0", "0x"+id, id+"/", "/"+id, id+"%20",
			"%2f"+id, id+"%2F..", "./"+id, id+"?x=1", id+"#x", id+",1", id+";", "'"+id+"'", strings.ToUpper(id), title(id), wide(id), arabic(id),
			id+"\u200b", "\ufeff"+id, id+"\u0301", strings.ReplaceAll(id, "-", "\u2010"), strings.ReplaceAll(id, "-", "_"), strings.ReplaceAll(id, "-", ":"),
			strings.Replace(id, "-", "--", 1), strings.Replace(id, "-", "", 1), id+strings.Repeat("0", 128), strings.ReplaceAll(id, "i", "\u0131"))
		for _, provider := range []string{"polymarket", "kalshi", "limitless", "lmt", "manifold", "manual", "native", "POLYMARKET"} {
			add(provider+":"+id, provider+"-"+id, provider+"/"+id)
		}
		if _, key, ok := strings.Cut(id, "-"); ok {
			add(key, "-"+key, "kalshi-"+key, "lmt-"+key, "manifold-"+key, "native-"+key)
		}
	}
	add("", "0", "-", "..", "%00", "native-", "lmt-.", "kalshi-..", "manifold--", "native-../x", "18446744073709551616", "99999999999999999999", "999999999999999999999")
	n.near = len(out)
	for range random {
		add(n.mutant())
	}
	return out
}

// mutant changes an id that exists in one to three places.
func (n *names) mutant() string {
	const letters = "0123456789abcxyzABZ-_.:/%\\ \t'\"<>\u0660\uff11\u00b2\u2460\u0131\u200d"
	id, signs := []rune(n.ids[n.rand.IntN(len(n.ids))]), []rune(letters)
	for range 1 + n.rand.IntN(3) {
		at, sign := n.rand.IntN(len(id)), signs[n.rand.IntN(len(signs))]
		switch n.rand.IntN(3) {
		case 0:
			id[at] = sign
		case 1:
			id = append(id[:at:at], append([]rune{sign}, id[at:]...)...)
		default:
			if len(id) > 1 {
				id = append(id[:at:at], id[at+1:]...)
			}
		}
	}
	return string(id)
}

func title(id string) string { return strings.ToUpper(id[:1]) + id[1:] }

// wide and arabic write the digits of other scripts.
func wide(id string) string   { return shift(id, '\uff10') }
func arabic(id string) string { return shift(id, '\u0660') }

func shift(id string, zero rune) string {
	return strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' {
			return zero + r - '0'
		}
		return r
	}, id)
}

// read asks for an id at the doors that read, in a path and in a query. What a
// path cannot hold as one piece is no question about a market.
func (n *names) read(ctx context.Context, i int, id string) {
	hub := n.env.Hub(i)
	for _, door := range []struct {
		url     string
		unknown int // of a well-formed id that no venue knows
	}{
		{hub + "/api/m/" + url.PathEscape(id), http.StatusNotFound},
		{hub + "/api/m/" + url.PathEscape(id) + "/crowd", http.StatusOK},
		{hub + "/api/resolution/outcome?market=" + url.QueryEscape(id), http.StatusOK},
	}[i%3:] {
		a := n.env.Client.Do(ctx, client.Request{URL: door.url})
		n.asked.Add(1)
		said := a.Text("marketId")
		switch {
		case wellFormed(id) && a.Status == http.StatusOK && said == id:
			n.known.Add(1)
		case wellFormed(id) && (a.Status == door.unknown || a.Status == http.StatusServiceUnavailable && a.Code() == "venue_unavailable"):
		case !wellFormed(id) && a.Status >= 400 && a.Status < 500 && a.Status != http.StatusTooManyRequests:
		default:
			n.seen.Wrong("%q at %s is read as %q: %s", id, door.url, said, a)
			continue
		}
		n.good.Add(1)
	}
}

// write files a call on an id.
func (n *names) write(ctx context.Context, i int, id string) {
	a := n.env.Client.File(ctx, n.env.Hub(i), n.keys[i%len(n.keys)], client.Call{Market: id, Yes: true, Price: 5000})
	n.asked.Add(1)
	switch {
	case !wellFormed(id) && a.Status == http.StatusBadRequest && (a.Code() == "invalid_market_id" || id == "" && a.Code() == "missing_market_id" || a.Code() == "invalid_body"):
	case wellFormed(id) && (a.Status == http.StatusNotFound || a.Status == http.StatusConflict || a.Status == http.StatusServiceUnavailable && a.Code() == "venue_unavailable"):
	case wellFormed(id) && a.Status == http.StatusOK:
		at, err := n.env.Text(ctx, "SELECT market_id FROM api.signals WHERE id = $1", a.Text("id"))
		if err != nil || at != id {
			n.seen.Wrong("a call on %q stands on %q: %v", id, at, err)
			return
		}
	default:
		n.seen.Wrong("a call on %q is answered %s", id, a)
		return
	}
	n.good.Add(1)
}

// finalize claims the outcome of what is no market of ours.
func (n *names) finalize(ctx context.Context, i int, id string) {
	if wellFormed(id) && strings.HasPrefix(id, "native-") {
		return
	}
	a := n.env.Client.Finalize(ctx, n.env.Hub(i), n.env.Admin(), id, "YES")
	n.claims.Add(1)
	if a.Status != http.StatusBadRequest {
		n.seen.Wrong("the outcome of %q is claimed: %s", id, a)
		return
	}
	n.refused.Add(1)
}
