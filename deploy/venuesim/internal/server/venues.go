package server

import (
	"cmp"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/signalcast/signalcast/deploy/venuesim/internal/control"
	"github.com/signalcast/signalcast/deploy/venuesim/internal/kalshi"
	"github.com/signalcast/signalcast/deploy/venuesim/internal/limitless"
	"github.com/signalcast/signalcast/deploy/venuesim/internal/manifold"
	"github.com/signalcast/signalcast/deploy/venuesim/internal/polymarket"
	"github.com/signalcast/signalcast/deploy/venuesim/internal/recorded"
	"github.com/signalcast/signalcast/deploy/venuesim/internal/socket"
	"github.com/signalcast/signalcast/deploy/venuesim/internal/universe"
	"github.com/signalcast/signalcast/deploy/venuesim/internal/world"
)

// How many invented markets are open at each venue beside Polymarket, about in
// the proportion in which the real ones list them. Manifold has more than fit
// into one page of its search.
const (
	kalshiSize    = 1200
	limitlessSize = 300
	manifoldSize  = 1400
)

// player is what each venue can do. The ids of our API are its keys behind a prefix.
type player interface {
	Handler() http.Handler
	Key(m *world.Market) string
	Find(key string) (world.Market, bool)
}

// channel is what a venue with a websocket can do beyond that.
type channel interface{ Stream() socket.Session }

// Handler builds every venue; note gets a line for each recorded file left out.
// A venue of which the recorded files hold nothing plays invented markets.
func Handler(c Config, note func(string)) (http.Handler, error) {
	lib := &recorded.Library{}
	if len(c.Data) > 0 {
		var err error
		if lib, err = recorded.Load(c.Data, note); err != nil {
			return nil, err
		}
	}
	clock := control.NewClock(c.Now)
	c.Now = clock.Now
	mux := http.NewServeMux()
	mux.Handle("POST /sim/clock", clock)
	mux.HandleFunc("GET /healthz", func(rw http.ResponseWriter, _ *http.Request) {
		rw.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(rw, `{"ok":true}`)
	})
	s := &stage{mux: mux, now: c.Now, venues: map[string]control.Venue{}}
	w, books := primary(c, lib)
	s.add(seat{name: "polymarket", paths: []string{"/gamma/", "/clob/"}, socket: "/ws/market", rules: control.Rules{Outcomes: true, TradesOn: true}}, w, polymarket.New(w, books))
	w = secondary(c, lib.Kalshi, kalshiSize, 'K')
	s.add(seat{name: "kalshi", prefix: "kalshi-", rules: kalshi.Rules, limited: `{"error":"too many requests"}`}, w, kalshi.New(w))
	w = secondary(c, lib.Limitless, limitlessSize, 'L')
	s.add(seat{
		name: "limitless", prefix: "lmt-", rules: limitless.Rules, limited: `{"statusCode":429,"message":"ThrottlerException: Too Many Requests"}`,
	}, w, limitless.New(w))
	w = secondary(c, lib.Manifold, manifoldSize, 'M')
	s.add(seat{
		name: "manifold", prefix: "manifold-", socket: "/manifold/ws", rules: manifold.Rules, limited: `{"message":"Too many requests"}`,
	}, w, manifold.New(w))
	mux.Handle("/sim/", control.Handler(s.venues))
	return clock.Wrap(mux), nil
}

// stage is where the venues are put up.
type stage struct {
	mux    *http.ServeMux
	now    func() time.Time
	venues map[string]control.Venue
}

// seat is where one venue stands.
type seat struct {
	name, prefix string   // of our ids
	paths        []string // /name/ when none are given
	socket       string   // path of the websocket of a player that is a channel
	rules        control.Rules
	limited      string // its JSON for mode 429; empty for the network's own word
}

func (s *stage) add(at seat, w *world.World, p player) {
	gate := func() *control.Switch {
		sw := control.NewSwitch(s.now)
		if at.limited != "" {
			sw.Limiting(at.limited)
		}
		return sw
	}
	v := control.Venue{World: w, Switch: gate(), Rules: at.rules}
	v.Spell = func(id int64) string {
		m, ok := w.Get(id)
		if !ok {
			return ""
		}
		return at.prefix + p.Key(&m)
	}
	v.Read = func(text string) (int64, bool) {
		key, ok := strings.CutPrefix(text, at.prefix)
		if !ok {
			return 0, false
		}
		m, ok := p.Find(key)
		return m.ID, ok
	}
	if len(at.paths) == 0 {
		at.paths = []string{"/" + at.name + "/"}
	}
	reads := v.Switch.Wrap(p.Handler())
	for _, path := range at.paths {
		s.mux.Handle(path, reads)
	}
	if speaks, ok := p.(channel); ok {
		v.Line = gate()
		sockets := socket.New(v.Line, speaks.Stream)
		v.Sockets = sockets.Count
		s.mux.Handle("GET "+at.socket, sockets)
	}
	s.venues[at.name] = v
}

// primary is the world of Polymarket and what was recorded of its order books.
func primary(c Config, lib *recorded.Library) (*world.World, polymarket.Books) {
	if lib.Polymarket != nil {
		return world.New(lib.Polymarket, c.Seed, c.Now), lib.Polymarket
	}
	return world.New(universe.Sized(c.Seed, cmp.Or(c.Size, universe.Size)), c.Seed, c.Now), nil
}

// secondary is the world of another venue: what was recorded of it, else a
// universe of its own under the same seed.
func secondary(c Config, wire *recorded.Wire, size int, salt uint64) *world.World {
	seed := c.Seed ^ salt<<56
	var source world.Source = wire
	if wire == nil {
		source = universe.Sized(seed, size)
	}
	return world.New(source, seed, c.Now)
}
