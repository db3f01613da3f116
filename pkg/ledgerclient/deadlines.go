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
	// readTime is the timeout of a read of stored data. It equals the time limit of pkg/httpx for a GET request. The
	// api limits its database reads to DB_READ_TIMEOUT (default 300 ms).
	readTime = 900 * time.Millisecond
	// dayTime is the timeout of the summary of a whole day.
	dayTime = 35 * time.Second
	// skillTime is the timeout of the statistics of an operator, whose cost grows with the number of distinct prices.
	skillTime = 5 * time.Second
	// pulseTime is the timeout of the statistics of the whole network and of the addresses of all its pages.
	pulseTime = 10 * time.Second
)

// deadlines contains the timeouts of read methods by full method name. Writes, and reads for which the api may request data from
// a venue, are not listed. They have the deadline of their context.
var deadlines = map[string]time.Duration{
	boardv1.BoardReadService_GetRecord_FullMethodName:              readTime,
	boardv1.BoardReadService_ListBroadcast_FullMethodName:          readTime,
	cataloguev1.CatalogueReadService_FindMarkets_FullMethodName:    readTime,
	cataloguev1.CatalogueReadService_ListAddresses_FullMethodName:  pulseTime,
	cataloguev1.CatalogueReadService_ListGaps_FullMethodName:       readTime,
	cataloguev1.CatalogueReadService_ListResolved_FullMethodName:   readTime,
	cataloguev1.CatalogueReadService_ListTiles_FullMethodName:      readTime,
	digestv1.DigestReadService_GetDay_FullMethodName:               dayTime,
	feedv1.FeedReadService_ListEvents_FullMethodName:               readTime,
	marketv1.MarketReadService_ListAirable_FullMethodName:          readTime,
	marketv1.MarketReadService_ListMarkets_FullMethodName:          readTime,
	operatorv1.OperatorReadService_FindOperators_FullMethodName:    readTime,
	operatorv1.OperatorReadService_GetOperator_FullMethodName:      readTime,
	operatorv1.OperatorReadService_ListKeys_FullMethodName:         readTime,
	operatorv1.OperatorReadService_ListOperators_FullMethodName:    readTime,
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
	signalv1.SignalReadService_CountCalls_FullMethodName:           readTime,
	signalv1.SignalReadService_GetCrowd_FullMethodName:             readTime,
	signalv1.SignalReadService_ListCallers_FullMethodName:          readTime,
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

// conn is a connection that adds the timeout of a method to its unary calls.
type conn struct{ grpc.ClientConnInterface }

// WithDeadlines returns a connection that limits each unary call of a method in deadlines to the timeout of that method.
// Other calls keep the deadline of their context.
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
