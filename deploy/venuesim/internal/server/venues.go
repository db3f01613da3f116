package server

import (
	"io"
	"net/http"
	"strconv"

	"github.com/signalcast/signalcast/deploy/venuesim/internal/control"
	"github.com/signalcast/signalcast/deploy/venuesim/internal/kalshi"
	"github.com/signalcast/signalcast/deploy/venuesim/internal/limitless"
	"github.com/signalcast/signalcast/deploy/venuesim/internal/manifold"
	"github.com/signalcast/signalcast/deploy/venuesim/internal/polymarket"
	"github.com/signalcast/signalcast/deploy/venuesim/internal/recorded"
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

// player is what each venue can do.
type player interface {
	Handler() http.Handler
	Spell(id int64) string
	Read(text string) (int64, bool)
}

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
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", func(rw http.ResponseWriter, _ *http.Request) {
		rw.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(rw, `{"ok":true}`)
	})
	venues := map[string]control.Venue{"polymarket": primary(c, lib, mux)}
	add := func(name string, w *world.World, p player, rules control.Rules, limited string) {
		sw := control.NewSwitch(c.Now).Limiting(limited)
		mux.Handle("/"+name+"/", sw.Wrap(p.Handler()))
		venues[name] = control.Venue{World: w, Switch: sw, Spell: p.Spell, Read: p.Read, Rules: rules}
	}
	w := secondary(c, lib.Kalshi, kalshiSize, 'K')
	add("kalshi", w, kalshi.New(w), control.Kalshi, `{"error":"too many requests"}`)
	w = secondary(c, lib.Limitless, limitlessSize, 'L')
	add("limitless", w, limitless.New(w), control.Limitless, `{"statusCode":429,"message":"ThrottlerException: Too Many Requests"}`)
	w = secondary(c, lib.Manifold, manifoldSize, 'M')
	add("manifold", w, manifold.New(w), control.Manifold, `{"message":"Too many requests"}`)
	mux.Handle("/sim/", control.Handler(venues))
	return mux, nil
}

// primary plays Polymarket, whose two services stand at two paths.
func primary(c Config, lib *recorded.Library, mux *http.ServeMux) control.Venue {
	var source world.Source = universe.New(c.Seed)
	var books polymarket.Books
	if lib.Polymarket != nil {
		source, books = lib.Polymarket, lib.Polymarket
	}
	w := world.New(source, c.Seed, c.Now)
	sw := control.NewSwitch(c.Now)
	venue := sw.Wrap(polymarket.New(w, books).Handler())
	mux.Handle("/gamma/", venue)
	mux.Handle("/clob/", venue)
	return control.Venue{
		World: w, Switch: sw, Rules: control.Polymarket,
		Spell: func(id int64) string { return strconv.FormatInt(id, 10) },
		Read: func(text string) (int64, bool) {
			id, err := strconv.ParseInt(text, 10, 64)
			return id, err == nil
		},
	}
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
