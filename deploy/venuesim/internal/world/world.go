package world

import (
	"cmp"
	"errors"
	"hash/fnv"
	"maps"
	"slices"
	"strconv"
	"sync"
	"time"
)

// firstCreated is the lowest number of markets that tests create.
const firstCreated int64 = 1_000_000_000_000

// maxMoves is the maximum number of price changes that are stored for each market. Only tests make these changes.
const maxMoves = 64

// Errors of World.Change.
var (
	ErrNotFound  = errors.New("market not found")
	ErrNoOutcome = errors.New("state resolved requires an outcome")
)

// Change describes a change that a test makes to a market. Nil and empty members change nothing.
type Change struct {
	Price  *Price // removes Book
	Spread *Price // removes Book
	Book   *Top   // its middle becomes the price if both sides have orders
	// Status is applied if its State is set. A zero ChangedAt means now. If ClosedAt is zero and EndsTrading is set, ChangedAt
	// becomes the end of trading, unless trading has ended before.
	Status
	EndsTrading bool
}

// changes contains the changes that tests have made to one market.
type changes struct {
	prices []move // ascending by time; a price is valid from its time on
	status *Status
	spread *Price
	book   *Top
}

type move struct {
	at    int64
	price Price
}

// World contains the markets of one venue: invented or recorded markets, and markets that tests created. It applies to them
// the changes that tests make. It is safe for concurrent use.
type World struct {
	seed     uint64
	universe *universe // nil with recorded markets
	now      func() time.Time

	mu      sync.RWMutex
	markets map[int64]Market // recorded and created markets
	order   []int64          // numbers of markets in the order of their creation
	keys    map[string]int64 // recorded keys, conditions, tokens, slugs, and events' slugs to their first market
	groups  map[string][]int64
	changes map[int64]*changes
	version uint64
}

// New returns a world. It contains the recorded markets or, if recorded is nil, at least size open invented markets. The
// parameter seed determines all invented data. The function now is the clock of the world.
func New(seed uint64, size int, recorded []Market, now func() time.Time) *World {
	w := &World{
		seed: seed, now: now,
		markets: map[int64]Market{}, keys: map[string]int64{}, groups: map[string][]int64{}, changes: map[int64]*changes{},
	}
	if recorded == nil {
		w.universe = newUniverse(seed, size)
	}
	for _, m := range recorded {
		w.addRecorded(m)
	}
	return w
}

// addRecorded adds a recorded market. It ignores a market whose number or key another market has.
func (w *World) addRecorded(m Market) {
	if m.ID == 0 {
		m.ID = int64(len(w.order)) + 1
	}
	if _, twice := w.markets[m.ID]; twice || m.Key != "" && w.keys[m.Key] != 0 {
		return
	}
	m.Event.First = m.ID
	if w.addToGroup(&m); m.EventIndex == 0 {
		w.keys[m.Event.Slug] = m.ID
	}
	w.markets[m.ID] = m
	for _, key := range append([]string{m.Key, m.ConditionID, m.Slug}, m.Tokens...) {
		if key != "" {
			w.keys[key] = m.ID
		}
	}
}

// addToGroup adds a market to the event with the slug m.Event.Slug. If this event already has markets, m gets the data of the
// event from the first of them.
func (w *World) addToGroup(m *Market) {
	members := w.groups[m.Event.Slug]
	if len(members) > 0 {
		m.Event, m.EventIndex = w.markets[members[0]].Event, len(members)
	}
	w.groups[m.Event.Slug] = append(members, m.ID)
	w.order = append(w.order, m.ID)
}

// Now returns the current time of the world in UTC.
func (w *World) Now() time.Time { return w.now().UTC() }

// Version returns a number that increases whenever a market is created or changed.
func (w *World) Version() uint64 {
	w.mu.RLock()
	defer w.mu.RUnlock()
	return w.version
}

// Create adds a market and returns its number. Of the event, it uses only the title: markets with the same title belong to one
// event, and a market without a title has a separate event.
func (w *World) Create(m Market) int64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	m.ID, m.State = firstCreated+w.created(), Open
	if m.Start.IsZero() {
		m.Start = w.Now().Truncate(time.Microsecond)
	}
	m.Volume24h, m.Liquidity = m.Volume/10, m.Volume/5
	m.Slug = Slug(m.Question, 80) + "-" + strconv.FormatInt(m.ID, 10)
	group, slug := m.Event.Title != "", "created-"+Slug(m.Event.Title, 60)
	if !group {
		slug = m.Slug
	}
	sum := fnv.New64a()
	_, _ = sum.Write([]byte(slug))
	m.Event = Event{
		ID: strconv.FormatUint(5_000_000_000+sum.Sum64()%4_000_000_000, 10), Slug: slug, Title: cmp.Or(m.Event.Title, m.Question),
		First: m.ID, Group: group,
	}
	w.addToGroup(&m)
	w.markets[m.ID] = m
	w.version++
	return m.ID
}

// created returns the number of markets that tests have created.
func (w *World) created() int64 {
	if n := len(w.order); n > 0 && w.order[n-1] >= firstCreated {
		return w.order[n-1] - firstCreated + 1
	}
	return 0
}

// Change applies c to the market with this number, from now on. Errors: ErrNotFound, ErrNoOutcome.
func (w *World) Change(id int64, c Change) error {
	now := w.Now()
	w.mu.Lock()
	defer w.mu.Unlock()
	m, ok := w.find(id, now)
	if !ok {
		return ErrNotFound
	}
	next := &changes{}
	if old := w.changes[id]; old != nil {
		*next = *old
	}
	if c.State != "" || c.Outcome != "" {
		status := c.following(m.Status, now)
		if status.State == Resolved && status.Outcome == "" {
			return ErrNoOutcome
		}
		next.status = &status
	}
	next.quote(c, now)
	w.changes[id] = next
	w.version++
	return nil
}

// following returns the status of a market after the change. The parameter before is its status until now.
func (c *Change) following(before Status, now time.Time) Status {
	if c.State == "" {
		before.Outcome = c.Outcome
		return before
	}
	next := c.Status
	next.ChangedAt = cmp.Or(c.ChangedAt, now).UTC()
	if c.State != Open && c.State != Closed {
		next.Outcome = cmp.Or(c.Outcome, before.Outcome)
	}
	switch {
	case c.State == Open:
		next.ClosedAt = time.Time{}
	case !c.ClosedAt.IsZero():
	case c.EndsTrading && (before.ClosedAt.IsZero() || before.ClosedAt.After(next.ChangedAt)):
		next.ClosedAt = next.ChangedAt
	default:
		next.ClosedAt = before.ClosedAt
	}
	return next
}

// quote applies the price, the spread or the order book of c. The price is valid from now on.
func (o *changes) quote(c Change, now time.Time) {
	if c.Price != nil || c.Spread != nil || c.Book != nil {
		o.book = c.Book
	}
	if c.Spread != nil {
		o.spread = c.Spread
	}
	if c.Book != nil && c.Price == nil && c.Book.Bid > 0 && c.Book.Ask < One {
		middle := (c.Book.Bid + c.Book.Ask) / 2
		c.Price = &middle
	}
	if c.Price != nil {
		o.prices = append(slices.Clone(o.prices[max(len(o.prices)-maxMoves+1, 0):]), move{now.Unix(), *c.Price})
	}
}

// Get returns the market with this number. The result is false if there is none.
func (w *World) Get(id int64) (Market, bool) {
	w.mu.RLock()
	defer w.mu.RUnlock()
	m, ok := w.find(id, w.Now())
	if !ok {
		return m, false
	}
	if m.ConditionID == "" {
		m.ConditionID, m.QuestionID = w.condition(m.ID), w.questionID(m.ID)
	}
	if m.Tokens == nil {
		for i := range m.Labels {
			m.Tokens = append(m.Tokens, w.token(m.ID, i))
		}
	}
	return m, true
}

// find returns a market without the identifiers that Get derives. The caller must hold the lock.
func (w *World) find(id int64, now time.Time) (Market, bool) {
	m, ok := w.markets[id]
	if !ok && w.universe != nil {
		m, ok = w.universe.get(id, now)
	}
	if ok {
		w.changes[id].apply(&m, now)
	}
	return m, ok
}

// Members returns the markets of the event whose first market has this number, or nil if there is no such event.
func (w *World) Members(first int64) (out []Market) {
	m, ok := w.Get(first)
	if !ok || m.Event.First != first {
		return nil
	}
	w.mu.RLock()
	numbers := w.groups[m.Event.Slug]
	w.mu.RUnlock()
	if numbers == nil {
		for n := first; ok && m.Event.First == first; n++ {
			out = append(out, m)
			m, ok = w.Get(n + 1)
		}
		return out
	}
	for _, n := range numbers {
		m, _ := w.Get(n)
		out = append(out, m)
	}
	return out
}

// Each calls the function yield for each current and recently ended market. It stops when yield returns false. The markets
// lack the identifiers that Get derives.
func (w *World) Each(yield func(*Market) bool) {
	now := w.Now()
	w.mu.RLock()
	order, changed := w.order[:len(w.order):len(w.order)], maps.Clone(w.changes)
	w.mu.RUnlock()
	for _, id := range order {
		w.mu.RLock()
		m := w.markets[id]
		w.mu.RUnlock()
		if changed[id].apply(&m, now); !yield(&m) {
			return
		}
	}
	if w.universe != nil {
		w.universe.each(now, func(m Market) bool {
			changed[m.ID].apply(&m, now)
			return yield(&m)
		})
	}
}

// apply applies the changes that tests have made to m, a copy of a market, and sets its price at the time now. If m has no
// Path, apply first sets a constant one. If o is nil, it changes nothing else.
func (o *changes) apply(m *Market, now time.Time) {
	if m.Path == nil {
		fixed := m.Price
		m.Path = func(int64) Price { return fixed }
	}
	if o == nil {
		return
	}
	m.Changed = true
	if o.status != nil {
		m.Status = *o.status
	}
	if len(o.prices) > 0 || o.spread != nil || o.book != nil {
		m.Book = o.book
	}
	if o.spread != nil {
		m.Spread = o.spread
	}
	if len(o.prices) > 0 {
		before := m.Path
		m.Path = func(unix int64) Price {
			for _, p := range slices.Backward(o.prices) {
				if p.at <= unix {
					return p.price
				}
			}
			return before(unix)
		}
	}
	m.Price = m.Path(m.LastPriceAt(now).Unix())
	if (m.State == Proposed || m.State == Disputed) && len(o.prices) == 0 {
		m.Price = m.Outcome.expected(m.Price)
	}
}

// expected returns the price at which YES trades after the outcome is proposed. The parameter p is the price before the
// proposal.
func (o Outcome) expected(p Price) Price {
	switch o {
	case Yes:
		return One - 500
	case No:
		return 500
	case Invalid:
		return One / 2
	}
	return p
}
