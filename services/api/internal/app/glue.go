package app

import (
	"context"
	"errors"
	"maps"
	"slices"

	"github.com/signalcast/signalcast/pkg/grpcx"
	"github.com/signalcast/signalcast/pkg/oidc"
	"github.com/signalcast/signalcast/pkg/protocol"
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
	"github.com/signalcast/signalcast/services/api/internal/attention/categorise"
	"github.com/signalcast/signalcast/services/api/internal/export"
	"github.com/signalcast/signalcast/services/api/internal/feed"
	"github.com/signalcast/signalcast/services/api/internal/grpcapi"
	"github.com/signalcast/signalcast/services/api/internal/market"
	"github.com/signalcast/signalcast/services/api/internal/operator"
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
	var failed error
	client := func(p protocol.Provider, url string) *venue.Client {
		c, err := venue.NewClient(p, url, a.cfg.VenueRPS, meter, a.now)
		failed = errors.Join(failed, err)
		return c
	}
	a.primary = polymarket.New(client(protocol.Polymarket, a.cfg.GammaURL), client(protocol.Polymarket, a.cfg.ClobURL), a.cfg.PastEnd)
	list := market.Venues{protocol.Polymarket: a.primary}
	if a.cfg.Kalshi != "" {
		list[protocol.Kalshi] = kalshi.New(client(protocol.Kalshi, a.cfg.Kalshi))
	}
	if a.cfg.Limitless != "" {
		list[protocol.Limitless] = limitless.New(client(protocol.Limitless, a.cfg.Limitless))
	}
	if a.cfg.Manifold != "" {
		list[protocol.Manifold] = manifold.New(client(protocol.Manifold, a.cfg.Manifold), a.cfg.Undo)
	}
	return list, failed
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
	a.catalogue.Follow(protocol.Polymarket, stream)
	return nil
}

func providers(v market.Venues) []protocol.Provider {
	return slices.Sorted(maps.Keys(v))
}

func classify() market.Classify {
	return market.Classify{
		Lane:     func(title string, tags []string) protocol.Lane { return categorise.Classify(title, tags).Lane },
		Category: categorise.Category,
	}
}

// hear takes news to the readers of this process.
func (a *App) hear(e feed.Ephemeral) {
	a.broker.Publish(e)
	if e.Type == feed.KeyRevoked {
		a.edge.Revoked(e.Channel.Owner())
	}
}

// serveCalls builds the inner face.
func (a *App) serveCalls() (*grpcx.Part, error) {
	server, err := grpcx.NewServer(grpcx.ServerConfig{Secret: a.cfg.Link.Reveal(), Log: a.log, Options: a.tracing.ServerOptions()})
	if err != nil {
		return nil, err
	}
	a.Register(server)
	return server.At(a.cfg.GRPC), nil
}

// Register adds the gRPC services of the ledger to a server.
func (a *App) Register(server *grpcx.Server) {
	operators := &grpcapi.Operators{Service: a.operators, News: a.news.Publish, Now: a.now}
	signals := &grpcapi.Signals{Service: a.signals, Enclose: server.Enclose}
	markets := &grpcapi.Markets{Service: a.markets, Counted: a.ticker.Counted}
	resolutions := &grpcapi.Resolutions{Service: a.resolves, Scanner: a.scanner, Markets: a.markets}
	operatorv1.RegisterOperatorServiceServer(server, operators)
	operatorv1.RegisterOperatorReadServiceServer(server, operators)
	signalv1.RegisterSignalServiceServer(server, signals)
	signalv1.RegisterSignalReadServiceServer(server, signals)
	marketv1.RegisterMarketServiceServer(server, markets)
	marketv1.RegisterMarketReadServiceServer(server, markets)
	cataloguev1.RegisterCatalogueReadServiceServer(server, &grpcapi.Catalogue{
		Search: a.search, Oracle: a.oracle, Histories: a.histories, Markets: a.markets,
	})
	resolutionv1.RegisterResolutionServiceServer(server, resolutions)
	resolutionv1.RegisterResolutionReadServiceServer(server, resolutions)
	stations := &grpcapi.Stations{Service: a.stations}
	stationv1.RegisterStationServiceServer(server, stations)
	stationv1.RegisterStationReadServiceServer(server, stations)
	boardv1.RegisterBoardReadServiceServer(server, &grpcapi.Boards{Service: a.boards, Now: a.now})
	recordv1.RegisterRecordServiceServer(server, &grpcapi.Records{Service: a.records, Boards: a.boards, Now: a.now})
	wirev1.RegisterWireReadServiceServer(server, &grpcapi.Wire{Oracle: a.oracle})
	digestv1.RegisterDigestReadServiceServer(server, &grpcapi.Digests{Store: a.store})
	events := &grpcapi.Feed{Store: a.store, News: a.news.Publish}
	feedv1.RegisterFeedServiceServer(server, events)
	feedv1.RegisterFeedReadServiceServer(server, events)
	moderationv1.RegisterModerationServiceServer(server, &grpcapi.Moderation{Store: a.store, Now: a.now})
	exportv1.RegisterExportServiceServer(server, &grpcapi.Exports{Service: export.NewService(a.store, a.now)})
}

// login returns the function that verifies tokens of identity providers for the public server.
func login(v *oidc.Verifier) func(context.Context, string) (operator.Identity, error) {
	return func(ctx context.Context, raw string) (operator.Identity, error) {
		s, err := v.Verify(ctx, raw)
		return operator.Identity{Issuer: s.Issuer, Subject: s.Subject, Primary: s.Primary, Username: s.Username, Name: s.Name}, err
	}
}
