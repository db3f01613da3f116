package view

import (
	"cmp"
	"context"
	"net/url"
	"slices"
	"strconv"

	"github.com/signalcast/signalcast/pkg/httpcache"
	"github.com/signalcast/signalcast/pkg/httpx"
	"github.com/signalcast/signalcast/pkg/ledgerclient"
	"github.com/signalcast/signalcast/pkg/protocol"
	"github.com/signalcast/signalcast/proto/openapi"
	wirev1 "github.com/signalcast/signalcast/proto/wire/v1"
)

// ListSituations reads the situations that match q from the ledger. A situation is a group of markets of one event whose prices
// moved. Situations without a market are left out.
func ListSituations(
	ctx context.Context, ledger wirev1.WireReadServiceClient, q MovementQuery,
) (*wirev1.ListSituationsResponse, error) {
	r, err := ledger.ListSituations(ctx, &wirev1.ListSituationsRequest{
		Window: string(q.Window), Lane: string(q.Lane), Limit: int32(q.Limit),
	})
	if err != nil {
		return nil, err
	}
	r.Situations = slices.DeleteFunc(r.GetSituations(), func(s *wirev1.Situation) bool { return len(s.GetMarkets()) == 0 })
	return r, nil
}

// ShowSituation returns the JSON model of a situation, which must have at least one market. hub is the public base URL.
func ShowSituation(hub string, window protocol.Window, sit *wirev1.Situation) openapi.Situation {
	lead := sit.GetMarkets()[0]
	show := func(m *wirev1.Move) openapi.SituationMarket {
		return openapi.SituationMarket{
			MarketID: wireID(m), Title: m.GetTitle(), Outcome: m.GetOutcome(), FromProbability: probability(m.GetFromBps()),
			ToProbability: probability(m.GetToBps()), Delta: probability(Delta(m)), Volume: m.GetVolume(),
			URL: MarketURL(hub, protocol.MarketID(m.GetMarketId())),
		}
	}
	return openapi.Situation{
		ID:       "sit:" + string(window) + ":" + sit.GetProvider() + ":" + cmp.Or(sit.GetEventKey(), lead.GetMarketId()),
		EventKey: httpx.OrNull(sit.GetEventKey()), Provider: sit.GetProvider(), Headline: sit.GetHeadline(), Lane: sit.GetLane(),
		Markets: List(sit.GetMarkets(), show), MarketCount: int64(sit.GetMarketCount()),
		LeadMarketID: wireID(lead),
		PeakDelta:    probability(Delta(lead)), Volume: sit.GetVolume(), SituationScore: int64(sit.GetScore()),
		Criticality: sit.GetCriticality(),
		DetectedAt:  ledgerclient.Stamp(sit.GetDetectedAt()), URL: situationURL(hub, sit),
	}
}

// situationURL returns the URL that redirects to the leading market of the event. A situation without an event has the URL of its
// market.
func situationURL(hub string, sit *wirev1.Situation) string {
	if sit.GetEventKey() == "" {
		return MarketURL(hub, protocol.MarketID(sit.GetMarkets()[0].GetMarketId()))
	}
	return hub + "/s/" + url.PathEscape(sit.GetEventKey())
}

// MovementQuery selects price moves or situations. Limit is the maximum number.
type MovementQuery struct {
	Window protocol.Window
	Lane   protocol.Lane // empty: every lane
	Limit  int
}

// Key implements Query.
func (q MovementQuery) Key() string {
	return httpcache.JoinKey(string(q.Window), string(q.Lane), strconv.Itoa(q.Limit))
}

// ShowMove returns the JSON model of a price move. hub is the public base URL.
func ShowMove(hub string, window protocol.Window, m *wirev1.Move) openapi.Move {
	return openapi.Move{
		ID: "wire:" + string(window) + ":" + wireID(m), MarketID: wireID(m), Provider: m.GetProvider(), Title: m.GetTitle(),
		Outcome: m.GetOutcome(), Lane: m.GetLane(), EventKey: httpx.OrNull(m.GetEventKey()),
		FromProbability: probability(m.GetFromBps()), ToProbability: probability(m.GetToBps()), Delta: probability(Delta(m)),
		Volume: m.GetVolume(), Volume24H: m.Volume24H, Direction: direction(m), Signals: m.GetSignals(),
		URL: MarketURL(hub, protocol.MarketID(m.GetMarketId())), DetectedAt: ledgerclient.Stamp(m.GetDetectedAt()),
	}
}

func wireID(m *wirev1.Move) string { return m.GetProvider() + ":" + m.GetMarketId() }

// Delta returns the change of the price of YES in bps; negative for a fall.
func Delta(m *wirev1.Move) int32 { return m.GetToBps() - m.GetFromBps() }

// probability converts a price in bps to a number from 0 to 1. It also converts a difference of prices, which may be negative.
func probability(bps int32) float64 { return float64(bps) / float64(protocol.MaxBps) }

func direction(m *wirev1.Move) string {
	if Delta(m) < 0 {
		return "down"
	}
	return "up"
}
