package memledger

import (
	"context"
	"fmt"
	"sync"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	boardv1 "github.com/signalcast/signalcast/proto/board/v1"
	cataloguev1 "github.com/signalcast/signalcast/proto/catalogue/v1"
	digestv1 "github.com/signalcast/signalcast/proto/digest/v1"
	exportv1 "github.com/signalcast/signalcast/proto/export/v1"
	feedv1 "github.com/signalcast/signalcast/proto/feed/v1"
	marketv1 "github.com/signalcast/signalcast/proto/market/v1"
	moderationv1 "github.com/signalcast/signalcast/proto/moderation/v1"
	operatorv1 "github.com/signalcast/signalcast/proto/operator/v1"
	programv1 "github.com/signalcast/signalcast/proto/program/v1"
	recordv1 "github.com/signalcast/signalcast/proto/record/v1"
	resolutionv1 "github.com/signalcast/signalcast/proto/resolution/v1"
	signalv1 "github.com/signalcast/signalcast/proto/signal/v1"
	stationv1 "github.com/signalcast/signalcast/proto/station/v1"
	wirev1 "github.com/signalcast/signalcast/proto/wire/v1"

	"github.com/signalcast/signalcast/pkg/fault"
)

// Faults as the ledger sends them.
var (
	ErrUnauthenticated = fault.New(fault.Unauthenticated, "unauthenticated", "")
	ErrForbidden       = fault.New(fault.Forbidden, "forbidden", "not your signal")
	ErrNotFound        = fault.New(fault.NotFound, "not_found", "")
	ErrMarketNotFound  = fault.New(fault.NotFound, "market_not_found", "no such market")
	ErrMarketClosed    = fault.New(fault.Conflict, "market_closed", "market is settled")
	ErrPredicted       = fault.New(fault.Conflict, "already_predicted", "first call is locked")
	ErrPriceMoved      = fault.New(fault.Conflict, "price_moved", "")
	ErrReused          = fault.New(fault.Conflict, "idempotency_key_reused", "another body came with this key")
	ErrKeyLimit        = fault.New(fault.Conflict, "key_limit_reached", "ten keys are active")
	ErrPermissions     = fault.New(fault.Invalid, "invalid_permissions", "permissions are read, signal and broadcast").With("field", "permissions")
	ErrEventLimit      = fault.New(fault.Conflict, "event_limit_reached", "the signal has 200 events")
	ErrDecided         = fault.New(fault.Invalid, "invalid_decided_at", "decidedAt must not be in the future").With("field", "decidedAt")
	ErrResolved        = fault.New(fault.Conflict, "already_resolved", "the outcome is claimed")
	ErrDisputed        = fault.New(fault.Conflict, "market_disputed", "a dispute stands")
	ErrDB              = fault.New(fault.Unavailable, "db_unavailable", "").With("retryAfterMs", 1000)
)

// Ledger is the whole state. Tests read and set the maps under Lock.
type Ledger struct {
	signalv1.UnimplementedSignalServiceServer
	signalv1.UnimplementedSignalReadServiceServer
	operatorv1.UnimplementedOperatorServiceServer
	operatorv1.UnimplementedOperatorReadServiceServer
	marketv1.UnimplementedMarketServiceServer
	marketv1.UnimplementedMarketReadServiceServer
	cataloguev1.UnimplementedCatalogueReadServiceServer
	resolutionv1.UnimplementedResolutionServiceServer
	resolutionv1.UnimplementedResolutionReadServiceServer
	boardv1.UnimplementedBoardReadServiceServer
	recordv1.UnimplementedRecordServiceServer
	programv1.UnimplementedProgramServiceServer
	programv1.UnimplementedProgramReadServiceServer
	wirev1.UnimplementedWireReadServiceServer
	digestv1.UnimplementedDigestReadServiceServer
	stationv1.UnimplementedStationServiceServer
	stationv1.UnimplementedStationReadServiceServer
	exportv1.UnimplementedExportServiceServer
	moderationv1.UnimplementedModerationServiceServer

	Heard Heard // what the feed was told

	sync.Mutex
	Now       func() time.Time
	Calls     map[string]int // by method
	Operators map[string]*operatorv1.Operator
	Keys      map[[32]byte]*Key
	Webhooks  map[string][]string // ids by the key that made them
	Markets   map[string]*marketv1.Market
	Quotes    map[string]Quote // fresh ones, by market
	Signals   []*Filed         // in order
	Outcomes  map[string]*resolutionv1.Outcome
	DecidedAt []time.Time // that claims stated, in order
	Board     []*boardv1.Row
	LastBoard *boardv1.ListBroadcastRequest
	Records   map[string]*recordv1.GetOperatorRecordResponse // by handle; all but the operator
	Skills    map[string]*recordv1.GetSkillResponse          // by handle, lane and window
	Courses   map[string]*recordv1.GetCourseResponse         // by handle
	Ranked    []*recordv1.Ranked
	Pulse     *recordv1.GetPulseResponse
	Program   *programv1.Program
	Preempts  []*programv1.Preempt // in order
	Stations  map[string]*Stationed
	Decisions []*moderationv1.Decision // newest first
	ScanReply *resolutionv1.ScanResponse

	// Before runs ahead of every call and may refuse it, wait or count.
	Before func(ctx context.Context, method string) error
	// After runs behind every call that was done; its error hides the answer.
	After func(ctx context.Context, method string) error

	Exports map[string][]*exportv1.RecordResponse // by handle, as they are streamed
	Cut     error                                 // ends every record where its end would be

	Day     *digestv1.GetDayResponse
	LastDay *digestv1.GetDayRequest

	LastDraft   *signalv1.Draft
	Unconfirmed map[string]bool // ids without a market that dry runs accept
	LastProgram *programv1.GetProgramRequest
	LastFind    *cataloguev1.FindMarketsRequest
	Relations   map[string][]*cataloguev1.Relation           // by market
	Sentiments  map[string]*cataloguev1.GetSentimentResponse // by market
	Gaps        []*cataloguev1.Gap
	Tiles       map[string][]*cataloguev1.Tile // by mode
	LastTiles   *cataloguev1.ListTilesRequest
	LastMoves   *wirev1.ListMovesRequest
	LastStories *wirev1.ListSituationsRequest
	Happened    []*feedv1.Event // the numbered record, the newest first
	LastEvents  *feedv1.ListEventsRequest
	Taken       []*wirev1.Taken // in order
	Influence   *programv1.GetInfluenceResponse
	LastAirings *programv1.GetInfluenceRequest
	Moves       []*wirev1.Move                         // in order
	Situations  map[string][]*wirev1.Situation         // by window, in order
	Histories   map[string][]*cataloguev1.HistoryPoint // by interval and token or market
	effects     map[string]effect                      // of signed messages, by message
	creators    map[string]string                      // of native markets
	keyed       map[string]kept                        // idempotency keys by operator and key
	ids         int
	enclose     func(ctx context.Context, method, requestID string, err error) []byte
}

// Key is a minted key and whose it is.
type Key struct {
	Owner string
	Row   *operatorv1.Key
}

// Quote is the price of each side of a market, which is rated.
type Quote struct{ Yes, No int32 }

// Filed is a signal with its history and its owner.
type Filed struct {
	Owner  string
	Signal *signalv1.Signal
	Filing *signalv1.Filing
	Events []*signalv1.Event
}

type kept struct {
	id   string
	body string
}

// New makes an empty ledger.
func New(now func() time.Time) *Ledger {
	return &Ledger{
		Now: now, Calls: map[string]int{}, Operators: map[string]*operatorv1.Operator{}, Keys: map[[32]byte]*Key{},
		Markets: map[string]*marketv1.Market{}, Outcomes: map[string]*resolutionv1.Outcome{}, keyed: map[string]kept{},
	}
}

// encloser is what a link.Server can do besides.
type encloser interface {
	Enclose(ctx context.Context, method, requestID string, err error) []byte
}

// Register adds every service of the ledger and of the clock to a link.Server.
func (l *Ledger) Register(r grpc.ServiceRegistrar) {
	l.enclose = r.(encloser).Enclose
	signalv1.RegisterSignalServiceServer(r, l)
	signalv1.RegisterSignalReadServiceServer(r, l)
	operatorv1.RegisterOperatorServiceServer(r, l)
	operatorv1.RegisterOperatorReadServiceServer(r, l)
	marketv1.RegisterMarketServiceServer(r, l)
	marketv1.RegisterMarketReadServiceServer(r, l)
	cataloguev1.RegisterCatalogueReadServiceServer(r, l)
	resolutionv1.RegisterResolutionServiceServer(r, l)
	resolutionv1.RegisterResolutionReadServiceServer(r, l)
	boardv1.RegisterBoardReadServiceServer(r, l)
	recordv1.RegisterRecordServiceServer(r, l)
	programv1.RegisterProgramServiceServer(r, l)
	programv1.RegisterProgramReadServiceServer(r, l)
	wirev1.RegisterWireReadServiceServer(r, l)
	digestv1.RegisterDigestReadServiceServer(r, l)
	stationv1.RegisterStationServiceServer(r, l)
	moderationv1.RegisterModerationServiceServer(r, l)
	stationv1.RegisterStationReadServiceServer(r, l)
	exportv1.RegisterExportServiceServer(r, l)
	feedv1.RegisterFeedReadServiceServer(r, events{ledger: l})
	feedv1.RegisterFeedServiceServer(r, &l.Heard)
}

// Count is how often a method was called.
func (l *Ledger) Count(method string) int {
	l.Lock()
	defer l.Unlock()
	return l.Calls[method]
}

// do runs one call: counted, refused when the test wants it, under the lock.
func do[T proto.Message](ctx context.Context, l *Ledger, method string, act func() (T, error)) (T, error) {
	l.Lock()
	l.Calls[method]++
	before, after := l.Before, l.After
	l.Unlock()
	var none T
	if before != nil {
		if err := before(ctx, method); err != nil {
			return none, err
		}
	}
	l.Lock()
	out, err := act()
	if err == nil { // the state goes on changing while the answer is written
		out = proto.CloneOf(out)
	}
	l.Unlock()
	if err == nil && after != nil {
		if err := after(ctx, method); err != nil {
			return none, err
		}
	}
	return out, err
}

// id makes ids that sort and repeat from run to run.
func (l *Ledger) id() string {
	l.ids++
	return fmt.Sprintf("0199f0f0-0000-7000-8000-%012d", l.ids)
}

func (l *Ledger) stamp() *timestamppb.Timestamp { return timestamppb.New(l.Now()) }
