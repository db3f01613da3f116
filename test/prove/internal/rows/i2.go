package rows

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/signalcast/signalcast/test/prove/client"
	"github.com/signalcast/signalcast/test/prove/internal/frame"
)

// i2 sends fragments of SQL in every parameter and every text of a body. Whatever
// comes of them, Postgres must not meet a statement of another shape.
var i2 = frame.Row{
	ID: "I2", Title: "no SQL from input", Limit: 4 * time.Minute,
	Fault: frame.Fault{
		What: "a trigger that makes a statement of the title", Settings: []string{"pg_stat_statements.track=all"},
		SQL: `CREATE FUNCTION api.note_title() RETURNS trigger LANGUAGE plpgsql AS
			'BEGIN EXECUTE ''SELECT length('''''' || NEW.market_title || '''''')''; RETURN NEW; END';
			CREATE TRIGGER note_title BEFORE INSERT ON api.signals FOR EACH ROW EXECUTE FUNCTION api.note_title()`,
	},
	Run: func(ctx context.Context, env *frame.Env) (*frame.Seen, error) {
		seen := frame.NewSeen()
		if _, err := env.DB.Exec(ctx, "CREATE EXTENSION IF NOT EXISTS pg_stat_statements"); err != nil {
			return nil, err
		}
		c, err := gather(ctx, env, "I2", "i2-writer")
		if err != nil {
			return nil, err
		}
		ops, err := pool(ctx, env, "i2", env.Of(30, 150, 300), 1)
		if err != nil {
			return nil, err
		}
		ids, err := markets(ctx, env, "I2", 25)
		if err != nil {
			return nil, err
		}
		p := pokes{env: env, seen: seen, cast: c, ops: ops, markets: ids}
		if err := p.usual(ctx); err != nil {
			return nil, err
		}
		before, err := shapes(ctx, env)
		if err != nil {
			return nil, err
		}
		list := payloads()
		list = list[:env.Of(20, len(list), len(list))]
		p.send(ctx, list)
		after, err := shapes(ctx, env)
		if err != nil {
			return nil, err
		}
		ours, err := written(env.Root)
		if err != nil {
			return nil, err
		}
		fresh := 0
		for text := range after {
			if !before[text] && !ours.hold(text) {
				fresh++
				seen.Wrong("a new statement: %.150s", strings.Join(strings.Fields(text), " "))
			}
		}
		slow := p.times.Above(time.Second)
		seen.Check(p.times.At(1) <= generous*time.Second, "an answer took %v", p.times.At(1))
		seen.Figure("worst", p.times.At(1))
		seen.Promise("new statement shapes 0, answers above 1 s 0", fmt.Sprintf("%d (of %d known), %d", fresh, len(before), slow))
		seen.Volume("%d payloads, %s requests", len(list), frame.Number(int(p.sent.Load())))
		return seen, nil
	},
}

// shapes are the statements that the services have sent so far, with marks in the
// place of their values.
func shapes(ctx context.Context, env *frame.Env) (map[string]bool, error) {
	rows, err := env.DB.Query(ctx, `SELECT query FROM pg_stat_statements
		WHERE userid IN (SELECT oid FROM pg_roles WHERE rolname IN ('api_rw', 'hub_rw', 'clock_rw'))`)
	if err != nil {
		return nil, err
	}
	list, err := pgx.CollectRows(rows, pgx.RowTo[string])
	all := map[string]bool{}
	for _, text := range list {
		all[text] = true
	}
	return all, err
}

// payloads are 200 fragments: each alone, behind what is right, in a comment, with
// other letters and doubled.
func payloads() []string {
	var list []string
	for _, p := range []string{
		"'", "''", "\"", "`", "\\", "';", "'--", "')", "'))--", "' OR '1'='1", "' OR 1=1--", "\" OR \"\"=\"", "1 OR 1=1", "1; SELECT pg_sleep(3)",
		"'; SELECT pg_sleep(3)--", "'||pg_sleep(3)||'", "1) UNION SELECT NULL--", "' UNION SELECT usename, passwd FROM pg_shadow--",
		"'; DROP TABLE api.signals;--", "'; UPDATE api.users SET handle = 'x';--", "$1", "$2", "$$;SELECT 1;$$", "%27%20OR%201=1", "%", "_", "%%%",
		"\\'; SELECT 1--", "E'\\047'", "U&'\\0027'", "CAST('x' AS int)", "(SELECT version())", "{{1+1}}", "${1}", "array[1]", "'::int",
		"\u02bc OR 1=1", "\uff07 OR 1=1", "1e1000", "-1",
	} {
		list = append(list, p, "native-0"+p, p+"/*", strings.ToUpper(p)+" ", p+p)
	}
	return list
}

// pokes are the requests that carry payloads.
type pokes struct {
	env     *frame.Env
	seen    *frame.Seen
	cast    cast
	ops     []client.Operator
	markets []string
	next    int // pair of operator and market that has not met
	times   frame.Times
	sent    atomic.Int64
}

// usual asks for all that there is in ordinary ways, so that every statement of
// ours has been sent once.
func (p *pokes) usual(ctx context.Context) error {
	for i, d := range doors(p.env, p.cast) {
		r := d.request(p.env, i, nil)
		p.do(ctx, r)
	}
	words := []string{
		"", "1", "x", "YES", "open", "ended", "all", "human", "agents", "hot", "close", "SPORTS", "sports", "polymarket", "native", "7d", "30d",
		"signal.created", p.cast.market, p.cast.signal, p.cast.Handle, "00000000-0000-7000-8000-000000000000", "123456", "native-abc", "2027-01-01T00:00:00Z",
	}
	p.send(ctx, words)
	a := p.env.Client.File(ctx, p.env.Hub(0), p.ops[0].Keys[0], client.Call{Market: p.cast.market, Yes: true, Price: 5000})
	if a.Status != 200 && a.Status != 409 {
		return fmt.Errorf("an ordinary call was answered %s", a)
	}
	return nil
}

func (p *pokes) do(ctx context.Context, r client.Request) {
	a := p.env.Client.Do(ctx, r)
	p.sent.Add(1)
	p.times.Add(a.Took())
	p.seen.Check(a.Err == nil && (a.Status < 500 || a.Code() == "venue_unavailable"), "%s %.120s was answered %s", r.Method, r.URL, a)
}

// send puts every text into every parameter, path and member.
func (p *pokes) send(ctx context.Context, texts []string) {
	var all []client.Request
	for i, text := range texts {
		for _, at := range places {
			all = append(all, p.read(i, at, text)...)
		}
		all = append(all, p.writes(i, text)...)
	}
	frame.Each(len(all), 8, func(i int) { p.do(ctx, all[i]) })
}

// place is a read with its parameters; {} in its path is one of them.
type place struct {
	host, path string
	params     []string
}

var places = []place{
	{"hub", "/api/signals/feed", []string{"type", "limit"}},
	{"hub", "/api/signals/{}", nil},
	{"hub", "/api/signals/{}/events", nil},
	{"hub", "/api/m/{}", nil},
	{"hub", "/api/m/{}/signals", []string{"limit", "cursor"}},
	{"hub", "/api/m/{}/crowd", nil},
	{"hub", "/api/resolution/outcome", []string{"market"}},
	{"hub", "/api/resolution/markets", []string{"status", "due", "limit"}},
	{"hub", "/api/operator/leaderboard", []string{"operators", "window", "lane", "limit"}},
	{"hub", "/api/broadcast/program", []string{"preset", "spec", "providers", "categories", "minVolume", "limit"}},
	{"hub", "/api/broadcast/feed", []string{"limit", "cursor", "types"}},
	{"hub", "/api/broadcast/influence", []string{"window", "limit"}},
	{"hub", "/api/broadcast/schedule", []string{"cat"}},
	{"hub", "/api/network/program", []string{"preset", "spec", "providers", "categories", "limit"}},
	{"hub", "/receipts/{}", nil},
	{"hub", "/m/{}", nil},
	{"api", "/api/v1/feed", []string{"types", "lane", "providers", "handle", "limit", "cursor", "after"}},
	{"api", "/api/v1/signals/leaderboard", []string{"operators", "lane", "limit"}},
	{"clock", "/program/channel", []string{"preset", "spec", "limit"}},
	{"clock", "/program/now", []string{"at"}},
}

// read is one request for each parameter of a place. What is no parameter of the
// path stands in it as a market that exists.
func (p *pokes) read(i int, at place, text string) []client.Request {
	host := map[string]string{"hub": p.env.Hub(i), "api": p.env.Stack.API, "clock": p.env.Stack.Clock}[at.host]
	var list []client.Request
	if strings.Contains(at.path, "{}") && text != "" {
		list = append(list, client.Request{URL: host + strings.Replace(at.path, "{}", url.PathEscape(text), 1)})
	}
	for _, name := range at.params {
		path := strings.Replace(at.path, "{}", p.cast.market, 1)
		list = append(list, client.Request{URL: host + path + "?" + url.Values{name: {text}}.Encode()})
	}
	return list
}

// writes are the doors with the text in one member after the other, each time by
// another operator. Doors by login and session have a limit of their own and take
// one text in six.
func (p *pokes) writes(i int, text string) []client.Request {
	var list []client.Request
	for n, d := range doors(p.env, p.cast) {
		_, byKey := d.as.(client.Key)
		_, byAdmin := d.as.(client.Admin)
		if !byKey && !byAdmin && i%6 != n%6 {
			continue
		}
		for _, m := range d.fields {
			if m.kind != aText {
				continue
			}
			change := map[string]any{}
			var as client.Credential
			if byKey {
				change["marketId"], as = p.pair()
			}
			change[m.name] = text
			r := d.request(p.env, i, change)
			if byKey {
				r.As = as
			}
			list = append(list, r)
		}
		if byKey {
			r := d.request(p.env, i, nil)
			r.As, r.Header = p.ops[(i*7)%len(p.ops)].Keys[0], http.Header{
				"Idempotency-Key": {url.QueryEscape(text) + "k"}, "X-Request-Id": {url.QueryEscape(text)}, "If-None-Match": {url.QueryEscape(text)},
			}
			list = append(list, r)
		}
	}
	return append(list, client.Request{Method: http.MethodDelete, URL: p.env.Hub(i) + "/api/dev/keys?id=" + url.QueryEscape(text), As: p.login(i)},
		client.Request{URL: p.env.Hub(i) + "/api/m/" + p.cast.market + "/crowd", As: client.Session{UID: url.QueryEscape(text), Sig: url.QueryEscape(text)}})
}

// pair gives a market and an operator who has not called it, so that a call is
// written and not only refused.
func (p *pokes) pair() (market string, as client.Credential) {
	n := p.next
	p.next++
	return p.markets[n/len(p.ops)%len(p.markets)], p.ops[n%len(p.ops)].Keys[0]
}

// login is the person's, for one text in six.
func (p *pokes) login(i int) client.Credential {
	if i%6 == 0 {
		return p.cast.login
	}
	return client.Login("a.b.c")
}
