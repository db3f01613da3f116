package ledgerclient

import (
	"context"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/types/known/timestamppb"

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
)

// Client contains a generated client for each gRPC service of the api. Reads of stored data have the deadlines that WithDeadlines
// sets. Every other call has the deadline of its context.
type Client struct {
	Boards           boardv1.BoardReadServiceClient
	Catalogue        cataloguev1.CatalogueReadServiceClient
	Days             digestv1.DigestReadServiceClient
	Exports          exportv1.ExportServiceClient
	FeedWrites       feedv1.FeedServiceClient
	Feed             feedv1.FeedReadServiceClient
	MarketWrites     marketv1.MarketServiceClient
	Markets          marketv1.MarketReadServiceClient
	Moderation       moderationv1.ModerationServiceClient
	OperatorWrites   operatorv1.OperatorServiceClient
	Operators        operatorv1.OperatorReadServiceClient
	Records          recordv1.RecordServiceClient
	ResolutionWrites resolutionv1.ResolutionServiceClient
	Resolutions      resolutionv1.ResolutionReadServiceClient
	SignalWrites     signalv1.SignalServiceClient
	Signals          signalv1.SignalReadServiceClient
	StationWrites    stationv1.StationServiceClient
	Stations         stationv1.StationReadServiceClient
	Wire             wirev1.WireReadServiceClient

	calls *batcher
}

// New returns a client that uses conn, a connection to the api. The caller closes the connection.
func New(conn grpc.ClientConnInterface) *Client {
	cc := WithDeadlines(conn)
	writes := signalv1.NewSignalServiceClient(cc)
	return &Client{
		calls:            newBatcher(writes, time.Now),
		Boards:           boardv1.NewBoardReadServiceClient(cc),
		Catalogue:        cataloguev1.NewCatalogueReadServiceClient(cc),
		Days:             digestv1.NewDigestReadServiceClient(cc),
		Exports:          exportv1.NewExportServiceClient(cc),
		FeedWrites:       feedv1.NewFeedServiceClient(cc),
		Feed:             feedv1.NewFeedReadServiceClient(cc),
		MarketWrites:     marketv1.NewMarketServiceClient(cc),
		Markets:          marketv1.NewMarketReadServiceClient(cc),
		Moderation:       moderationv1.NewModerationServiceClient(cc),
		OperatorWrites:   operatorv1.NewOperatorServiceClient(cc),
		Operators:        operatorv1.NewOperatorReadServiceClient(cc),
		Records:          recordv1.NewRecordServiceClient(cc),
		ResolutionWrites: resolutionv1.NewResolutionServiceClient(cc),
		Resolutions:      resolutionv1.NewResolutionReadServiceClient(cc),
		SignalWrites:     writes,
		Signals:          signalv1.NewSignalReadServiceClient(cc),
		StationWrites:    stationv1.NewStationServiceClient(cc),
		Stations:         stationv1.NewStationReadServiceClient(cc),
		Wire:             wirev1.NewWireReadServiceClient(cc),
	}
}

// Market returns the market with the given id. If there is none, the error is market_not_found.
func (c *Client) Market(ctx context.Context, id protocol.MarketID) (*marketv1.Market, error) {
	r, err := c.Markets.GetMarket(ctx, &marketv1.GetMarketRequest{Id: string(id)})
	return r.GetMarket(), err
}

// Outcome returns the resolution of a market, or nil if there is none.
func (c *Client) Outcome(ctx context.Context, id protocol.MarketID) (*resolutionv1.Outcome, error) {
	r, err := c.Resolutions.GetOutcome(ctx, &resolutionv1.GetOutcomeRequest{MarketId: string(id)})
	return r.GetOutcome(), err
}

// Time returns the time of a timestamp, or the zero time for nil.
func Time(t *timestamppb.Timestamp) time.Time {
	if t == nil {
		return time.Time{}
	}
	return t.AsTime()
}

// Stamp formats a timestamp as in JSON responses: RFC 3339, UTC, milliseconds.
func Stamp(t *timestamppb.Timestamp) string { return protocol.Stamp(Time(t)) }

// StampOrNull formats a timestamp like Stamp. It returns nil for nil.
func StampOrNull(t *timestamppb.Timestamp) *string { return protocol.StampOrNull(Time(t)) }

// Timestamp returns the timestamp of a time, or nil for the zero time.
func Timestamp(t time.Time) *timestamppb.Timestamp {
	if t.IsZero() {
		return nil
	}
	return timestamppb.New(t)
}
