package polymarket

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"

	"github.com/signalcast/signalcast/deploy/venuesim/internal/venue"
	"github.com/signalcast/signalcast/deploy/venuesim/internal/world"
)

const (
	longestWindow = 1_296_000 // maximum of endTs - startTs in seconds
	maxPoints     = 4300
	month         = 30 * 86_400
	wholeLife     = 720 // fidelity in minutes from which interval=max covers the whole life of a market
)

// span describes one value of the parameter interval.
type span struct {
	seconds  int64 // 0: the whole life of the market
	fidelity int64 // minimum fidelity in minutes
}

var spans = map[string]span{
	"1h": {3600, 1}, "6h": {6 * 3600, 1}, "1d": {86_400, 1}, "1w": {7 * 86_400, 5}, "1m": {month, 10}, "max": {0, 1},
}

// window is the period that a request covers, from and to in Unix seconds, with the interval between two points in seconds.
type window struct{ from, to, step int64 }

func (s *Service) history(w http.ResponseWriter, r *http.Request) {
	v, now := r.URL.Query(), s.world.Now().Unix()
	win, fault := readWindow(v, now)
	if v.Get("market") == "" {
		fault = "'market' is required"
	}
	if fault != "" {
		clobError(w, http.StatusBadRequest, "invalid filters: "+fault)
		return
	}
	points := []venue.Object{}
	if m, ok := s.world.Find(v.Get("market")); ok {
		if i := slices.Index(m.Tokens, v.Get("market")); i >= 0 {
			points = s.points(&m, i, win, now)
		}
	}
	venue.Answer(w, http.StatusOK, venue.Object{"history": points})
}

// readWindow returns the time window of a request. fault is the error text of the venue if the request is refused, otherwise
// empty.
func readWindow(v url.Values, now int64) (win window, fault string) {
	name := v.Get("interval")
	s, known := spans[name]
	fidelity, err := s.fidelity, error(nil)
	if text := v.Get("fidelity"); text != "" {
		fidelity, err = strconv.ParseInt(text, 10, 64)
	}
	win = window{now - s.seconds, now, max(fidelity, 1) * 60}
	switch {
	case err != nil || v.Has("fidelity") && fidelity <= 0:
		return win, "'fidelity' is not valid"
	case v.Get("startTs") != "" || v.Get("endTs") != "":
		var err1, err2 error
		win.from, err1 = strconv.ParseInt(v.Get("startTs"), 10, 64)
		if v.Get("endTs") != "" {
			win.to, err2 = strconv.ParseInt(v.Get("endTs"), 10, 64)
		}
		switch {
		case err1 != nil || win.from < 0:
			return win, "'startTs' is not valid"
		case err2 != nil || win.to < win.from:
			return win, "'endTs' is not valid"
		case win.to-win.from > longestWindow:
			return win, "'startTs' and 'endTs' interval is too long"
		}
	case name == "":
		return win, "'interval' or 'startTs' is required"
	case !known:
		return win, "'interval' is not valid"
	case fidelity < s.fidelity:
		return win, "minimum 'fidelity' for '" + name + "' range is " + strconv.FormatInt(s.fidelity, 10)
	case s.seconds == 0 && fidelity >= wholeLife:
		win.from = 0
	case s.seconds == 0:
		win.from = now - month
	}
	return win, ""
}

// points returns the prices of an outcome in the time window win. As at the venue, the last point has the time of the request,
// even outside the window.
func (s *Service) points(m *world.Market, outcome int, win window, now int64) []venue.Object {
	out := []venue.Object{}
	last := min(win.to, m.LastPriceAt(s.world.Now()).Unix(), now)
	first := max(win.from, m.Start.Unix(), last-maxPoints*win.step)
	add := func(stamp, at int64) {
		p := m.Path(at)
		if outcome != m.YesIndex() {
			p = (world.One - p) / world.Price(len(m.Labels)-1)
		}
		out = append(out, venue.Object{"t": stamp, "p": p.Float()})
	}
	for t := first - first%win.step + win.step; t <= last; t += win.step {
		if stamp := t + (t/win.step*7919)%13; stamp <= last { // the steps of the venue are uneven
			add(stamp, stamp)
		}
	}
	if len(out) > 0 {
		add(now, last)
	}
	return out
}
