package app

import (
	"context"
	"errors"
	"maps"
	"slices"

	"github.com/signalcast/signalcast/pkg/idp"
	"github.com/signalcast/signalcast/pkg/link"
	"github.com/signalcast/signalcast/pkg/syntax"
	boardv1 "github.com/signalcast/signalcast/proto/board/v1"
	cataloguev1 "github.com/signalcast/signalcast/proto/catalogue/v1"
	digestv1 "github.com/signalcast/signalcast/proto/digest/v1"
	exportv1 "github.com/signalcast/signalcast/proto/export/v1"
	feedv1 "github.com/signalcast/signalcast/proto/feed/v1"
	marketv1 "github.com/signalcast/signalcast/proto/market/v1"
	moderationv1 "github.com/signalcast/signalcast/proto/moderation/v1"
	operatorv1 "github.com/signalcast/signalcast/proto/operator/v1"
	recordv1 "github.com/signalcast/signalcast/proto/record/v1"
	resolutionv1 "github.com/signalcast/signalcast/proto/resolution/v1"
	signalv1 "github.com/signalcast/signalcast/proto/signal/v1"
	stationv1 "github.com/signalcast/signalcast/proto/station/v1"
	wirev1 "github.com/signalcast/signalcast/proto/wire/v1"
	"github.com/signalcast/signalcast/services/api/internal/edge"
	"github.com/signalcast/signalcast/services/api/internal/export"
	"github.com/signalcast/signalcast/services/api/internal/feed"
	"github.com/signalcast/signalcast/services/api/internal/market"
	"github.com/signalcast/signalcast/services/api/internal/operator"
	"github.com/signalcast/signalcast/services/api/internal/oracle/categorise"
	"github.com/signalcast/signalcast/services/api/internal/postgres"
	"github.com/signalcast/signalcast/services/api/internal/relay"
	"github.com/signalcast/signalcast/services/api/internal/rpc"
	"github.com/signalcast/signalcast/services/api/internal/venue"
	"github.com/signalcast/signalcast/services/api/internal/venue/kalshi"
	"github.com/signalcast/signalcast/services/api/internal/venue/limitless"
	"github.com/signalcast/signalcast/services/api/internal/venue/manifold"
	"github.com/signalcast/signalcast/services/api/internal/venue/polymarket"
)

// venues are the venues that are connected: the primary one, and each of the
// others that has an address. Each has a client of its own, with its own rate and
// breaker.
func (a *App) venues(meter *venue.Meter) (market.Venues, error) {
	rate := a.cfg.VenueRPS
	primary, err := polymarket.New(polymarket.Config{
		GammaURL: a.cfg.GammaURL, ClobURL: a.cfg.ClobURL, RequestsPerSecond: rate, PastEndIsProvisional: a.cfg.PastEnd,
	}, meter, a.now)
	if err != nil {
		return nil, err
	}
	a.primary = primary
	list := market.Venues{syntax.Polymarket: venue.Port(primary)}
	if a.cfg.Kalshi != "" {
		v, err := kalshi.New(kalshi.Config{URL: a.cfg.Kalshi, RequestsPerSecond: rate}, meter, a.now)
		if err != nil {
			return nil, err
		}
		list[syntax.Kalshi] = venue.Port(v)
	}
	if a.cfg.Limitless != "" {
		v, err := limitless.New(limitless.Config{URL: a.cfg.Limitless, RequestsPerSecond: rate}, meter, a.now)
		if err != nil {
			return nil, err
		}
		list[syntax.Limitless] = venue.Port(v)
	}
	if a.cfg.Manifold != "" {
		v, err := manifold.New(manifold.Config{URL: a.cfg.Manifold, RequestsPerSecond: rate, Wait: a.cfg.Undo}, meter, a.now)
		if err != nil {
			return nil, err
		}
		list[syntax.Manifold] = venue.Port(v)
	}
	return list, nil
}

// follow has the catalogue keep the primary venue's live prices, where it has an
// address of them.
func (a *App) follow(meter *venue.Meter) error {
	if a.cfg.StreamURL == "" {
		return nil
	}
	stream, err := polymarket.NewStream(a.cfg.StreamURL, meter, a.now, a.log)
	if err != nil {
		return err
	}
	a.catalogue.Follow(syntax.Polymarket, stream)
	return nil
}

func providers(v market.Venues) []syntax.Provider {
	return slices.Sorted(maps.Keys(v))
}

func classify() market.Classify {
	return market.Classify{
		Lane:     func(title string, tags []string) syntax.Lane { return categorise.Classify(title, tags).Lane },
		Category: categorise.Category,
	}
}

// hear takes news to the readers of this process.
func (a *App) hear(e feed.Ephemeral) {
	a.hub.Publish(e)
	if e.Type == feed.KeyRevoked {
		a.edge.Revoked(e.Channel.Owner())
	}
}

// serveCalls builds the inner face.
func (a *App) serveCalls() (*link.Part, error) {
	server, err := link.NewServer(link.ServerConfig{Secret: a.cfg.Link.Reveal(), Log: a.log, Options: a.tracing.ServerOptions()})
	if err != nil {
		return nil, err
	}
	operators, signals := rpc.NewOperators(a.operators, a.news, a.now), rpc.NewSignals(a.signals, server.Enclose)
	markets := rpc.NewMarkets(a.markets, a.markets)
	markets.Watch(func(id string) int { return a.ticker.Counted(id) })
	resolutions := rpc.NewResolutions(a.resolves, a.scanner, a.markets)
	operatorv1.RegisterOperatorServiceServer(server, operators)
	operatorv1.RegisterOperatorReadServiceServer(server, operators)
	signalv1.RegisterSignalServiceServer(server, signals)
	signalv1.RegisterSignalReadServiceServer(server, signals)
	marketv1.RegisterMarketServiceServer(server, markets)
	marketv1.RegisterMarketReadServiceServer(server, markets)
	cataloguev1.RegisterCatalogueReadServiceServer(server, rpc.NewCatalogue(a.search, a.oracle, a.histories, a.markets))
	resolutionv1.RegisterResolutionServiceServer(server, resolutions)
	resolutionv1.RegisterResolutionReadServiceServer(server, resolutions)
	stations := rpc.NewStations(a.stations)
	stationv1.RegisterStationServiceServer(server, stations)
	stationv1.RegisterStationReadServiceServer(server, stations)
	boardv1.RegisterBoardReadServiceServer(server, rpc.NewBoards(a.boards, a.now))
	recordv1.RegisterRecordServiceServer(server, rpc.NewRecords(a.records, a.boards, a.now))
	wirev1.RegisterWireReadServiceServer(server, rpc.NewWire(a.oracle))
	digestv1.RegisterDigestReadServiceServer(server, rpc.NewDigests(a.store))
	feedv1.RegisterFeedServiceServer(server, rpc.NewFeed(a.store, a.news))
	feedv1.RegisterFeedReadServiceServer(server, rpc.NewFeedReads(a.store))
	moderationv1.RegisterModerationServiceServer(server, rpc.NewModeration(a.store, a.now))
	exportv1.RegisterExportServiceServer(server, rpc.NewExports(export.NewService(a.store, a.now), a.store))
	return server.At(a.cfg.GRPC), nil
}

// viewers gives the ticker the words of attention.
func (a *App) viewers(ctx context.Context) map[syntax.MarketID]int64 {
	out := make(map[syntax.MarketID]int64)
	for id, n := range a.ticker.Everyone(ctx) {
		out[syntax.MarketID(id)] = int64(n)
	}
	return out
}

// logins gives the verifier the words of the edge.
type logins struct{ verifier *idp.Verifier }

// Verify implements edge.Logins.
func (l logins) Verify(ctx context.Context, raw string) (operator.Identity, error) {
	s, err := l.verifier.Verify(ctx, raw)
	return operator.Identity{Issuer: s.Issuer, Subject: s.Subject, Primary: s.Primary, Username: s.Username, Name: s.Name}, err
}

// snapshots gives the market service and the store the words of the edge.
type snapshots struct {
	markets *market.Service
	*postgres.Store
	ticker *relay.Ticker
}

// MarketSnapshot implements edge.Snapshots.
func (s snapshots) MarketSnapshot(ctx context.Context, marketID string) (edge.MarketSnapshot, error) {
	id, err := syntax.ParseMarketID(marketID)
	if err != nil {
		return edge.MarketSnapshot{Status: string(syntax.MarketUnknown)}, nil
	}
	m, err := s.markets.Get(ctx, id)
	if errors.Is(err, market.ErrNotFound) || errors.Is(err, market.ErrUnavailable) {
		return edge.MarketSnapshot{Status: string(syntax.MarketUnknown)}, nil
	}
	if err != nil {
		return edge.MarketSnapshot{}, err
	}
	out := edge.MarketSnapshot{Status: string(m.Status), Yes: m.YesCount, No: m.NoCount, Viewers: int64(s.ticker.Viewers(ctx, marketID))}
	if m.Yes != nil {
		yes := int(*m.Yes)
		out.YesBps = &yes
	}
	return out, nil
}
