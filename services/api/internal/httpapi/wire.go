package httpapi

import (
	"github.com/signalcast/signalcast/pkg/httpx"
	"github.com/signalcast/signalcast/pkg/protocol"
	"github.com/signalcast/signalcast/proto/openapi"
	"github.com/signalcast/signalcast/services/api/internal/feed"
	"github.com/signalcast/signalcast/services/api/internal/movement"
)

const (
	// wireWindow is the time span of the market moves that are published on channel wire.
	wireWindow = protocol.Window24h
	// wireItems is the maximum number of moves in the snapshot of channel wire.
	wireItems = 20
)

func showMove(hubURL string, m *movement.Move) openapi.Move {
	id, direction := string(m.Market.Provider)+":"+string(m.Market.ID), "up"
	if m.Delta() < 0 {
		direction = "down"
	}
	return openapi.Move{
		ID: "wire:" + string(wireWindow) + ":" + id, MarketID: id, Provider: string(m.Market.Provider), Title: m.Market.Title,
		Outcome: m.Market.Outcome, Lane: string(m.Market.Lane), EventKey: httpx.OrNull(m.Market.EventKey),
		FromProbability: probability(int(m.From)), ToProbability: probability(int(m.To)), Delta: probability(m.Delta()),
		Volume: *m.Market.Volume, Volume24H: m.Market.Volume24h, Direction: direction, Signals: m.Market.Signals,
		URL: hubURL + "/m/" + string(m.Market.ID), DetectedAt: protocol.Stamp(m.DetectedAt),
	}
}

// probability converts a price in bps to a number from 0 to 1, and a difference of two prices to a number from -1 to 1.
func probability(bps int) float64 { return float64(bps) / float64(protocol.MaxBps) }

// MoveEvents compares the moves in before and in after, the previous and the current ones. It returns an event for each
// current move that is new or has another size than before. Every process computes the moves itself, so the events are only
// for its own readers.
func (s *Server) MoveEvents(before, after []movement.Move) []feed.Ephemeral {
	known := make(map[protocol.MarketID]int, len(before))
	for i := range before {
		known[before[i].Market.ID] = before[i].Delta()
	}
	var out []feed.Ephemeral
	for i := range after {
		m := &after[i]
		if delta, was := known[m.Market.ID]; was && delta == m.Delta() {
			continue
		}
		out = append(out, feed.Ephemeral{
			Channel: feed.Wire, Type: feed.WireMove, Subject: string(m.Market.ID), At: s.Now(),
			Data: encode(showMove(s.HubURL, m)),
		})
	}
	return out
}
