package ledgerclient

import (
	"context"
	"time"

	"google.golang.org/grpc"

	boardv1 "github.com/signalcast/signalcast/proto/board/v1"
	cataloguev1 "github.com/signalcast/signalcast/proto/catalogue/v1"
	digestv1 "github.com/signalcast/signalcast/proto/digest/v1"
	feedv1 "github.com/signalcast/signalcast/proto/feed/v1"
	marketv1 "github.com/signalcast/signalcast/proto/market/v1"
	operatorv1 "github.com/signalcast/signalcast/proto/operator/v1"
	programv1 "github.com/signalcast/signalcast/proto/program/v1"
	recordv1 "github.com/signalcast/signalcast/proto/record/v1"
	resolutionv1 "github.com/signalcast/signalcast/proto/resolution/v1"
	signalv1 "github.com/signalcast/signalcast/proto/signal/v1"
	stationv1 "github.com/signalcast/signalcast/proto/station/v1"
	wirev1 "github.com/signalcast/signalcast/proto/wire/v1"
)

const (
	// readTime bounds a read of stored facts. It is as long as package web allows a GET request. The api waits for its database for
	// DB_READ_TIMEOUT, 300 ms by default.
	readTime = 900 * time.Millisecond
	// dayTime bounds the summary of a whole day.
	dayTime = 35 * time.Second
	// skillTime bounds the statistics of a record, whose cost grows with its distinct prices.
	skillTime = 5 * time.Second
	// pulseTime bounds the count of the whole network.
	pulseTime = 10 * time.Second
)

// deadlines has the longest duration of a call by its full method name. Writes, and reads for
// which the api may ask a venue, have the deadline of their request and are not listed.
var deadlines = map[string]time.Duration{
	boardv1.BoardReadService_GetRecord_FullMethodName:              readTime,
	boardv1.BoardReadService_ListBroadcast_FullMethodName:          readTime,
	cataloguev1.CatalogueReadService_FindMarkets_FullMethodName:    readTime,
	cataloguev1.CatalogueReadService_ListGaps_FullMethodName:       readTime,
	cataloguev1.CatalogueReadService_ListResolved_FullMethodName:   readTime,
	cataloguev1.CatalogueReadService_ListTiles_FullMethodName:      readTime,
	digestv1.DigestReadService_GetDay_FullMethodName:               dayTime,
	feedv1.FeedReadService_ListEvents_FullMethodName:               readTime,
	marketv1.MarketReadService_ListAirable_FullMethodName:          readTime,
	marketv1.MarketReadService_ListMarkets_FullMethodName:          readTime,
	operatorv1.OperatorReadService_GetOperator_FullMethodName:      readTime,
	operatorv1.OperatorReadService_ListKeys_FullMethodName:         readTime,
	operatorv1.OperatorReadService_ListRevokedKeys_FullMethodName:  readTime,
	operatorv1.OperatorReadService_VerifyKey_FullMethodName:        readTime,
	programv1.ProgramReadService_GetInfluence_FullMethodName:       readTime,
	recordv1.RecordService_GetCourse_FullMethodName:                readTime,
	recordv1.RecordService_GetOperatorRecord_FullMethodName:        readTime,
	recordv1.RecordService_GetPulse_FullMethodName:                 pulseTime,
	recordv1.RecordService_GetSkill_FullMethodName:                 skillTime,
	recordv1.RecordService_ListCalls_FullMethodName:                readTime,
	recordv1.RecordService_ListOperators_FullMethodName:            readTime,
	resolutionv1.ResolutionReadService_GetOutcome_FullMethodName:   readTime,
	resolutionv1.ResolutionReadService_ListNative_FullMethodName:   readTime,
	signalv1.SignalReadService_GetCrowd_FullMethodName:             readTime,
	signalv1.SignalReadService_GetSignal_FullMethodName:            readTime,
	signalv1.SignalReadService_ListEvents_FullMethodName:           readTime,
	signalv1.SignalReadService_ListFeed_FullMethodName:             readTime,
	signalv1.SignalReadService_ListLedger_FullMethodName:           readTime,
	stationv1.StationReadService_CountStations_FullMethodName:      readTime,
	stationv1.StationReadService_ListActiveStations_FullMethodName: readTime,
	wirev1.WireReadService_ListMoves_FullMethodName:                readTime,
	wirev1.WireReadService_ListSituations_FullMethodName:           readTime,
	wirev1.WireReadService_ListTaken_FullMethodName:                readTime,
}

// conn adds the deadline of a method to its unary calls.
type conn struct{ grpc.ClientConnInterface }

// WithDeadlines returns a connection whose unary calls end at the deadline of their method,
// where it has one.
func WithDeadlines(cc grpc.ClientConnInterface) grpc.ClientConnInterface { return conn{cc} }

// Invoke implements grpc.ClientConnInterface.
func (c conn) Invoke(ctx context.Context, method string, args, reply any, opts ...grpc.CallOption) error {
	if limit, ok := deadlines[method]; ok {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, limit)
		defer cancel()
	}
	return c.ClientConnInterface.Invoke(ctx, method, args, reply, opts...)
}
