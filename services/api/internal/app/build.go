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
	"github.com/signalcast/signalcast/services/api/internal/relay"
	"github.com/signalcast/signalcast/services/api/internal/venue"
	"github.com/signalcast/signalcast/services/api/internal/venue/kalshi"
	"github.com/signalcast/signalcast/services/api/internal/venue/limitless"
	"github.com/signalcast/signalcast/services/api/internal/venue/manifold"
	"github.com/signalcast/signalcast/services/api/internal/venue/polymarket"
)

// venues returns the adapters of the configured venues: Polymarket, which is the primary venue, and each other venue with a URL
// in the settings. Each adapter has its own clients, so rate limits and circuit breakers are separate.
func (a *App) venues(meter *venue.Meter) (market.Venues, error) {
	var failed error
	client := func(p protocol.Provider, url string) *venue.Client {
		c, err := venue.NewClient(p, url, a.cfg.VenueRPS, meter, a.now)
		failed = errors.Join(failed, err)
		return c
	}
	a.primary = polymarket.New(client(protocol.Polymarket, a.cfg.GammaURL), client(protocol.Polymarket, a.cfg.ClobURL), a.cfg.PastEnd)
	list := market.Venues{protocol.Polymarket: a.primary}
	if a.cfg.KalshiURL != "" {
		list[protocol.Kalshi] = kalshi.New(client(protocol.Kalshi, a.cfg.KalshiURL))
	}
	if a.cfg.LimitlessURL != "" {
		list[protocol.Limitless] = limitless.New(client(protocol.Limitless, a.cfg.LimitlessURL))
	}
	if a.cfg.ManifoldURL != "" {
		list[protocol.Manifold] = manifold.New(client(protocol.Manifold, a.cfg.ManifoldURL), a.cfg.ManifoldWait)
	}
	return list, failed
}

// followPrices subscribes the catalogue to the price stream of the primary venue if POLYMARKET_WS_URL is set.
func (a *App) followPrices(meter *venue.Meter) error {
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

// publishNews sends an event without a sequence number to the readers of this process. For the event key.revoked, it also
// closes the connections that use the revoked key. It passes changes of prices to the ticker, which publishes them.
func (a *App) publishNews(e feed.Ephemeral) {
	if ids, ok := relay.MovedMarkets(&e); ok {
		a.ticker.Moved(ids)
		return
	}
	a.broker.Publish(e)
	if e.Type == feed.KeyRevoked {
		a.public.Revoked(e.Channel.Owner())
	}
}

// newGRPC returns the gRPC server with all services that Register adds. It listens on GRPC_ADDR.
func (a *App) newGRPC() (*grpcx.Part, error) {
	server, err := grpcx.NewServer(grpcx.ServerConfig{Secret: a.cfg.Link.Reveal(), Log: a.log, Options: a.tracing.ServerOptions()})
	if err != nil {
		return nil, err
	}
	a.Register(server)
	return server.At(a.cfg.GRPC), nil
}

// Register adds the gRPC services of the api to server.
func (a *App) Register(server *grpcx.Server) {
	operators := &grpcapi.Operators{Service: a.operators, Readers: a.readers, Publish: a.pubsub.Publish, Now: a.now}
	signals := &grpcapi.Signals{Service: a.signals, EncodeError: server.EncodeError, Now: a.now}
	markets := &grpcapi.Markets{Service: a.markets, Viewers: a.ticker.CachedViewers, Changes: a.oracle.Changes}
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
	events := &grpcapi.Feed{Store: a.store, Ephemeral: a.pubsub.Publish}
	feedv1.RegisterFeedServiceServer(server, events)
	feedv1.RegisterFeedReadServiceServer(server, events)
	moderationv1.RegisterModerationServiceServer(server, &grpcapi.Moderation{Store: a.store, Now: a.now})
	exportv1.RegisterExportServiceServer(server, &grpcapi.Exports{Service: export.NewService(a.store, a.now)})
}

// login returns a function that verifies a token of an identity provider with v and returns the identity in it.
func login(v *oidc.Verifier) func(context.Context, string) (operator.Identity, error) {
	return func(ctx context.Context, raw string) (operator.Identity, error) {
		s, err := v.Verify(ctx, raw)
		return operator.Identity{Issuer: s.Issuer, Subject: s.Subject, Primary: s.Primary, Username: s.Username, Name: s.Name}, err
	}
}
