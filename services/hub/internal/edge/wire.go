package edge

import (
	"context"

	"github.com/labstack/echo/v4"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/signalcast/signalcast/pkg/page"
	"github.com/signalcast/signalcast/pkg/syntax"
	"github.com/signalcast/signalcast/pkg/web"
	"github.com/signalcast/signalcast/proto/openapi"
	wirev1 "github.com/signalcast/signalcast/proto/wire/v1"
)

var wireParams = params("window", "lane", "limit")

// Sizes of the lists of moves and situations.
const (
	defaultMoves      = 50
	maxMoves          = 200
	defaultSituations = 30
	maxSituations     = 100
)

// wireQuery selects moves or situations.
type wireQuery struct {
	window syntax.Window
	lane   syntax.Lane // empty: every lane
	limit  int
}

func readMoves(rawQuery string) wireQuery { return readWire(rawQuery, defaultMoves, maxMoves) }

func readWire(rawQuery string, def, most int) wireQuery {
	v := page.Query(rawQuery, wireParams)
	return wireQuery{syntax.ParseWindow(v[0]), syntax.LaneFilter(v[1]), syntax.Limit(v[2], def, most)}
}

func wireKey(q wireQuery) string { return joinKey(string(q.window), string(q.lane), keyOf(q.limit)) }

// wireMoves is GET /api/wire. A ledger that is away is covered by a copy of the
// last ten minutes, and then nothing has moved.
func (s *server) wireMoves(c echo.Context) error {
	q := readMoves(c.Request().URL.RawQuery)
	key := wireKey(q)
	build := func(ctx context.Context) ([]byte, error) {
		m, err := s.Ledger.Wire.ListMoves(ctx, &wirev1.ListMovesRequest{
			Window: string(q.window), Lane: string(q.lane), Limit: int32(q.limit),
		})
		if err != nil {
			return nil, err
		}
		body, err := web.Marshal(s.showWire(q, m))
		if err != nil {
			return nil, err
		}
		return body, s.moves.keep(ctx, key, body)
	}
	return s.covered(c, s.moves, key, build, func() any { return s.showWire(q, &wirev1.ListMovesResponse{GeneratedAt: timestamppb.New(s.Now())}) })
}

func (s *server) showWire(q wireQuery, m *wirev1.ListMovesResponse) openapi.Wire {
	out := openapi.Wire{
		Window: string(q.window), Lane: orNull(string(q.lane)), Count: int64(len(m.GetMoves())),
		GeneratedAt: stamp(m.GetGeneratedAt()), Items: make([]openapi.Move, 0, len(m.GetMoves())),
	}
	for _, move := range m.GetMoves() {
		out.Items = append(out.Items, s.showMove(q.window, move))
	}
	return out
}

func (s *server) showMove(window syntax.Window, m *wirev1.Move) openapi.Move {
	return openapi.Move{
		ID: "wire:" + string(window) + ":" + wireID(m), MarketID: wireID(m), Provider: m.GetProvider(), Title: m.GetTitle(),
		Outcome: m.GetOutcome(), Lane: m.GetLane(), EventKey: orNull(m.GetEventKey()),
		FromProbability: probability(m.GetFromBps()), ToProbability: probability(m.GetToBps()), Delta: probability(delta(m)),
		Volume: m.GetVolume(), Volume24H: m.Volume24H, Direction: direction(m), Signals: m.GetSignals(),
		URL: s.marketURL(syntax.MarketID(m.GetMarketId())), DetectedAt: stamp(m.GetDetectedAt()),
	}
}

func wireID(m *wirev1.Move) string { return m.GetProvider() + ":" + m.GetMarketId() }

// delta returns the change of the price of YES in bps; negative for a fall.
func delta(m *wirev1.Move) int32 { return m.GetToBps() - m.GetFromBps() }

// probability is a price in bps, or a difference of two, as a number to 1.
func probability(bps int32) float64 { return float64(bps) / float64(syntax.MaxBps) }

func direction(m *wirev1.Move) string {
	if delta(m) < 0 {
		return "down"
	}
	return "up"
}

func (s *server) marketURL(id syntax.MarketID) string { return s.HubURL + "/m/" + string(id) }
