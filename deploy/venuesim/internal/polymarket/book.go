package polymarket

import (
	"crypto/sha1"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/signalcast/signalcast/deploy/venuesim/internal/venue"
	"github.com/signalcast/signalcast/deploy/venuesim/internal/world"
)

const (
	maxTokens   = 500 // maximum number of tokens in one request
	mostBody    = 256 << 10
	tick        = world.Price(1_000)
	levels      = 3 // number of price levels on each side of a book
	tokenDigits = 80
)

// level is a price level of an order book: a price and the size of its orders.
type level struct {
	Price string `json:"price"`
	Size  string `json:"size"`
}

// book is the order book of one token.
type book struct {
	world.Top
	token, hash string
	bids, asks  []level // worst price first
}

func newBook(token string, top world.Top) *book {
	b := &book{Top: top, token: token, bids: []level{}, asks: []level{}}
	sum := sha1.Sum([]byte(token + top.Bid.String() + top.Ask.String()))
	b.hash = hex.EncodeToString(sum[:])
	step := max(b.Ask-b.Bid, tick)
	for far := world.Price(levels - 1); far >= 0; far-- {
		size := strconv.Itoa(100 + int(sum[far])*int(far+1))
		if p := b.Bid - far*step; p > 0 {
			b.bids = append(b.bids, level{p.Decimals(2), size})
		}
		if p := b.Ask + far*step; p < world.One {
			b.asks = append(b.asks, level{p.Decimals(2), size})
		}
	}
	return b
}

// trading returns the market and the order book of a token. ok is false if the token is unknown or its market no longer trades.
func (s *Service) trading(token string) (m world.Market, b *book, ok bool) {
	m, ok = s.world.Find(token)
	i := slices.Index(m.Tokens, token)
	if !ok || i < 0 || m.Finished() {
		return m, nil, false
	}
	return m, newBook(token, m.Tops()[i]), true
}

func (s *Service) stamp() string { return strconv.FormatInt(s.world.Now().UnixMilli(), 10) }

func (s *Service) bookObject(m *world.Market, b *book) venue.Object {
	return venue.Object{
		"market": m.ConditionID, "asset_id": b.token, "timestamp": s.stamp(), "hash": b.hash, "bids": b.bids, "asks": b.asks,
		"min_order_size": "5", "tick_size": tick.String(), "neg_risk": m.Event.Exclusive, "last_trade_price": b.Ask.String(),
	}
}

func (s *Service) oneBook(w http.ResponseWriter, r *http.Request) {
	token := r.URL.Query().Get("token_id")
	m, b, ok := s.trading(token)
	switch {
	case token == "" || len(token) > tokenDigits || strings.Trim(token, "0123456789") != "":
		clobError(w, http.StatusBadRequest, "Invalid token id")
	case !ok:
		clobError(w, http.StatusNotFound, "No orderbook exists for the requested token id")
	default:
		venue.Answer(w, http.StatusOK, s.bookObject(&m, b))
	}
}

// manyBooks responds with the order books of several tokens, at most maxTokens. It omits tokens without an order book.
func (s *Service) manyBooks(w http.ResponseWriter, r *http.Request) {
	var list []struct {
		TokenID string `json:"token_id"`
	}
	if json.NewDecoder(http.MaxBytesReader(w, r.Body, mostBody)).Decode(&list) != nil || len(list) > maxTokens {
		clobError(w, http.StatusBadRequest, "Invalid payload")
		return
	}
	out := []venue.Object{}
	for _, item := range list {
		if m, b, ok := s.trading(item.TokenID); ok {
			out = append(out, s.bookObject(&m, b))
		}
	}
	venue.Answer(w, http.StatusOK, out)
}
