package edge

import (
	"context"

	"github.com/labstack/echo/v4"

	"github.com/signalcast/signalcast/pkg/page"
	"github.com/signalcast/signalcast/pkg/syntax"
	"github.com/signalcast/signalcast/pkg/web"
	"github.com/signalcast/signalcast/proto/openapi"
	"github.com/signalcast/signalcast/services/hub/internal/wire"
)

var wireParams = params("window", "lane", "limit")

func readMoves(rawQuery string) wire.Query {
	return readWire(rawQuery, wire.DefaultMoves, wire.MaxMoves)
}

func readWire(rawQuery string, def, most int) wire.Query {
	v := page.Query(rawQuery, wireParams)
	return wire.Query{Window: syntax.ParseWindow(v[0]), Lane: syntax.LaneFilter(v[1]), Limit: syntax.Limit(v[2], def, most)}
}

func wireKey(q wire.Query) string { return joinKey(string(q.Window), string(q.Lane), keyOf(q.Limit)) }

// wireMoves is GET /api/wire. A ledger that is away is covered by a copy of the
// last ten minutes, and then nothing has moved.
func (s *server) wireMoves(c echo.Context) error {
	q := readMoves(c.Request().URL.RawQuery)
	key := wireKey(q)
	build := func(ctx context.Context) ([]byte, error) {
		m, err := s.Wire.Moves(ctx, q)
		if err != nil {
			return nil, err
		}
		body, err := web.Marshal(s.showWire(q, m))
		if err != nil {
			return nil, err
		}
		return body, s.moves.keep(ctx, key, body)
	}
	return s.covered(c, s.moves, key, build, func() any { return s.showWire(q, wire.Moves{GeneratedAt: s.Now()}) })
}

func (s *server) showWire(q wire.Query, m wire.Moves) openapi.Wire {
	out := openapi.Wire{
		Window: string(q.Window), Lane: orNull(string(q.Lane)), Count: int64(len(m.Moves)),
		GeneratedAt: syntax.Stamp(m.GeneratedAt), Items: make([]openapi.Move, 0, len(m.Moves)),
	}
	for i := range m.Moves {
		out.Items = append(out.Items, s.showMove(q.Window, &m.Moves[i]))
	}
	return out
}

func (s *server) showMove(window syntax.Window, m *wire.Move) openapi.Move {
	return openapi.Move{
		ID: "wire:" + string(window) + ":" + wireID(m), MarketID: wireID(m), Provider: string(m.Provider), Title: m.Title,
		Outcome: m.Outcome, Lane: string(m.Lane), EventKey: orNull(m.EventKey),
		FromProbability: probability(m.From), ToProbability: probability(m.To), Delta: probability(m.Delta()),
		Volume: m.Volume, Volume24H: m.Volume24h, Direction: direction(m), Signals: m.Signals,
		URL: s.marketURL(m.MarketID), DetectedAt: syntax.Stamp(m.DetectedAt),
	}
}

func wireID(m *wire.Move) string { return string(m.Provider) + ":" + string(m.MarketID) }

// probability is a price in bps, or a difference of two, as a number to 1.
func probability(bps int32) float64 { return float64(bps) / float64(syntax.MaxBps) }

func direction(m *wire.Move) string {
	if m.Delta() < 0 {
		return "down"
	}
	return "up"
}

func (s *server) marketURL(id syntax.MarketID) string { return s.HubURL + "/m/" + string(id) }
