package broadcast

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"github.com/signalcast/signalcast/pkg/ledgerclient"
	"github.com/signalcast/signalcast/pkg/protocol"
	feedv1 "github.com/signalcast/signalcast/proto/feed/v1"
	marketv1 "github.com/signalcast/signalcast/proto/market/v1"
	wirev1 "github.com/signalcast/signalcast/proto/wire/v1"
)

// Limits and settings of the feed.
const (
	DefaultItems = 30
	MaxItems     = 100
	// lookLimit is the maximum number of events of one request to the ledger. looks is the maximum number of requests for one
	// page. A page can need several requests because many signal.event events are not takes.
	lookLimit = 200
	looks     = 5
	// maxMoves is the maximum number of price moves that the feed requests from the ledger.
	maxMoves = 200
	// defaultTopic is the topic of the default programme. The feed shows the segments of this programme only.
	defaultTopic = "program:default"
)

// Kind is the kind of an item of the feed.
type Kind string

// Kinds of items of the feed.
const (
	KindSignal   Kind = "signal"   // a call was filed
	KindTake     Kind = "take"     // a take was added to a call
	KindResolved Kind = "resolved" // a market was resolved
	KindLive     Kind = "live"     // an operator went live
	KindTape     Kind = "tape"     // a clip is ready
	KindMove     Kind = "move"     // the price of a market moved by at least 5 percentage points within an hour
	KindSegment  Kind = "segment"  // a segment of the default programme began
)

// eventTypes maps kinds of items to event types of the ledger. KindMove is missing because a move is not an event.
var eventTypes = map[Kind]string{
	KindSignal: "signal.created", KindTake: "signal.event", KindResolved: "market.resolved", KindLive: "operator.live",
	KindTape: "clip.ready", KindSegment: "segment.started",
}

// Kinds lists all kinds of items of the feed.
var Kinds = [...]Kind{KindSignal, KindTake, KindResolved, KindLive, KindTape, KindMove, KindSegment}

// ParseKinds parses a comma-separated list of kinds. It ignores unknown kinds. If no kind is known, it returns all kinds.
func ParseKinds(raw string) []Kind {
	asked := strings.Split(raw, ",")
	var out []Kind
	for _, k := range Kinds {
		if slices.Contains(asked, string(k)) {
			out = append(out, k)
		}
	}
	if len(out) == 0 {
		return slices.Clone(Kinds[:])
	}
	return out
}

// Item is an item of the feed: an event, or a price move for KindMove.
type Item struct {
	Kind  Kind
	At    time.Time
	Event *feedv1.Event
	Move  *wirev1.Move
}

// marketID returns the market of the item's event. It is empty if the event has no market or the item is a price move.
func (i *Item) marketID() protocol.MarketID { return protocol.MarketID(i.Event.GetMarketId()) }

// Place is the position in the feed at which a page ends and the next page starts.
type Place struct {
	Event  int64 // the next page contains only events with lower sequence numbers; 0: start
	MoveAt int64 // time of the last price move shown, in Unix microseconds; 0: start
	MoveID protocol.MarketID
}

// Query selects a page of the feed.
type Query struct {
	Kinds []Kind
	Limit int
	From  Place
}

// Page is a page of the feed, newest first.
type Page struct {
	Items  []Item
	Next   *Place                      // nil: last page
	Titles map[string]*marketv1.Market // markets by id, for items whose event has no title
	Failed error                       // error of reading the moves or the titles; nil: the page is complete
}

// FeedPage returns a page of the feed. The parameter takes is a function that reports whether a signal.event is a take. Events
// are ordered by sequence number, and price moves are inserted by time, so the order does not depend on page sizes. A page can
// have fewer items than the limit although there is a next page. Error: db_unavailable.
func (s *Service) FeedPage(ctx context.Context, q Query, takes func(*feedv1.Event) bool) (Page, error) {
	events, below, more, err := s.events(ctx, q, takes)
	if err != nil {
		return Page{}, err
	}
	var p Page
	moves, err := s.moves(ctx, q)
	p.Failed = err
	aired, err := s.aired(ctx, events)
	if err != nil {
		return Page{}, err
	}
	next := q.From
	if next.Event == 0 && len(events) > 0 {
		next.Event = events[0].Event.GetSeq() + 1
	}
	for len(p.Items) < q.Limit && len(events)+len(moves) > 0 {
		if len(events) == 0 || len(moves) > 0 && moves[0].At.After(events[0].At) {
			p.Items = append(p.Items, moves[0])
			next.MoveAt, next.MoveID = moves[0].At.UnixMicro(), protocol.MarketID(moves[0].Move.GetMarketId())
			moves = moves[1:]
			continue
		}
		if !events[0].ofStreamer() || aired[events[0].Event.GetHandle()] {
			p.Items = append(p.Items, events[0])
		}
		next.Event = events[0].Event.GetSeq()
		events = events[1:]
	}
	if len(events) == 0 {
		next.Event = max(below, 1)
	}
	if more || len(events)+len(moves) > 0 {
		p.Next = &next
	}
	if p.Titles, err = s.titles(ctx, p.Items); err != nil {
		p.Failed = err
	}
	return p, nil
}

// ofStreamer reports whether an item shows video of an operator: a live session or a clip.
func (i *Item) ofStreamer() bool { return i.Kind == KindLive || i.Kind == KindTape }

// aired returns the set of handles in the live and clip items whose operators are approved and neither suspended nor hidden.
// It returns nil if there are no such items.
func (s *Service) aired(ctx context.Context, events []Item) (map[string]bool, error) {
	var handles []string
	for i := range events {
		if events[i].ofStreamer() {
			handles = append(handles, events[i].Event.GetHandle())
		}
	}
	if len(handles) == 0 {
		return nil, nil
	}
	return s.Store.Aired(ctx, handles)
}

// events returns up to q.Limit+1 events of the kinds in q, newest first. below is the lowest sequence number that it has
// examined. more reports whether older events may exist.
func (s *Service) events(ctx context.Context, q Query, takes func(*feedv1.Event) bool) (out []Item, below int64, more bool, err error) {
	kinds := make(map[string]Kind, len(q.Kinds))
	var types []string
	for _, k := range q.Kinds {
		if t := eventTypes[k]; t != "" {
			kinds[t] = k
			types = append(types, t)
		}
	}
	below = q.From.Event
	if len(types) == 0 || below == 1 {
		return nil, 1, false, nil
	}
	ask := q.Limit + 1
	if slices.Contains(q.Kinds, KindTake) {
		ask = lookLimit
	}
	for range looks {
		p, err := s.Ledger.Feed.ListEvents(ctx, &feedv1.ListEventsRequest{
			Types: types, Limit: int32(ask), Before: below, Topic: defaultTopic,
		})
		if err != nil {
			return nil, 0, false, err
		}
		for _, e := range p.GetEvents() {
			if len(out) > q.Limit {
				return out, below, true, nil
			}
			below = e.GetSeq()
			if k := kinds[e.GetType()]; k != KindTake || takes(e) {
				out = append(out, Item{Kind: k, At: ledgerclient.Time(e.GetAt()), Event: e})
			}
		}
		if len(p.GetEvents()) < ask {
			return out, 1, false, nil
		}
		if len(out) > q.Limit {
			break
		}
	}
	return out, below, below > 1, nil
}

// moves returns the price moves of at least bigMove that earlier pages have not shown, newest first. It returns none if q does
// not contain KindMove.
func (s *Service) moves(ctx context.Context, q Query) ([]Item, error) {
	if !slices.Contains(q.Kinds, KindMove) {
		return nil, nil
	}
	list, err := s.Ledger.Wire.ListMoves(ctx, &wirev1.ListMovesRequest{Window: string(protocol.Window1h), Limit: maxMoves})
	if err != nil {
		return nil, err
	}
	var out []Item
	for _, m := range list.GetMoves() {
		if isBig(m) {
			out = append(out, Item{Kind: KindMove, At: ledgerclient.Time(m.GetDetectedAt()), Move: m})
		}
	}
	slices.SortFunc(out, func(a, b Item) int {
		return cmp.Or(b.At.Compare(a.At), cmp.Compare(b.Move.GetMarketId(), a.Move.GetMarketId()))
	})
	return slices.DeleteFunc(out, func(i Item) bool {
		at := i.At.UnixMicro()
		return q.From.MoveAt != 0 && (at > q.From.MoveAt || at == q.From.MoveAt && i.Move.GetMarketId() >= string(q.From.MoveID))
	}), nil
}

// titles returns, by id, the markets of items whose event contains no title.
func (s *Service) titles(ctx context.Context, items []Item) (map[string]*marketv1.Market, error) {
	var ids []string
	for i := range items {
		if e := items[i].Event; e.GetMarketId() != "" && items[i].Kind != KindSignal && items[i].Kind != KindSegment {
			ids = append(ids, e.GetMarketId())
		}
	}
	if len(ids) == 0 {
		return nil, nil
	}
	slices.Sort(ids)
	r, err := s.Ledger.Markets.ListMarkets(ctx, &marketv1.ListMarketsRequest{Ids: slices.Compact(ids)})
	out := make(map[string]*marketv1.Market, len(r.GetMarkets()))
	for _, m := range r.GetMarkets() {
		out[m.GetId()] = m
	}
	return out, err
}
