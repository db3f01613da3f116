package limitless

import (
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/signalcast/signalcast/deploy/venuesim/internal/reply"
	"github.com/signalcast/signalcast/deploy/venuesim/internal/world"
)

const (
	month      = 30 * 86_400
	mostPoints = 500
	leastStep  = 60
	levels     = 3
	tick       = world.Micros(1_000)
)

// spans are the words of the interval parameter; all is the whole life.
var spans = map[string]int64{"1h": 3600, "6h": 6 * 3600, "1d": 86_400, "1w": 7 * 86_400, "1m": month, "all": 0}

type line struct {
	Title  string  `json:"title"`
	Prices []point `json:"prices"`
}

// point has its time as a text of milliseconds, or as a number, and its price
// as a number or a text: the venue is not of one mind.
type point struct {
	Timestamp any `json:"timestamp"`
	Price     any `json:"price"`
}

// window reads the stretch of time of a request.
func window(v url.Values, now int64) (from, to int64, fault string) {
	if v.Get("from") != "" || v.Get("to") != "" {
		to = now
		for name, into := range map[string]*int64{"from": &from, "to": &to} {
			if text := v.Get(name); text != "" {
				t, err := time.Parse(time.RFC3339, text)
				if err != nil {
					return 0, 0, name + " must be a valid ISO 8601 date string"
				}
				*into = t.Unix()
			}
		}
		return from, to, ""
	}
	word := v.Get("interval")
	if word == "" {
		word = "1d"
	}
	length, known := spans[word]
	if !known {
		return 0, 0, "interval must be one of the following values: 1h, 6h, 1d, 1w, 1m, all"
	}
	if length == 0 {
		return 0, now, ""
	}
	return now - length, now, ""
}

// history answers with one line for a market and a list of lines for a group.
func (s *Service) history(w http.ResponseWriter, r *http.Request) {
	slug := r.PathValue("slug")
	m, single := s.Find(slug)
	list := []world.Market{m}
	if !single {
		list = s.members(slug)
	}
	if len(list) == 0 {
		notFound(w, noMarket)
		return
	}
	from, to, text := window(r.URL.Query(), s.world.Now().Unix())
	if text != "" {
		refuse(w, text)
		return
	}
	lines := make([]line, len(list))
	for i := range list {
		lines[i] = s.line(&list[i], from, to)
	}
	if single {
		reply.JSON(w, http.StatusOK, lines[0])
		return
	}
	reply.JSON(w, http.StatusOK, lines)
}

func (s *Service) line(m *world.Market, from, to int64) line {
	l := line{Title: m.YesQuestion(), Prices: []point{}}
	if m.Event.Group && m.GroupTitle != "" {
		l.Title = m.GroupTitle
	}
	now := s.world.Now()
	first, last := max(from, m.Start.Unix()), min(to, m.Until(now).Unix(), now.Unix())
	if word(m) == wordDraft || last < first {
		return l
	}
	scale := 1.0
	if kind(m) == kindPool {
		scale = 100
	}
	step := max(leastStep, (last-first)/mostPoints)
	for t := first; t < last; t += step {
		l.Prices = append(l.Prices, dot(t*1000+671, m.Path(t), scale, len(l.Prices)))
	}
	l.Prices = append(l.Prices, dot(last*1000, m.Path(last), scale, len(l.Prices)))
	return l
}

func dot(ms int64, p world.Micros, scale float64, n int) point {
	price := float64(p) * scale / float64(world.One)
	out := point{strconv.FormatInt(ms, 10), price}
	if n%5 == 2 {
		out.Price = strconv.FormatFloat(price, 'f', -1, 64)
	}
	if n%5 == 3 {
		out.Timestamp = ms
	}
	return out
}

// orderbook has the YES side only; a pool has no book.
func (s *Service) orderbook(w http.ResponseWriter, r *http.Request) {
	slug := r.PathValue("slug")
	m, ok := s.Find(slug)
	switch {
	case !ok && len(s.members(slug)) == 0:
		notFound(w, noMarket)
		return
	case !ok || kind(&m) == kindPool:
		reply.JSON(w, http.StatusBadRequest, fault{Message: "Market does not have an order book"})
		return
	}
	b := orderBook{Bids: []level{}, Asks: []level{}, MaxSpread: "0.035", MinSize: "50000000"}
	if len(m.Tokens) > m.YesIndex() {
		b.TokenID = m.Tokens[m.YesIndex()]
	}
	if active(&m, s.world.Now()) {
		b.LastTradePrice, b.AdjustedMidpoint, b.Midpoint = m.Price.Float(), m.Price.Float(), m.Price.Float()
		top := m.Top()
		for i := range world.Micros(levels) {
			size := int64(300_000_000 + 100_000_000*i)
			if p := top.Bid - i*tick; p > 0 {
				b.Bids = append(b.Bids, level{p.Float(), size, "BUY"})
			}
			if p := top.Ask + i*tick; p < world.One {
				b.Asks = append(b.Asks, level{p.Float(), size, "SELL"})
			}
		}
	}
	reply.JSON(w, http.StatusOK, b)
}
