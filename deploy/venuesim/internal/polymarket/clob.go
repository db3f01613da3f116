package polymarket

import (
	"crypto/sha1"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/signalcast/signalcast/deploy/venuesim/internal/reply"
	"github.com/signalcast/signalcast/deploy/venuesim/internal/world"
)

const (
	noBook    = "No orderbook exists for the requested token id"
	badToken  = "Invalid token id"
	badBody   = "Invalid payload"
	maxBatch  = 500
	maxBody   = 256 << 10
	tick      = world.Micros(1_000)
	levels    = 3
	idLongest = 80
)

func (s *Service) clobRoutes(mux *http.ServeMux) {
	mux.HandleFunc("GET /clob/markets/{condition}", s.clobMarket)
	mux.HandleFunc("GET /clob/midpoint", s.midpoint)
	mux.HandleFunc("POST /clob/midpoints", s.midpoints)
	mux.HandleFunc("GET /clob/midpoints", func(w http.ResponseWriter, _ *http.Request) { clobFail(w, http.StatusBadRequest, badBody) })
	mux.HandleFunc("GET /clob/book", s.oneBook)
	mux.HandleFunc("POST /clob/books", s.manyBooks)
	mux.HandleFunc("GET /clob/books", func(w http.ResponseWriter, _ *http.Request) { clobFail(w, http.StatusBadRequest, badBody) })
	mux.HandleFunc("GET /clob/price", s.price)
	mux.HandleFunc("GET /clob/last-trade-price", s.lastTrade)
	mux.HandleFunc("GET /clob/prices-history", s.history)
	mux.HandleFunc("/clob/", func(w http.ResponseWriter, _ *http.Request) { clobFail(w, http.StatusNotFound, "not found") })
}

func (s *Service) clobMarket(w http.ResponseWriter, r *http.Request) {
	condition := r.PathValue("condition")
	m, ok := s.world.Find(condition)
	if s.books != nil && !m.Patched {
		if raw, recorded := s.books.Book(condition); recorded {
			reply.JSON(w, http.StatusOK, raw)
			return
		}
	}
	if !ok || m.ConditionID != condition {
		clobFail(w, http.StatusNotFound, "market not found")
		return
	}
	reply.JSON(w, http.StatusOK, s.record(&m))
}

func (s *Service) record(m *world.Market) clobMarket {
	trading := !m.Finished() && !m.Placeholder
	c := clobMarket{
		EnableOrderBook: trading, Active: !m.Placeholder, Closed: m.Finished(), AcceptingOrders: trading,
		AcceptingOrderTimestamp: m.Start.Add(5 * time.Second).Format(time.RFC3339), MinimumOrderSize: 5, MinimumTickSize: 0.001,
		ConditionID: m.ConditionID, QuestionID: m.QuestionID, Question: m.Question, Description: m.Description, MarketSlug: m.Slug,
		NotificationsEnabled: true, NegRisk: m.NegRisk, Icon: picture, Image: picture,
		Is5050Outcome: m.State == world.Resolved && m.Verdict == world.Invalid,
	}
	if !m.End.IsZero() {
		end := m.End.Truncate(24 * time.Hour).Format(time.RFC3339)
		c.EndDateIso = &end
		if m.SportsType != "" {
			game := m.End.Format(time.RFC3339)
			c.GameStartTime = &game
		}
	}
	if m.NegRisk {
		c.NegRiskMarketID, c.NegRiskRequestID = s.world.IDs.NegRisk(m.Event.ID), m.QuestionID
	}
	prices := m.Prices()
	for i, outcome := range m.Outcomes {
		t := clobToken{Outcome: outcome, Price: prices[i].Float()}
		if m.Placeholder {
			t = clobToken{} // not ready: the venue sends empty strings
		} else if i < len(m.Tokens) {
			t.TokenID = m.Tokens[i]
		}
		t.Winner = m.State == world.Resolved && m.Verdict != world.Invalid && prices[i] == world.One
		c.Tokens = append(c.Tokens, t)
	}
	for _, t := range m.Tags {
		c.Tags = append(c.Tags, t.Label)
	}
	return c
}

// token is one outcome of a market that is trading.
type token struct {
	id    string
	m     world.Market
	price world.Micros
	top   world.Top
}

// side finds a token that is trading. It answers the request itself when there is none.
func (s *Service) side(w http.ResponseWriter, id string) (t token, ok bool) {
	if !digits(id) {
		clobFail(w, http.StatusBadRequest, badToken)
		return t, false
	}
	t, ok = s.trading(id)
	if !ok {
		clobFail(w, http.StatusNotFound, noBook)
	}
	return t, ok
}

func (s *Service) trading(id string) (t token, ok bool) {
	m, ok := s.world.Find(id)
	i := slices.Index(m.Tokens, id)
	if !ok || i < 0 || m.Finished() || m.Placeholder {
		return t, false
	}
	return token{id, m, m.Prices()[i], m.Tops()[i]}, true
}

func digits(s string) bool {
	for _, c := range []byte(s) {
		if c < '0' || c > '9' {
			return false
		}
	}
	return s != "" && len(s) <= idLongest
}

func (s *Service) midpoint(w http.ResponseWriter, r *http.Request) {
	if t, ok := s.side(w, r.URL.Query().Get("token_id")); ok {
		reply.JSON(w, http.StatusOK, map[string]string{"mid": t.price.String()})
	}
}

// batch reads the tokens of a batch request that are trading; the others are left out of the
// answer. It answers the request itself when it cannot be read.
func (s *Service) batch(w http.ResponseWriter, r *http.Request) (out []token, ok bool) {
	var list []struct {
		TokenID string `json:"token_id"`
	}
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxBody)).Decode(&list); err != nil || len(list) > maxBatch {
		clobFail(w, http.StatusBadRequest, badBody)
		return nil, false
	}
	for _, item := range list {
		if t, ok := s.trading(item.TokenID); ok {
			out = append(out, t)
		}
	}
	return out, true
}

func (s *Service) midpoints(w http.ResponseWriter, r *http.Request) {
	list, ok := s.batch(w, r)
	if !ok {
		return
	}
	out := map[string]string{}
	for _, t := range list {
		out[t.id] = t.price.String()
	}
	reply.JSON(w, http.StatusOK, out)
}

func (s *Service) price(w http.ResponseWriter, r *http.Request) {
	side := r.URL.Query().Get("side")
	if side != "BUY" && side != "SELL" {
		clobFail(w, http.StatusBadRequest, "Invalid side")
		return
	}
	if t, ok := s.side(w, r.URL.Query().Get("token_id")); ok {
		price := t.top.Bid
		if side == "SELL" {
			price = t.top.Ask
		}
		reply.JSON(w, http.StatusOK, map[string]string{"price": price.String()})
	}
}

func (s *Service) lastTrade(w http.ResponseWriter, r *http.Request) {
	if t, ok := s.side(w, r.URL.Query().Get("token_id")); ok {
		reply.JSON(w, http.StatusOK, map[string]string{"price": t.top.Ask.String(), "side": "BUY"})
	}
}

func (s *Service) oneBook(w http.ResponseWriter, r *http.Request) {
	if t, ok := s.side(w, r.URL.Query().Get("token_id")); ok {
		reply.JSON(w, http.StatusOK, s.book(t))
	}
}

func (s *Service) manyBooks(w http.ResponseWriter, r *http.Request) {
	list, ok := s.batch(w, r)
	if !ok {
		return
	}
	out := make([]clobBook, len(list))
	for i, t := range list {
		out[i] = s.book(t)
	}
	reply.JSON(w, http.StatusOK, out)
}

func (s *Service) book(t token) clobBook {
	b := sides(t.id, t.top)
	return clobBook{
		Market: t.m.ConditionID, AssetID: t.id, Timestamp: strconv.FormatInt(s.world.Now().UnixMilli(), 10), Hash: b.hash,
		Bids: b.bids, Asks: b.asks, MinOrderSize: "5", TickSize: tick.String(), NegRisk: t.m.NegRisk, LastTradePrice: b.Ask.String(),
	}
}

// quoted is the book of a token.
type quoted struct {
	world.Top
	bids, asks []clobLevel // the worst price comes first
	hash       string
}

func sides(token string, top world.Top) quoted {
	b := quoted{Top: top, bids: []clobLevel{}, asks: []clobLevel{}}
	sum := sha1.Sum([]byte(token + top.Bid.String() + top.Ask.String()))
	b.hash = hex.EncodeToString(sum[:])
	step := max(b.Ask-b.Bid, tick)
	for i := range world.Micros(levels) {
		far := levels - 1 - i
		size := strconv.Itoa(100 + int(sum[i])*int(far+1))
		if price := b.Bid - far*step; b.Bid > 0 && price > 0 {
			b.bids = append(b.bids, clobLevel{price.Fixed(), size})
		}
		if price := b.Ask + far*step; b.Ask < world.One && price < world.One {
			b.asks = append(b.asks, clobLevel{price.Fixed(), size})
		}
	}
	return b
}
