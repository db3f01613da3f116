package recorded

import (
	"encoding/json"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/signalcast/signalcast/deploy/venuesim/internal/world"
)

type point struct {
	T int64   `json:"t"`
	P float64 `json:"p"`
}

// Set is what was loaded. It never changes afterwards.
type Set struct {
	markets   map[int64]world.Market
	order     []int64
	keys      map[string]int64           // condition ids, tokens, slugs
	books     map[string]json.RawMessage // order-book records by condition id
	histories [][]point
}

func newSet() *Set {
	return &Set{markets: map[int64]world.Market{}, keys: map[string]int64{}, books: map[string]json.RawMessage{}}
}

// Get implements world.Source.
func (s *Set) Get(id int64, _ time.Time) (world.Market, bool) {
	m, ok := s.markets[id]
	return m, ok
}

// Range implements world.Source.
func (s *Set) Range(_ time.Time, yield func(world.Market) bool) {
	for _, id := range s.order {
		if !yield(s.markets[id]) {
			return
		}
	}
}

// Lookup implements world.Source.
func (s *Set) Lookup(key string) (int64, bool) {
	id, ok := s.keys[key]
	return id, ok
}

// Book gives the recorded order-book record of a condition.
func (s *Set) Book(conditionID string) (json.RawMessage, bool) {
	raw, ok := s.books[conditionID]
	return raw, ok
}

// Len is the number of markets.
func (s *Set) Len() int { return len(s.order) }

func (s *Set) addBook(raw json.RawMessage) bool {
	var book struct {
		ConditionID string            `json:"condition_id"`
		Tokens      []json.RawMessage `json:"tokens"`
	}
	if json.Unmarshal(raw, &book) != nil || book.ConditionID == "" || book.Tokens == nil {
		return false
	}
	if _, taken := s.books[book.ConditionID]; !taken {
		s.books[book.ConditionID] = raw
	}
	return true
}

type object struct {
	ID            string   `json:"id"`
	ConditionID   string   `json:"conditionId"`
	QuestionID    string   `json:"questionID"`
	Slug          string   `json:"slug"`
	Question      string   `json:"question"`
	Description   string   `json:"description"`
	Outcomes      string   `json:"outcomes"`
	OutcomePrices string   `json:"outcomePrices"`
	ClobTokenIDs  string   `json:"clobTokenIds"`
	Closed        bool     `json:"closed"`
	UMA           string   `json:"umaResolutionStatus"`
	StartDate     string   `json:"startDate"`
	CreatedAt     string   `json:"createdAt"`
	EndDate       string   `json:"endDate"`
	ClosedTime    string   `json:"closedTime"`
	VolumeNum     float64  `json:"volumeNum"`
	Volume24hr    float64  `json:"volume24hr"`
	LiquidityNum  float64  `json:"liquidityNum"`
	LastTrade     *float64 `json:"lastTradePrice"`
	BestBid       *float64 `json:"bestBid"`
	BestAsk       *float64 `json:"bestAsk"`
	NegRisk       bool     `json:"negRisk"`
	Group         string   `json:"groupItemTitle"`
	Events        []struct {
		ID    string `json:"id"`
		Slug  string `json:"slug"`
		Title string `json:"title"`
	} `json:"events"`
	Tags []struct {
		ID    string `json:"id"`
		Label string `json:"label"`
		Slug  string `json:"slug"`
	} `json:"tags"`
}

// addMarket takes one metadata object; the first one with a number wins.
func (s *Set) addMarket(raw json.RawMessage) bool {
	var o object
	if json.Unmarshal(raw, &o) != nil || o.ConditionID == "" || o.Outcomes == "" {
		return false
	}
	id, err := strconv.ParseInt(o.ID, 10, 64)
	if err != nil || id <= 0 || id >= world.FirstCreated {
		return false
	}
	if _, taken := s.markets[id]; taken {
		return true
	}
	m := world.Market{
		ID: id, Question: o.Question, Description: o.Description, Slug: o.Slug, GroupTitle: o.Group, NegRisk: o.NegRisk,
		Outcomes: texts(o.Outcomes), Tokens: texts(o.ClobTokenIDs), ConditionID: o.ConditionID, QuestionID: o.QuestionID,
		Start: instant(o.StartDate), End: instant(o.EndDate), ChangedAt: instant(o.ClosedTime),
		Volume: o.VolumeNum, Volume24h: o.Volume24hr, Liquidity: o.LiquidityNum, Raw: raw, RawClosed: o.Closed,
	}
	if m.Start.IsZero() {
		m.Start = instant(o.CreatedAt)
	}
	if len(m.Tokens) == 0 {
		m.Tokens = []string{} // none were recorded: none are invented
	}
	for _, e := range o.Events[:min(len(o.Events), 1)] {
		m.Event = world.Event{ID: e.ID, Slug: e.Slug, Title: e.Title, NegRisk: o.NegRisk, Children: 1}
	}
	for _, t := range o.Tags {
		m.Tags = append(m.Tags, world.Tag{ID: t.ID, Label: t.Label, Slug: t.Slug})
	}
	standing(&m, o)
	m.Book = o.book(m.YesIndex())
	s.markets[id] = m
	s.order = append(s.order, id)
	for _, key := range append([]string{m.ConditionID, m.Slug}, m.Tokens...) {
		if key != "" {
			s.keys[key] = id
		}
	}
	return true
}

// book returns the recorded best bid and ask of YES; nil when they were not recorded.
func (o *object) book(yes int) *world.Top {
	if o.BestBid == nil || o.BestAsk == nil {
		return nil
	}
	bid, err1 := world.FromFloat(*o.BestBid)
	ask, err2 := world.FromFloat(*o.BestAsk)
	if err1 != nil || err2 != nil {
		return nil
	}
	if yes == 1 { // the record has those of the first outcome
		bid, ask = world.One-ask, world.One-bid
	}
	return &world.Top{Bid: bid, Ask: ask}
}

// standing reads price, state and verdict out of the recorded fields.
func standing(m *world.Market, o object) {
	prices := texts(o.OutcomePrices)
	if yes := m.YesIndex(); yes < len(prices) {
		m.Price = micros(prices[yes])
	}
	if m.Price == 0 && o.LastTrade != nil && len(prices) == 0 {
		m.Price = micros(strconv.FormatFloat(*o.LastTrade, 'f', -1, 64))
	}
	switch {
	case o.UMA == "disputed":
		m.State = world.Disputed
	case o.UMA == "resolved" && o.Closed:
		m.State, m.Verdict = world.Resolved, verdict(m.Price)
	case o.UMA != "":
		m.State = world.Proposed
	case o.Closed:
		m.State = world.Closed
	default:
		m.State = world.Open
	}
}

func verdict(p world.Micros) world.Verdict {
	switch {
	case p >= world.One-1000:
		return world.Yes
	case p <= 1000:
		return world.No
	}
	return world.Invalid
}

// finish gives each recorded history, which names no market, to the one market
// that trades at its last price and was there when it began.
func (s *Set) finish() {
	slices.Sort(s.order)
	for _, h := range s.histories {
		slices.SortStableFunc(h, func(a, b point) int { return int(a.T - b.T) })
		last := h[len(h)-1]
		var owners []int64
		for _, id := range s.order {
			m := s.markets[id]
			if m.Price == micros(strconv.FormatFloat(last.P, 'f', -1, 64)) && len(m.Tokens) == 2 &&
				!m.Start.IsZero() && m.Start.Unix() <= h[0].T+86400 && m.State == world.Open {
				owners = append(owners, id)
			}
		}
		if len(owners) == 1 {
			m := s.markets[owners[0]]
			m.Path = replay(h)
			s.markets[owners[0]] = m
		}
	}
}

func replay(h []point) world.Path {
	return func(unix int64) world.Micros {
		i, exact := slices.BinarySearchFunc(h, unix, func(p point, t int64) int { return int(p.T - t) })
		if !exact && i > 0 {
			i--
		}
		return world.Micros(math.Round(h[min(i, len(h)-1)].P * float64(world.One)))
	}
}

// texts reads a list that is written inside a string.
func texts(s string) []string {
	var out []string
	if json.Unmarshal([]byte(s), &out) != nil {
		return nil
	}
	return out
}

func micros(text string) world.Micros {
	f, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsNaN(f) {
		return 0
	}
	return world.Micros(math.Round(min(max(f, 0), 1) * float64(world.One)))
}

// instant reads the two forms of time in recorded objects; zero when neither.
func instant(s string) time.Time {
	if t, err := time.Parse(time.RFC3339Nano, s); err == nil {
		return t.UTC()
	}
	s = strings.Replace(s, " ", "T", 1)
	if t, err := time.Parse("2006-01-02T15:04:05.999999999Z07", s); err == nil {
		return t.UTC()
	}
	return time.Time{}
}
