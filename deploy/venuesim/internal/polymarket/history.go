package polymarket

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"

	"github.com/signalcast/signalcast/deploy/venuesim/internal/reply"
	"github.com/signalcast/signalcast/deploy/venuesim/internal/world"
)

// Rules of the price history.
const (
	longestWindow = 1_296_000 // seconds
	mostPoints    = 4300
	month         = 30 * 86400
	wholeLife     = 720 // minutes of fidelity from which max covers the whole life
)

type span struct {
	seconds int64 // 0 = the whole life
	floor   int   // least fidelity in minutes
}

var spans = map[string]span{
	"1h": {3600, 1}, "6h": {6 * 3600, 1}, "1d": {86400, 1}, "1w": {7 * 86400, 5}, "1m": {month, 10}, "max": {0, 1}, "all": {0, 1},
}

type historyPoint struct {
	T int64   `json:"t"`
	P float64 `json:"p"`
}

// window is the stretch of time that a request asks for.
type window struct {
	from, to int64
	step     int64
}

func (s *Service) history(w http.ResponseWriter, r *http.Request) {
	v := r.URL.Query()
	token := v.Get("market")
	if token == "" {
		clobFail(w, http.StatusBadRequest, "invalid filters: 'market' is required")
		return
	}
	now := s.world.Now().Unix()
	win, text := ask(v, now)
	if text != "" {
		clobFail(w, http.StatusBadRequest, text)
		return
	}
	points := []historyPoint{}
	if m, ok := s.world.Find(token); ok {
		if i := slices.Index(m.Tokens, token); i >= 0 {
			points = s.points(&m, i, win, now)
		}
	}
	reply.JSON(w, http.StatusOK, struct {
		History []historyPoint `json:"history"`
	}{points})
}

// ask reads the window of a request; text is the venue's refusal.
func ask(v url.Values, now int64) (win window, text string) {
	fidelity, given := 0, v.Get("fidelity") != ""
	if given {
		n, err := strconv.Atoi(v.Get("fidelity"))
		if err != nil || n <= 0 {
			return win, "invalid filters: 'fidelity' is not valid"
		}
		fidelity = n
	}
	if v.Get("startTs") != "" || v.Get("endTs") != "" {
		return between(v, fidelity, now)
	}
	name := v.Get("interval")
	if name == "" {
		return win, "invalid filters: 'interval' or 'startTs' is required"
	}
	sp, known := spans[name]
	if !known {
		return win, "invalid filters: 'interval' is not valid"
	}
	if !given {
		fidelity = max(sp.floor, 1)
	}
	if fidelity < sp.floor {
		return win, "invalid filters: minimum 'fidelity' for '" + name + "' range is " + strconv.Itoa(sp.floor)
	}
	win = window{from: now - sp.seconds, to: now, step: int64(fidelity) * 60}
	if sp.seconds == 0 {
		win.from = 0
		if fidelity < wholeLife {
			win.from = now - month
		}
	}
	return win, ""
}

func between(v url.Values, fidelity int, now int64) (win window, text string) {
	from, err := strconv.ParseInt(v.Get("startTs"), 10, 64)
	if err != nil || from < 0 {
		return win, "invalid filters: 'startTs' is not valid"
	}
	to := now
	if v.Get("endTs") != "" {
		if to, err = strconv.ParseInt(v.Get("endTs"), 10, 64); err != nil || to < from {
			return win, "invalid filters: 'endTs' is not valid"
		}
	}
	if to-from > longestWindow {
		return win, "invalid filters: 'startTs' and 'endTs' interval is too long"
	}
	return window{from: from, to: to, step: int64(max(fidelity, 1)) * 60}, ""
}

// points samples the price path. The last point is stamped with the moment of
// the request, whatever the window: the venue does that.
func (s *Service) points(m *world.Market, outcome int, win window, now int64) []historyPoint {
	out := []historyPoint{}
	last := min(win.to, m.Until(s.world.Now()).Unix(), now)
	first := max(win.from, m.Start.Unix())
	if over := (last-first)/win.step - mostPoints; over > 0 {
		first += over * win.step
	}
	yes := outcome == m.YesIndex()
	at := func(t int64) float64 {
		p := m.Path(t)
		if !yes {
			p = (world.One - p) / world.Micros(max(len(m.Outcomes)-1, 1))
		}
		return p.Float()
	}
	for t := first - first%win.step + win.step; t <= last; t += win.step {
		stamp := t + (t/win.step*7919)%13 // steps are uneven on the wire
		if stamp <= last {
			out = append(out, historyPoint{stamp, at(stamp)})
		}
	}
	if len(out) > 0 && out[len(out)-1].T < now {
		out = append(out, historyPoint{now, at(last)})
	}
	return out
}
