package rows

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"sync/atomic"
	"time"

	"github.com/signalcast/signalcast/test/hostile"
	"github.com/signalcast/signalcast/test/prove/client"
	"github.com/signalcast/signalcast/test/prove/internal/frame"
	"github.com/signalcast/signalcast/test/system/browser"
	"github.com/signalcast/signalcast/test/system/openapi"
)

// h4 makes a person of each hostile text: that is his name, what he says, what is on his
// overlay. A browser with a canary in it looks at every page that shows him.
var h4 = frame.Row{
	ID: "H4", Title: "no script comes from data", Limit: 4 * time.Minute,
	Fault: frame.Fault{What: "what is escaped in a page goes out as it came in"},
	Run: func(ctx context.Context, env *frame.Env) (*frame.Seen, error) {
		seen := frame.NewSeen()
		texts := hostile.Texts[:env.Of(2, len(hostile.Texts), len(hostile.Texts))]
		s := stageFright{env: env, seen: seen}
		victims, err := s.poison(ctx, texts)
		if err != nil {
			return nil, err
		}
		b, err := browser.Open(ctx)
		if err != nil {
			return nil, err
		}
		defer b.Close()
		if err := alarm(b, env); err != nil {
			return nil, err
		}
		errs := make([]error, 3)
		work := make(chan victim)
		go func() {
			defer close(work)
			for _, v := range victims {
				work <- v
			}
		}()
		frame.Each(len(errs), len(errs), func(i int) {
			tab, err := b.Open()
			if err != nil {
				errs[i] = err
				for range work { // somebody has to take them
				}
				return
			}
			defer tab.Close()
			for v := range work {
				s.look(ctx, tab, v)
			}
		})
		for _, err := range errs {
			if err != nil {
				return nil, err
			}
		}
		sniffed, err := s.sniffed(ctx)
		seen.Promise("canary fired 0, broken policies 0", fmt.Sprintf("canary fired %d, broken policies %d", s.fired.Load(), s.broken.Load()))
		seen.Figure("pages", s.pages.Load())
		seen.Volume("%d texts in every string, %d pages looked at, %d answers told not to be sniffed", len(texts), s.pages.Load(), sniffed)
		return seen, err
	},
}

// stageFright are the looks at pages.
type stageFright struct {
	env  *frame.Env
	seen *frame.Seen

	pages, fired, broken atomic.Int64
}

// victim is somebody whose every text is hostile.
type victim struct {
	text, handle, market, signal string
}

// alarm makes sure that the canary and the policy can be heard.
func alarm(b *browser.Browser, env *frame.Env) error {
	tab, err := b.Open()
	if err != nil {
		return err
	}
	defer tab.Close()
	if _, err := tab.Visit(env.Hub(0) + "/overlay/mara_k"); err != nil {
		return err
	}
	if err := tab.Run(`document.body.insertAdjacentHTML('beforeend', '<img src=x onerror=canary(1)>'), canary('direct')`); err != nil {
		return err
	}
	broken, fired := false, 0
	ok, err := frame.Until(context.Background(), 10*time.Second, func() (bool, error) {
		said, n := tab.Heard()
		fired += n
		broken = broken || strings.Contains(strings.Join(said, "\n"), "a broken policy")
		return broken && fired == 1, nil
	})
	if err == nil && !ok {
		err = fmt.Errorf("the alarm does not work: policy %v, canary %d", broken, fired)
	}
	return err
}

// poison fills everything that people may write.
func (s *stageFright) poison(ctx context.Context, texts []string) ([]victim, error) {
	people, err := pool(ctx, s.env, "h4", len(texts), 1)
	if err != nil {
		return nil, err
	}
	victims, errs := make([]victim, len(texts)), make([]error, len(texts))
	frame.Each(len(texts), 4, func(i int) {
		victims[i], errs[i] = s.poisonOne(ctx, people[i], texts[i])
	})
	for _, err := range errs {
		if err != nil {
			return nil, err
		}
	}
	return victims, nil
}

func (s *stageFright) poisonOne(ctx context.Context, p client.Operator, text string) (victim, error) {
	v := victim{text: text, handle: p.Handle}
	hub, key := s.env.Hub(0), p.Keys[0]
	var err error
	if v.market, err = s.env.Client.Market(ctx, hub, s.env.Admin(), "Is it safe? "+text, 5000); err != nil {
		return v, fmt.Errorf("make a market: %w", err)
	}
	filed := s.env.Client.File(ctx, hub, key, client.Call{Market: v.market, Yes: true, Price: 5000, More: map[string]any{"textTake": text, "marketTitle": text, "source": text}})
	if err := filed.Into(http.StatusOK, nil); err != nil {
		return v, fmt.Errorf("file a call: %w", err)
	}
	v.signal = filed.Text("id")
	for _, w := range []struct {
		path string
		body map[string]any
	}{
		{"/api/streamer/profile", map[string]any{"displayName": clip(text, 64), "bio": text, "links": []string{"https://x.example/" + url.PathEscape(text)}}},
		{overlayPath, map[string]any{"marketId": v.market, "name": text, "annotation": text, "yesPct": 31.5}},
		{"/api/signals/" + v.signal + "/events", map[string]any{"type": "take", "payload": map[string]any{"text": text}}},
	} {
		a := s.env.Client.Do(ctx, client.Request{URL: hub + w.path, As: key, Body: w.body})
		if a.Err != nil || a.Status >= 500 || a.Status == http.StatusNotFound || a.Status == http.StatusUnauthorized {
			return v, fmt.Errorf("write %s: %s", w.path, a) // a text that may not stand there is refused, which is as good
		}
		if w.path == overlayPath && a.Status == http.StatusBadRequest { // something has to be shown all the same
			plain := map[string]any{"marketId": v.market, "name": "Plain words", "yesPct": 31.5}
			if err := s.env.Client.Do(ctx, client.Request{URL: hub + w.path, As: key, Body: plain}).Into(http.StatusOK, nil); err != nil {
				return v, err
			}
		}
	}
	return v, nil
}

const overlayPath = "/api/streamer/signal"

func clip(text string, n int) string {
	r := []rune(text)
	return string(r[:min(len(r), n)])
}

// look opens every page that shows a victim, and waits until it shows him.
func (s *stageFright) look(ctx context.Context, tab *browser.Tab, v victim) {
	for _, p := range []struct{ path, selector string }{
		{"/receipts/" + v.signal, "blockquote"},
		{"/m/" + v.market, "h1"},
		{"/u/" + v.handle, "h1"},
		{"/operator/" + v.handle + "/embed", ".who b"},
		{"/overlay/" + v.handle, "#overlay-name"},
		{"/live/" + v.handle, "#live-name"},
	} {
		s.pages.Add(1)
		s.policy(ctx, p.path)
		status, err := tab.Visit(s.env.Hub(0) + p.path)
		for again := 0; status == http.StatusServiceUnavailable && again < 5; again++ { // the machine is busy
			_ = wait(ctx, time.Now().Add(300*time.Millisecond))
			status, err = tab.Visit(s.env.Hub(0) + p.path)
		}
		if err != nil || status != http.StatusOK {
			s.seen.Wrong("%s: %d %v", p.path, status, err)
			continue
		}
		within := 10 * time.Second
		if !s.seen.OK() { // it is red already
			within = 300 * time.Millisecond
		}
		shown, err := frame.Until(ctx, within, func() (bool, error) {
			text, ok, err := tab.Text(p.selector)
			return ok && text != "", err
		})
		s.seen.Check(shown && err == nil, "%s never shows %s: %v", p.path, p.selector, err)
		said, fired := tab.Heard()
		s.fired.Add(int64(fired))
		for _, what := range said {
			s.broken.Add(1)
			s.seen.Wrong("%s with %.60q: %.200s", p.path, v.text, what)
		}
	}
}

// inline is a script that stands in a page, and a handler or a style in an element.
var inline = regexp.MustCompile(`<script(?:>| type="module">)|<[a-z][^>"]*\s(?:on[a-z]+|style)=`)

// policy holds the policy of a page against the promise.
func (s *stageFright) policy(ctx context.Context, path string) {
	a := s.env.Client.Do(ctx, client.Request{URL: s.env.Hub(0) + path, Header: http.Header{"Accept": {"text/html"}}})
	told := a.Header.Get("Content-Security-Policy")
	s.seen.Check(strings.HasPrefix(told, "default-src 'none';"), "%s has the policy %q", path, told)
	for directive := range strings.SplitSeq(told, ";") {
		name, from, _ := strings.Cut(strings.TrimSpace(directive), " ")
		loose := strings.Contains(from, "unsafe") || strings.Contains(from, "data:") || name != "frame-ancestors" && strings.Contains(from, "*")
		s.seen.Check(!loose && (name != "script-src" || from == "'self'"), "%s may load %s", path, strings.TrimSpace(directive))
	}
	if said := inline.Find(a.Body); said != nil {
		s.seen.Wrong("%s has %q in it", path, said)
	}
}

// sniffed asks every public read and looks whether a browser may guess what it is.
func (s *stageFright) sniffed(ctx context.Context) (int, error) {
	doc, err := openapi.Load(s.env.Root)
	if err != nil {
		return 0, err
	}
	w := windows{market: "native-ffffffffffffffffffffffffffffffff"}
	w.person.Handle = "mara_k"
	var n atomic.Int64
	frame.Each(len(doc.Operations), 4, func(i int) {
		op := doc.Operations[i]
		if op.Method != http.MethodGet || !op.Public() || holds(op) || health(op) {
			return
		}
		a := s.env.Client.Do(ctx, client.Request{URL: hostOf(s.env, op.Host, i) + w.address(op.Path, true), Header: http.Header{"Accept": {"application/json"}}})
		if a.Err != nil || len(a.Body) == 0 {
			return
		}
		n.Add(1)
		s.seen.Check(a.Header.Get("X-Content-Type-Options") == "nosniff", "%s may be sniffed", op.Name())
	})
	return int(n.Load()), nil
}
