package manifold

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/signalcast/signalcast/deploy/venuesim/internal/socket"
	"github.com/signalcast/signalcast/deploy/venuesim/internal/world"
)

const mostTopics = 1000

// said is a message of a client.
type said struct {
	Type   string   `json:"type"`
	TxID   int64    `json:"txid"`
	Topics []string `json:"topics"`
}

type ack struct {
	Type    string `json:"type"`
	TxID    int64  `json:"txid"`
	Success bool   `json:"success"`
}

type broadcast struct {
	Type  string `json:"type"`
	Topic string `json:"topic"`
	Data  struct {
		Bets []bet `json:"bets"`
	} `json:"data"`
}

// stream is one connection. Of all topics only those of new bets are ever heard of.
type stream struct {
	*Service
	topics map[string]bool
	prices map[int64]told // by market
}

// told is the price that was told last, and since when it held.
type told struct {
	price world.Micros
	at    int64
}

// Stream makes the session of a new connection.
func (s *Service) Stream() socket.Session {
	return &stream{Service: s, topics: map[string]bool{}, prices: map[int64]told{}}
}

// Follows implements socket.Session.
func (st *stream) Follows() []int64 { return slices.Collect(maps.Keys(st.prices)) }

// Take implements socket.Session: each message is acknowledged.
func (st *stream) Take(message []byte) []any {
	var in said
	if json.Unmarshal(message, &in) != nil {
		return []any{ack{Type: "ack"}}
	}
	ok := in.Type == "ping" || in.Type == "identify"
	if in.Type == "subscribe" || in.Type == "unsubscribe" {
		ok = len(st.topics)+len(in.Topics) <= mostTopics
		for _, topic := range in.Topics {
			if in.Type == "unsubscribe" {
				ok = true
				delete(st.topics, topic)
			} else if ok {
				st.topics[topic] = true
			}
		}
		st.take()
	}
	return []any{ack{"ack", in.TxID, ok}}
}

// newBets gives the contract of a topic.
func newBets(topic string) (key string, ok bool) {
	key, ok = strings.CutPrefix(topic, "contract/")
	if !ok {
		return "", false
	}
	return strings.CutSuffix(key, "/new-bet")
}

// take notes which markets the topics are about.
func (st *stream) take() {
	prices := map[int64]told{}
	for topic := range st.topics {
		key, ok := newBets(topic)
		if !ok {
			continue
		}
		m, ok := st.Find(key)
		if !ok || kind(&m) != kindBinary {
			continue
		}
		prices[m.ID] = cmp.Or(st.prices[m.ID], told{m.Price, st.world.Now().Unix()})
	}
	st.prices = prices
}

// Beat implements socket.Session: a price that moved is a bet.
func (st *stream) Beat() (out []any) {
	for _, id := range slices.Sorted(maps.Keys(st.prices)) {
		m, ok := st.world.Get(id)
		was := st.prices[id]
		if !ok || !open(&m, st.world.Now()) || m.Price == was.price {
			continue
		}
		now := st.world.Now().Unix()
		b := broadcast{Type: "broadcast", Topic: "contract/" + st.Key(&m) + "/new-bet"}
		m.Moves = append(slices.Clone(m.Moves), now) // a trade, whatever the dice say
		made := st.bet(&m, was.at, now)
		made.ProbBefore, made.ProbAfter = was.price.Float(), m.Price.Float()
		b.Data.Bets = []bet{made}
		out = append(out, b)
		st.prices[id] = told{m.Price, now}
	}
	return out
}
