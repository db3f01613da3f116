package notification

import (
	"context"
	"encoding/json"
	"log/slog"
	"maps"
	"slices"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/signalcast/signalcast/pkg/dbtime"
	"github.com/signalcast/signalcast/pkg/protocol"
	feedv1 "github.com/signalcast/signalcast/proto/feed/v1"
	operatorv1 "github.com/signalcast/signalcast/proto/operator/v1"
	signalv1 "github.com/signalcast/signalcast/proto/signal/v1"
	"github.com/signalcast/signalcast/services/hub/internal/operator"
)

const (
	// pollInterval is the time between two reads of a feed without new events.
	pollInterval = 500 * time.Millisecond
	// maxEvents is the maximum number of event numbers that one read searches.
	maxEvents = 1000
	// MaxAtOnce is the maximum number of recipients who are notified in the transaction of the event. A fact with more recipients
	// is a Fanout.
	MaxAtOnce = 1000
	// maxRecipients is the maximum number of recipients in one transaction.
	maxRecipients = 2 * MaxAtOnce
	// maxFanouts is the number of batches between two reads of the feed. It limits the delay of new events by large facts.
	maxFanouts = 8
)

// milestones lists the numbers of calls that are milestones, the largest first.
var milestones = []int64{500, 100, 50, 10}

// WorkerStore stores entries and the number of the last event. Error of all methods: db_unavailable.
type WorkerStore interface {
	// NotificationCursor returns the number of the last event. The first call stores start as this number.
	NotificationCursor(ctx context.Context, start func() (int64, error)) (int64, error)
	// StoreFacts stores the entries of facts and moves the cursor, in one transaction. It changes nothing if the cursor is not
	// after.
	StoreFacts(ctx context.Context, after, upTo int64, facts []Fact) error
	// ListFanouts returns facts whose recipients wait, those with the fewest batches first.
	ListFanouts(ctx context.Context, limit int) ([]Fanout, error)
	// AdvanceFanout notifies the next recipients of a fact, at most MaxAtOnce, in one transaction. callers are these recipients if
	// the audience is Callers. It changes nothing if another process has advanced the fact.
	AdvanceFanout(ctx context.Context, f Fanout, callers []operator.ID) error
	// ListClosingUsers returns users with the kind MarketCloses switched on, by id, after a user, and the markets that each watches.
	ListClosingUsers(ctx context.Context, after operator.ID, limit int) ([]Watcher, error)
	// StoreNotices stores entries of facts with a recipient. An entry with a stored key does not change.
	StoreNotices(ctx context.Context, facts []Fact) error
	// NoticeCursor returns the id of the last notice of the ledger.
	NoticeCursor(ctx context.Context) (int64, error)
	// StoreLedgerNotices stores the entries of facts with a recipient and moves the cursor of the notices of the ledger, in one
	// transaction. It changes nothing if the cursor is not after.
	StoreLedgerNotices(ctx context.Context, after, upTo int64, facts []Fact) error
	// Followers returns the number of followers of each operator. It omits operators without followers.
	Followers(ctx context.Context, of []operator.ID) (map[operator.ID]int64, error)
}

// Worker reads the events of the ledger and notifies users. Only one process at a time should run it.
type Worker struct {
	Store     WorkerStore
	Feed      feedv1.FeedReadServiceClient
	Signals   signalv1.SignalReadServiceClient
	Operators operatorv1.OperatorReadServiceClient
	Log       *slog.Logger
}

// Run notifies users of new events until ctx ends. After a failure it repeats the round. It logs the first of consecutive errors.
func (w *Worker) Run(ctx context.Context) error {
	failing := false
	for {
		more, err := w.Round(ctx)
		if err != nil && !failing && ctx.Err() == nil {
			w.Log.WarnContext(ctx, "notifications delayed", "error", err)
		}
		if failing = err != nil; more && !failing {
			continue
		}
		if err := dbtime.Sleep(ctx, pollInterval); err != nil {
			return err
		}
	}
}

// Round reads one page of events, stores their entries, and notifies the next recipients of facts with many recipients. It
// reports whether more work waits. Errors: db_unavailable, those of the ledger.
func (w *Worker) Round(ctx context.Context) (more bool, err error) {
	after, err := w.Store.NotificationCursor(ctx, func() (int64, error) {
		r, err := w.Feed.ListEvents(ctx, &feedv1.ListEventsRequest{Limit: 1})
		return r.GetHead(), err
	})
	if err != nil {
		return false, err
	}
	page, err := w.Feed.ListEvents(ctx, &feedv1.ListEventsRequest{Types: eventTypes, After: &after, Limit: maxEvents})
	if err != nil {
		return false, err
	}
	if page.GetNext() > after {
		if err := w.storePage(ctx, after, page); err != nil {
			return false, err
		}
	}
	waiting, err := w.advanceFanouts(ctx)
	return waiting || page.GetNext() < page.GetHead(), err
}

// storePage stores the entries of a page of events, in transactions of at most maxRecipients recipients.
func (w *Worker) storePage(ctx context.Context, after int64, page *feedv1.ListEventsResponse) error {
	calls, err := w.countCalls(ctx, page.GetEvents())
	if err != nil {
		return err
	}
	facts := make([][]Fact, len(page.GetEvents()))
	var actors []operator.ID
	for i, e := range page.GetEvents() {
		facts[i] = factsOf(e, calls)
		for _, f := range facts[i] {
			if f.Audience == Followers {
				actors = append(actors, f.Actor)
			}
		}
	}
	followers, err := w.Store.Followers(ctx, actors)
	if err != nil {
		return err
	}
	handles, err := w.handles(ctx, slices.Collect(maps.Keys(followers)))
	if err != nil {
		return err
	}
	var batch []Fact
	var recipients int64
	for i, e := range page.GetEvents() {
		var more int64
		for _, f := range facts[i] {
			if n := followers[f.Actor]; f.Audience == Followers && n <= MaxAtOnce {
				more += n
			}
		}
		if recipients+more > maxRecipients {
			if err := w.Store.StoreFacts(ctx, after, e.GetSeq()-1, batch); err != nil {
				return err
			}
			after, batch, recipients = e.GetSeq()-1, nil, 0
		}
		for _, f := range facts[i] {
			if f.Audience != Followers || followers[f.Actor] > 0 {
				f.Handle = handles[f.Actor]
				batch = append(batch, f)
			}
		}
		recipients += more
	}
	return w.Store.StoreFacts(ctx, after, page.GetNext(), batch)
}

// handles returns the handle of each operator.
func (w *Worker) handles(ctx context.Context, of []operator.ID) (map[operator.ID]protocol.Handle, error) {
	out := make(map[operator.ID]protocol.Handle, len(of))
	for ids := range slices.Chunk(of, maxEvents) {
		q := &operatorv1.ListOperatorsRequest{}
		for _, id := range ids {
			q.Ids = append(q.Ids, string(id))
		}
		r, err := w.Operators.ListOperators(ctx, q)
		if err != nil {
			return nil, err
		}
		for _, o := range r.GetOperators() {
			out[operator.ID(o.GetId())] = protocol.Handle(o.GetHandle())
		}
	}
	return out, nil
}

// countCalls returns the number of calls of each operator who filed a call.
func (w *Worker) countCalls(ctx context.Context, events []*feedv1.Event) (map[string]int64, error) {
	q := &signalv1.CountCallsRequest{}
	for _, e := range events {
		if e.GetType() == signalCreated && e.GetOperatorId() != "" && !slices.Contains(q.OperatorIds, e.GetOperatorId()) {
			q.OperatorIds = append(q.OperatorIds, e.GetOperatorId())
		}
	}
	if len(q.GetOperatorIds()) == 0 {
		return nil, nil
	}
	r, err := w.Signals.CountCalls(ctx, q)
	if err != nil {
		return nil, err
	}
	out := make(map[string]int64, len(q.GetOperatorIds()))
	for i, id := range q.GetOperatorIds() {
		out[id] = r.GetCalls()[i]
	}
	return out, nil
}

// advanceFanouts notifies the next recipients of up to maxFanouts facts. It reports whether it found one.
func (w *Worker) advanceFanouts(ctx context.Context) (bool, error) {
	list, err := w.Store.ListFanouts(ctx, maxFanouts)
	for _, f := range list {
		var callers []operator.ID
		if f.Audience == Callers {
			r, err := w.Signals.ListCallers(ctx, &signalv1.ListCallersRequest{
				MarketId: string(f.MarketID), After: string(f.After), Limit: MaxAtOnce,
			})
			if err != nil {
				return false, err
			}
			for _, id := range r.GetOperatorIds() {
				callers = append(callers, operator.ID(id))
			}
		}
		if err := w.Store.AdvanceFanout(ctx, f, callers); err != nil {
			return false, err
		}
	}
	return len(list) > 0, err
}

// Watcher is a user and the markets that the user watches.
type Watcher struct {
	User    operator.ID
	Markets []string
}

// Numbers of users and of watched markets in one request for closing markets.
const (
	maxWatchers = 100
	maxMarkets  = 1000
)

// NotifyClosing notifies the users with the kind MarketCloses switched on of each market that they called or watch and that closes
// within CloseNotice. It notifies a user once of a market. Errors: db_unavailable, those of the ledger.
func (w *Worker) NotifyClosing(ctx context.Context, now time.Time) error {
	var after operator.ID
	for {
		users, err := w.Store.ListClosingUsers(ctx, after, maxWatchers)
		if err != nil || len(users) == 0 {
			return err
		}
		after = users[len(users)-1].User
		facts, err := w.closingFacts(ctx, users, now)
		if err != nil {
			return err
		}
		if err := w.Store.StoreNotices(ctx, facts); err != nil {
			return err
		}
	}
}

func (w *Worker) closingFacts(ctx context.Context, users []Watcher, now time.Time) ([]Fact, error) {
	watchers := map[string][]operator.ID{}
	q := &signalv1.ListClosingMarketsRequest{Before: timestamppb.New(now.Add(CloseNotice))}
	for _, u := range users {
		q.OperatorIds = append(q.OperatorIds, string(u.User))
		for _, market := range u.Markets {
			watchers[market] = append(watchers[market], u.User)
		}
	}
	facts := map[[2]string]Fact{} // by user and market: a user may call and watch a market
	add := func(market string, to ...operator.ID) {
		for _, user := range to {
			facts[[2]string{string(user), market}] = Fact{
				Kind: MarketCloses, MarketID: protocol.MarketID(market), Key: market, To: user, Count: 1, At: now,
			}
		}
	}
	markets := slices.Collect(maps.Keys(watchers))
	for {
		q.MarketIds = markets[:min(len(markets), maxMarkets)]
		markets = markets[len(q.GetMarketIds()):]
		r, err := w.Signals.ListClosingMarkets(ctx, q)
		if err != nil {
			return nil, err
		}
		for _, c := range r.GetClosing() {
			if c.GetOperatorId() != "" {
				add(c.GetMarketId(), operator.ID(c.GetOperatorId()))
			} else {
				add(c.GetMarketId(), watchers[c.GetMarketId()]...)
			}
		}
		if q.OperatorIds = nil; len(markets) == 0 {
			return slices.Collect(maps.Values(facts)), nil
		}
	}
}

// NoticeInterval is the time between two calls of NotifyOperators.
const NoticeInterval = 3 * time.Second

// maxNotices is the maximum number of notices in one request.
const maxNotices = 1000

// NotifyOperators notifies users of the private facts that the ledger has stored about them. Errors: db_unavailable, those of the
// ledger.
func (w *Worker) NotifyOperators(ctx context.Context) error {
	for {
		after, err := w.Store.NoticeCursor(ctx)
		if err != nil {
			return err
		}
		r, err := w.Operators.ListNotices(ctx, &operatorv1.ListNoticesRequest{After: after, Limit: maxNotices})
		list := r.GetNotices()
		if err != nil || len(list) == 0 {
			return err
		}
		facts := make([]Fact, 0, len(list))
		for _, n := range list {
			facts = append(facts, Fact{
				Kind: Kind(n.GetKind()), To: operator.ID(n.GetOperatorId()), Key: n.GetKey(), Reason: n.GetText(),
				Count: 1, At: n.GetAt().AsTime(),
			})
		}
		if err := w.Store.StoreLedgerNotices(ctx, after, list[len(list)-1].GetId(), facts); err != nil {
			return err
		}
	}
}

// Types of events that cause notifications.
const (
	signalCreated  = "signal.created"
	signalEvent    = "signal.event"
	signalResolved = "signal.resolved"
	disputed       = "market.disputed"
	disputeCleared = "market.dispute_cleared"
	operatorLive   = "operator.live"
)

var eventTypes = []string{signalCreated, signalEvent, signalResolved, disputed, disputeCleared, operatorLive}

// factsOf returns the facts of an event. calls has the numbers of calls of the operators who filed one.
func factsOf(e *feedv1.Event, calls map[string]int64) []Fact {
	f := Fact{MarketID: protocol.MarketID(e.GetMarketId()), Count: 1, Seq: e.GetSeq(), At: e.GetAt().AsTime()}
	actor := operator.ID(e.GetOperatorId())
	switch {
	case e.GetType() == disputed || e.GetType() == disputeCleared:
		f.Kind = MarketDisputed
		if e.GetType() == disputeCleared {
			f.Kind = MarketDisputeCleared
		}
		called, watched := f, f
		called.Audience, watched.Audience = Callers, Watchers
		return []Fact{called, watched}
	case actor == "":
		return nil
	}
	var data struct {
		ID, SignalID, ShowID, Status, Reason string
		Score                                int32
		Approved                             bool
		Counted                              *bool
		Event                                struct{ Type string }
	}
	if json.Unmarshal([]byte(e.GetData()), &data) != nil {
		return nil // an event of a later version
	}
	f.SignalID = data.SignalID
	by := f // a fact about what the operator did
	by.Actor, by.Audience = actor, Followers
	switch e.GetType() {
	case signalCreated:
		by.Kind, by.SignalID = ForecasterCalled, data.ID
		out := []Fact{by}
		for _, n := range milestones {
			if calls[e.GetOperatorId()] >= n {
				return append(out, Fact{Kind: Milestone, To: actor, Count: n, Seq: f.Seq, At: f.At})
			}
		}
		return out
	case signalEvent:
		if data.Event.Type == "take" {
			by.Kind = ForecasterTake
			return []Fact{by}
		}
	case signalResolved:
		f.Kind, f.To, f.Status, f.Score, f.Reason = CallResolved, actor, data.Status, data.Score, data.Reason
		if data.Counted != nil && !*data.Counted {
			f.Score = 0 // the call gives no points
		}
		if f.Status == "void" {
			f.Kind = CallVoid
		}
		return []Fact{f}
	case operatorLive:
		if data.Approved { // pages show approved broadcasts only
			by.Kind, by.Reason = ForecasterLive, data.ShowID
			return []Fact{by}
		}
	}
	return nil
}
