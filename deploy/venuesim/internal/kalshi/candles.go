package kalshi

import (
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/signalcast/signalcast/deploy/venuesim/internal/reply"
	"github.com/signalcast/signalcast/deploy/venuesim/internal/world"
)

const (
	mostCandles  = 10_000
	batchTickers = 100
	day          = 86_400
	// midnight is the end of a daily candle: midnight on the venue's coast.
	midnight = 5 * 3600
)

type figures map[string]any

type candle struct {
	End   int64
	Bid   figures
	Ask   figures
	Price figures
	// traded is contracts in the period, held those at its end.
	traded, held string
}

// stretch is what a request for candles asks for.
type stretch struct{ from, to, step int64 }

func asked(v url.Values) (st stretch, fault string) {
	var err error
	if st.from, err = strconv.ParseInt(v.Get("start_ts"), 10, 64); err != nil || st.from < 0 {
		return st, "start_ts: required"
	}
	if st.to, err = strconv.ParseInt(v.Get("end_ts"), 10, 64); err != nil || st.to < st.from {
		return st, "end_ts: required, not before start_ts"
	}
	switch v.Get("period_interval") {
	case "1", "60", "1440":
		minutes, _ := strconv.ParseInt(v.Get("period_interval"), 10, 64)
		st.step = 60 * minutes
		return st, ""
	}
	return st, "period_interval: must be one of 1, 60, 1440"
}

// candles are the periods that end within the stretch and within the market's
// life; ok is false when there are too many.
func (s *Service) candles(m *world.Market, st stretch) (out []candle, ok bool) {
	shift := int64(0)
	if st.step == day {
		shift = midnight
	}
	now := s.world.Now()
	from, to := max(st.from, m.Start.Unix()+1), min(st.to, m.Until(now).Unix(), closeTime(m).Unix()+st.step, now.Unix())
	if m.Placeholder || to < from {
		return nil, true
	}
	if (to-from)/st.step > mostCandles {
		return nil, false
	}
	first := from - shift
	first += (st.step - first%st.step) % st.step
	for end := first + shift; end <= to; end += st.step {
		out = append(out, s.candle(m, end, st.step))
	}
	return out, true
}

func (s *Service) candle(m *world.Market, end, step int64) candle {
	open, middle, last := m.Path(max(end-step, m.Start.Unix())), m.Path(end-step/2), m.Path(end)
	low, high := min(open, middle, last), max(open, middle, last)
	side := func(of func(world.Micros) world.Micros) figures {
		return figures{"open": of(open).Dollars(), "low": of(low).Dollars(), "high": of(high).Dollars(), "close": of(last).Dollars()}
	}
	c := candle{
		End: end, traded: count(float64(10 + end/60%190)), held: count(float64(1000 + end/3600%6000)),
		Bid: side(func(p world.Micros) world.Micros { b, _ := world.Quote(p); return b }),
		Ask: side(func(p world.Micros) world.Micros { _, a := world.Quote(p); return a }),
	}
	c.Price = side(func(p world.Micros) world.Micros { return p })
	c.Price["mean"], c.Price["previous"] = ((low + high) / 200 * 100).Dollars(), open.Dollars()
	if quiet := world.Draw("quiet", uint64(end)) % 8; !m.Created() && quiet < 2 {
		c.traded = count(0)
		for _, name := range []string{"open", "low", "high", "close", "mean"} {
			if c.Price[name] = nil; quiet == 1 { // no trades: null, or not there at all
				delete(c.Price, name)
			}
		}
	}
	return c
}

// live is a candle as the live paths write it; the archive leaves the endings
// of the names away.
func (c candle) live() map[string]any {
	long := func(f figures) figures {
		out := figures{}
		for name, value := range f {
			out[name+"_dollars"] = value
		}
		return out
	}
	return map[string]any{
		"end_period_ts": c.End, "yes_bid": long(c.Bid), "yes_ask": long(c.Ask), "price": long(c.Price),
		"volume_fp": c.traded, "open_interest_fp": c.held,
	}
}

func (c candle) old() map[string]any {
	return map[string]any{
		"end_period_ts": c.End, "yes_bid": c.Bid, "yes_ask": c.Ask, "price": c.Price, "volume": c.traded, "open_interest": c.held,
	}
}

func written(list []candle, as func(candle) map[string]any) []map[string]any {
	out := make([]map[string]any, len(list))
	for i, c := range list {
		out[i] = as(c)
	}
	return out
}

func (s *Service) liveCandles(w http.ResponseWriter, r *http.Request) {
	m, ok := s.Find(r.PathValue("ticker"))
	if !ok || s.archived(&m) || seriesTicker(&m) != r.PathValue("series") {
		notFound(w)
		return
	}
	s.answerCandles(w, r, &m, candle.live)
}

func (s *Service) oldCandles(w http.ResponseWriter, r *http.Request) {
	m, ok := s.Find(r.PathValue("ticker"))
	if !ok || !s.archived(&m) {
		notFound(w)
		return
	}
	s.answerCandles(w, r, &m, candle.old)
}

func (s *Service) answerCandles(w http.ResponseWriter, r *http.Request, m *world.Market, as func(candle) map[string]any) {
	st, text := asked(r.URL.Query())
	list, ok := []candle(nil), true
	if text == "" {
		list, ok = s.candles(m, st)
	}
	if !ok {
		text = "period_interval: too many candlesticks"
	}
	if text != "" {
		refuse(w, text)
		return
	}
	reply.JSON(w, http.StatusOK, map[string]any{"ticker": ticker(m), "candlesticks": written(list, as)})
}

// batchCandles needs no series; markets that it does not know are left out.
func (s *Service) batchCandles(w http.ResponseWriter, r *http.Request) {
	st, text := asked(r.URL.Query())
	tickers := strings.Split(r.URL.Query().Get("market_tickers"), ",")
	if tickers[0] == "" || len(tickers) > batchTickers {
		text = "market_tickers: 1 to " + strconv.Itoa(batchTickers)
	}
	if text != "" {
		refuse(w, text)
		return
	}
	out, total := []map[string]any{}, 0
	for _, key := range tickers {
		m, found := s.Find(key)
		if !found || s.archived(&m) {
			continue
		}
		list, ok := s.candles(&m, st)
		if total += len(list); !ok || total > mostCandles {
			refuse(w, "period_interval: too many candlesticks")
			return
		}
		out = append(out, map[string]any{"market_ticker": key, "candlesticks": written(list, candle.live)})
	}
	reply.JSON(w, http.StatusOK, map[string]any{"markets": out})
}
