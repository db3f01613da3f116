package reads

import (
	"context"

	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/signalcast/signalcast/pkg/httpcache"
	"github.com/signalcast/signalcast/pkg/httpx"
	"github.com/signalcast/signalcast/pkg/ledgerclient"
	"github.com/signalcast/signalcast/pkg/protocol"
	"github.com/signalcast/signalcast/proto/openapi"
	wirev1 "github.com/signalcast/signalcast/proto/wire/v1"
	"github.com/signalcast/signalcast/services/hub/internal/httpapi/view"
)

var wireParams = httpcache.Params("window", "lane", "limit")

// Default and maximum lengths of the lists of price moves and situations.
const (
	defaultMoves      = 50
	maxMoves          = 200
	defaultSituations = 30
	maxSituations     = 100
)

func readMoves(rawQuery string) view.MovementQuery { return readWire(rawQuery, defaultMoves, maxMoves) }

func readSituations(rawQuery string) view.MovementQuery {
	return readWire(rawQuery, defaultSituations, maxSituations)
}

func readWire(rawQuery string, def, most int) view.MovementQuery {
	v := httpcache.Query(rawQuery, wireParams)
	return view.MovementQuery{
		Window: protocol.ParseWindow(v[0]), Lane: protocol.LaneFilter(v[1]), Limit: protocol.Limit(v[2], def, most),
	}
}

// WireMoves handles GET /api/wire, the list of price moves. While the ledger is unavailable, the response is a stored copy that
// is at most ten minutes old, or an empty list.
func (s *Server) WireMoves() view.Read[view.MovementQuery] {
	return view.Read[view.MovementQuery]{
		Pages: s.movePages, Parse: readMoves,
		Build: func(ctx context.Context, q view.MovementQuery) (view.Answer, error) {
			m, err := s.Ledger.Wire.ListMoves(ctx, &wirev1.ListMovesRequest{
				Window: string(q.Window), Lane: string(q.Lane), Limit: int32(q.Limit),
			})
			return view.Answer{Value: s.showWire(q, m)}, err
		},
		Empty: func(q view.MovementQuery) any {
			return s.showWire(q, &wirev1.ListMovesResponse{GeneratedAt: timestamppb.New(s.Now())})
		},
	}
}

func (s *Server) showWire(q view.MovementQuery, m *wirev1.ListMovesResponse) openapi.Wire {
	show := func(move *wirev1.Move) openapi.Move { return view.ShowMove(s.HubURL, q.Window, move) }
	return openapi.Wire{
		Window: string(q.Window), Lane: httpx.OrNull(string(q.Lane)), Count: int64(len(m.GetMoves())),
		GeneratedAt: ledgerclient.Stamp(m.GetGeneratedAt()), Items: view.List(m.GetMoves(), show),
	}
}

// WireSituations handles GET /api/situations, the groups of markets whose prices moved. All markets of a group belong to one
// event. While the ledger is unavailable, the response is a stored copy that is at most ten minutes old, or an empty list.
func (s *Server) WireSituations() view.Read[view.MovementQuery] {
	return view.Read[view.MovementQuery]{
		Pages: s.situationPages, Parse: readSituations,
		Build: func(ctx context.Context, q view.MovementQuery) (view.Answer, error) {
			list, err := view.ListSituations(ctx, s.Ledger.Wire, q)
			return view.Answer{Value: s.showSituations(q, list)}, err
		},
		Empty: func(q view.MovementQuery) any {
			return s.showSituations(q, &wirev1.ListSituationsResponse{GeneratedAt: timestamppb.New(s.Now())})
		},
	}
}

func (s *Server) showSituations(q view.MovementQuery, list *wirev1.ListSituationsResponse) openapi.Situations {
	show := func(sit *wirev1.Situation) openapi.Situation { return view.ShowSituation(s.HubURL, q.Window, sit) }
	return openapi.Situations{
		Window: string(q.Window), Lane: httpx.OrNull(string(q.Lane)), Count: int64(len(list.GetSituations())),
		GeneratedAt: ledgerclient.Stamp(list.GetGeneratedAt()), Situations: view.List(list.GetSituations(), show),
	}
}
