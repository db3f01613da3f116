package rows

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/signalcast/signalcast/test/prove/client"
	"github.com/signalcast/signalcast/test/prove/internal/frame"
	"github.com/signalcast/signalcast/test/prove/stack"
)

// i5 is a partner of the network that poisons what it shows, beside an honest one. What
// is stored of it is looked at in the database, what is shown of it at every hub.
var i5 = frame.Row{
	ID: "I5", Title: "partner data is data", Limit: 3 * time.Minute,
	Fault: frame.Fault{What: "a partner is believed who it speaks for"},
	Run: func(ctx context.Context, env *frame.Env) (*frame.Seen, error) {
		p := &poison{env: env, seen: frame.NewSeen()}
		if err := p.open(ctx); err != nil {
			return nil, err
		}
		defer p.close(ctx)
		if err := p.rows(ctx); err != nil {
			return nil, err
		}
		grew, answers := int64(0), 0
		if env.Size != frame.Small {
			var err error
			if grew, answers, err = p.answers(ctx); err != nil {
				return nil, err
			}
			if _, err := ownTests(ctx, env, p.seen, "./services/hub/internal/partner", "^(TestTapes|TestOperators|TestAnswersThatAreNone)$"); err != nil {
				return nil, err
			}
		}
		p.seen.Figure("grownBytes", grew)
		p.seen.Promise("stored wrong 0; memory +≤ 20 MB; one partner cannot speak as another 100%",
			fmt.Sprintf("stored wrong %d; memory +%d MB; %d of %d rows of others refused", p.wrong, grew>>20, p.foreign-p.spoken, p.foreign))
		p.seen.Volume("%d poisoned rows, %d poisoned answers", p.bad, answers)
		return p.seen, nil
	},
}

// poison is a bad partner and an honest one, registered at the system.
type poison struct {
	env  *frame.Env
	seen *frame.Seen
	key  client.Key

	bad, foreign, spoken, wrong int

	mu          sync.Mutex
	answer      http.HandlerFunc // of the bad one
	evil, good  *httptest.Server
	evils, kind string // their ids
}

func (p *poison) set(h http.HandlerFunc) { p.mu.Lock(); defer p.mu.Unlock(); p.answer = h }

func (p *poison) open(ctx context.Context) error {
	who, err := signUp(ctx, p.env, "i5-partner", 1)
	if err != nil {
		return err
	}
	p.key = who.keys[0].Key
	tag := fmt.Sprintf("%x", time.Now().UnixNano()&0xffffff)
	p.evils, p.kind = "i5-evil-"+tag, "i5-kind-"+tag
	p.set(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(`{}`)) })
	p.evil = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		p.mu.Lock()
		answer := p.answer
		p.mu.Unlock()
		answer(w, r)
	}))
	p.good = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = fmt.Fprintf(w, `{"tapes":[%s],"operators":[%s]}`, encoded(goodTape(p.good.URL, "kind-"+tag)), encoded(goodOperator(p.good.URL, "kind_one")))
	}))
	for id, s := range map[string]*httptest.Server{p.evils: p.evil, p.kind: p.good} {
		a := p.env.Client.Do(ctx, client.Request{URL: p.env.Stack.API + "/api/v1/stations", As: p.key, Body: map[string]any{
			"stationId": id, "name": id, "url": s.URL, "tapesUrl": s.URL + "/tapes", "operatorsUrl": s.URL + "/operators",
		}})
		if err := a.Into(http.StatusCreated, nil); err != nil {
			return fmt.Errorf("register a station: %w", err)
		}
		if err := p.rule(ctx, id, "active"); err != nil {
			return err
		}
	}
	return nil
}

func (p *poison) rule(ctx context.Context, id, status string) error {
	a := p.env.Client.Do(ctx, client.Request{URL: p.env.Stack.API + "/api/v1/stations/" + id + "/status", As: p.env.Admin(), Body: map[string]any{"status": status}})
	if err := a.Into(http.StatusOK, nil); err != nil {
		return fmt.Errorf("%s becomes %s: %w", id, status, err)
	}
	return nil
}

// close takes both partners away again.
func (p *poison) close(ctx context.Context) {
	for _, id := range []string{p.evils, p.kind} {
		if err := p.rule(context.WithoutCancel(ctx), id, "suspended"); err != nil {
			p.seen.Wrong("%v", err)
		}
	}
	p.evil.Close()
	p.good.Close()
}

// pulled is how long a row may need to be pulled and shown.
const pulled = 30 * time.Second

// shown is what a hub shows of both lists, by origin and name.
func (p *poison) shown(ctx context.Context, hub string) (map[string]string, error) {
	out := map[string]string{}
	for list, name := range map[string]string{"tapes": "id", "operators": "handle"} {
		var body map[string]any
		if err := p.env.Client.Do(ctx, client.Request{URL: hub + "/api/network/" + list}).Into(http.StatusOK, &body); err != nil {
			return nil, err
		}
		rows, _ := body[list].([]any)
		for _, r := range rows {
			m, _ := r.(map[string]any)
			out[fmt.Sprint(m[name])] = fmt.Sprint(m["origin"], " ", m["originUrl"])
		}
	}
	return out, nil
}

// rows shows every poisoned row between two good ones.
func (p *poison) rows(ctx context.Context) error {
	own, others := p.evil.URL, []string{p.good.URL, p.env.Stack.Hub, "https://hub.example"}
	tapes, people := poisonedTapes(own, "tape", others...), poisonedOperators(own, others...)
	p.bad, p.foreign = len(tapes)+len(people), 6*len(others)
	first, end, again := encoded(goodTape(own, "evil-first")), goodTape(own, "evil-last"), goodTape(own, "evil-first")
	end["handle"] = "last" // of one handle three are shown in a row
	again["handle"] = "second"
	tapes = slices.Concat([]string{first}, tapes, []string{encoded(again), encoded(end)})
	people = slices.Concat([]string{encoded(goodOperator(own, "evil_one"))}, people, []string{encoded(goodOperator(own, "evil_one")), encoded(goodOperator(own, "evil_two"))})
	p.set(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, "/tapes") {
			_, _ = fmt.Fprintf(w, `{"tapes":[%s]}`, strings.Join(tapes, ","))
			return
		}
		_, _ = fmt.Fprintf(w, `{"operators":[%s]}`, strings.Join(people, ","))
	})
	for i := range p.env.Of(1, len(p.env.Hubs), len(p.env.Hubs)) {
		var seen map[string]string
		came, err := frame.Until(ctx, pulled, func() (bool, error) {
			var err error
			seen, err = p.shown(ctx, p.env.Hub(i))
			return seen["evil-last"] != "" && seen["evil_two"] != "" && seen["kind_one"] != "", err
		})
		if err != nil {
			return err
		}
		p.seen.Check(came, "the good rows among the bad ones did not come: %v", seen)
		for name, from := range seen {
			want := ""
			switch {
			case strings.HasPrefix(name, "evil"):
				want = p.evils + " " + p.evil.URL
			case strings.HasPrefix(name, "kind"):
				want = p.kind + " " + p.good.URL
			case strings.Contains(name, "bad"):
				p.spoken++
				p.seen.Wrong("the bad row %s is shown as one of %s", name, from)
				continue
			default:
				continue // the system's own
			}
			if from != want {
				p.spoken++
				p.seen.Wrong("%s is shown as one of %s, want %s", name, from, want)
			}
		}
	}
	return p.stored(ctx)
}

// stored looks at what lies in the database.
func (p *poison) stored(ctx context.Context) error {
	var err error
	p.wrong, err = p.env.Count(ctx, `SELECT count(*) FROM hub.partner_copies c, jsonb_array_elements(c.rows) r
		WHERE r->>'Origin' <> c.origin
		   OR r->>'OriginURL' <> CASE c.origin WHEN $1 THEN $2 WHEN $3 THEN $4 ELSE r->>'OriginURL' END
		   OR r::text ~* '<script|javascript:|onerror' OR r->>'ID' LIKE '%bad%' OR r->>'Handle' IN ('second') OR r->>'Handle' LIKE 'bad%'`,
		p.evils, p.evil.URL, p.kind, p.good.URL)
	if err != nil {
		return err
	}
	p.seen.Check(p.wrong == 0, "%d rows are stored that are wrong", p.wrong)
	kept, err := p.env.Count(ctx, `SELECT coalesce(sum(jsonb_array_length(rows)), 0) FROM hub.partner_copies WHERE origin = $1`, p.evils)
	p.seen.Check(kept == 4, "%d rows of the bad partner are stored, 4 were good", kept)
	return err
}

// answers sends answers that are none as a whole: the copy before stays, the honest
// partner is there, and the hubs do not grow.
func (p *poison) answers(ctx context.Context) (grew int64, n int, err error) {
	before, err := p.held()
	if err != nil {
		return 0, 0, err
	}
	list := p.hostile()
	for name, h := range list {
		var asked sync.WaitGroup
		asked.Add(2) // tapes and operators
		var once [2]sync.Once
		p.set(func(w http.ResponseWriter, r *http.Request) {
			defer func() {
				i := 0
				if strings.HasPrefix(r.URL.Path, "/operators") {
					i = 1
				}
				once[i].Do(asked.Done)
			}()
			h(w, r)
		})
		done := make(chan struct{})
		go func() { asked.Wait(); close(done) }()
		select {
		case <-done:
		case <-ctx.Done():
			return 0, 0, ctx.Err()
		case <-time.After(pulled):
			p.seen.Wrong("%s: the partner was not asked", name)
		}
		held, err := p.held()
		if err != nil {
			return 0, 0, err
		}
		grew = max(grew, held-before)
		seen, err := p.shown(ctx, p.env.Hub(0))
		if err != nil {
			return 0, 0, err
		}
		p.seen.Check(seen["kind_one"] == p.kind+" "+p.good.URL, "%s: the honest partner is missing: %v", name, seen)
	}
	p.seen.Check(grew <= 20<<20, "the hubs grew by %d MB", grew>>20)
	return grew, len(list), p.stored(ctx)
}

func (p *poison) held() (total int64, err error) {
	for i := range len(p.env.Stack.AllHubs()) {
		name := "hub"
		if i > 0 {
			name = fmt.Sprintf("hub-%d", i+1)
		}
		n, err := stack.RSS(p.env.Stack.PID(name))
		if err != nil {
			return 0, err
		}
		total = max(total, n)
	}
	return total, nil
}

// hostile are answers that are none.
func (p *poison) hostile() map[string]http.HandlerFunc {
	var bomb bytes.Buffer
	z := gzip.NewWriter(&bomb)
	for range 512 {
		_, _ = z.Write(bytes.Repeat([]byte(" "), 1<<20)) // into memory
	}
	_ = z.Close()
	raw := func(body string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(body)) }
	}
	return map[string]http.HandlerFunc{
		"a bomb": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Encoding", "gzip")
			_, _ = w.Write(bomb.Bytes())
		},
		"endless": func(w http.ResponseWriter, r *http.Request) {
			chunk := bytes.Repeat([]byte(`{"x":1},`), 8192)
			_, _ = w.Write([]byte(`{"tapes":[`))
			for r.Context().Err() == nil {
				if _, err := w.Write(chunk); err != nil {
					return
				}
			}
		},
		"slow": func(_ http.ResponseWriter, r *http.Request) {
			select {
			case <-r.Context().Done():
			case <-time.After(10 * time.Second):
			}
		},
		"elsewhere": func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, p.good.URL+r.URL.Path, http.StatusFound)
		},
		"no list":     raw(`{"tapes":{"a":1},"operators":7}`),
		"no JSON":     raw("<html>\x00\xff"),
		"an error":    func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusInternalServerError) },
		"a long head": func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("X-Y", strings.Repeat("z", 1<<20)) },
	}
}
