package world

import (
	"errors"
	"maps"
	"slices"
	"strconv"
	"sync"
	"time"
)

// Source is where markets come from when no test created them.
type Source interface {
	// Get finds a market by its number, whatever its state.
	Get(id int64, now time.Time) (Market, bool)
	// Range calls yield with the markets worth listing now, until it answers false.
	Range(now time.Time, yield func(Market) bool)
	// Lookup finds the number behind a condition id, token or slug that IDs
	// cannot read because it was not made by IDs.
	Lookup(key string) (id int64, ok bool)
}

// FirstCreated is the lowest number of a created market: above every number
// that a Source gives.
const FirstCreated int64 = 1_000_000_000

// Bounds on what tests may put into one simulator.
const (
	maxCreated  = 200_000
	maxChanged  = 200_000
	maxPriceLog = 64
)

// Faults of a change.
var (
	ErrFull      = errors.New("the simulator holds as many markets as it may")
	ErrNoMarket  = errors.New("no such market")
	ErrNoVerdict = errors.New("a resolved market needs an outcome")
)

// Draft is a market to be created.
type Draft struct {
	Question, Description, Category string
	EventTitle                      string
	Outcomes                        []string
	Tags                            []Tag
	Start                           time.Time // zero for now
	End                             time.Time
	Price                           Micros
	Volume                          float64
	Kind                            string
	Creator                         string
	Spread                          *Micros
	Book                            *Top
}

// Change is what a test alters on a market; nil and empty members stay as they are.
type Change struct {
	Price   *Micros // ends a Book
	Spread  *Micros // ends a Book
	Book    *Top    // its middle becomes the price, when both sides have orders
	State   State
	Verdict Verdict
	At      time.Time // when State was reached; zero for now
	Ends    bool      // State ends trading, unless it has ended before
	Closed  time.Time // when trading ended; zero: with Ends, when State was reached
	Word    string    // see Market; goes with the state and leaves with it
	Form    string
	Payout  *Micros
}

type pricePoint struct {
	at    int64
	price Micros
}

type overlay struct {
	prices    []pricePoint // rising in time; a price holds from its moment on
	state     State
	verdict   Verdict
	changedAt time.Time
	closedAt  time.Time
	spread    *Micros
	book      *Top
	word      string
	form      string
	payout    *Micros
}

// World joins one source with what tests created and changed. It is safe for
// concurrent use.
type World struct {
	IDs    IDs
	source Source
	now    func() time.Time

	mu       sync.RWMutex
	created  []Market // index = ID - FirstCreated
	groups   map[string][]int64
	overlays map[int64]*overlay
	version  uint64
}

// New builds a world over a source; seed feeds the identifiers of what is
// created, now is the clock of every answer.
func New(source Source, seed uint64, now func() time.Time) *World {
	return &World{IDs: IDs{Seed: seed}, source: source, now: now, overlays: map[int64]*overlay{}, groups: map[string][]int64{}}
}

// Now is the world's clock.
func (w *World) Now() time.Time { return w.now().UTC() }

// Version grows with every creation and change, so that listings can be kept
// between them.
func (w *World) Version() uint64 {
	w.mu.RLock()
	defer w.mu.RUnlock()
	return w.version
}

// Create adds a market and gives its number.
func (w *World) Create(d Draft) (int64, error) {
	now := w.Now()
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.created) >= maxCreated {
		return 0, ErrFull
	}
	id := FirstCreated + int64(len(w.created))
	m := Market{
		ID: id, Question: d.Question, Description: d.Description, Category: d.Category,
		Outcomes: d.Outcomes, Tags: d.Tags, Start: now.Truncate(time.Microsecond), End: d.End, State: Open,
		Price: d.Price, Volume: d.Volume, Volume24h: d.Volume / 10, Liquidity: d.Volume / 5,
		Kind: d.Kind, Creator: d.Creator, Spread: d.Spread, Book: d.Book,
	}
	if !d.Start.IsZero() {
		m.Start = d.Start.UTC()
	}
	m.Slug = Slug(d.Question, 80) + "-" + strconv.FormatInt(id, 10)
	title, key := d.EventTitle, "created-"+Slug(d.EventTitle, 60)
	if title == "" {
		title, key = d.Question, m.Slug
	}
	m.Event = Event{ID: eventNumber(key), Slug: key, Title: title, Children: 1, Head: id, Group: d.EventTitle != "", Tags: d.Tags}
	if members := w.groups[m.Event.ID]; len(members) > 0 {
		m.Event = w.created[members[0]-FirstCreated].Event
		m.GroupIndex = len(members)
	}
	w.groups[m.Event.ID] = append(w.groups[m.Event.ID], id)
	w.created = append(w.created, m)
	w.version++
	return id, nil
}

// Change alters a market; the change holds from now on.
func (w *World) Change(id int64, c Change) error {
	now := w.Now()
	w.mu.Lock()
	defer w.mu.Unlock()
	base, ok := w.baseLocked(id, now)
	if !ok {
		return ErrNoMarket
	}
	old, existed := w.overlays[id]
	if !existed && len(w.overlays) >= maxChanged {
		return ErrFull
	}
	o := &overlay{}
	if existed {
		*o = *old
		o.prices = slices.Clone(old.prices)
	}
	if c.Verdict != "" {
		o.verdict = c.Verdict
	}
	if c.State != "" {
		verdict := o.verdict
		if verdict == "" {
			verdict = base.Verdict
		}
		if c.State == Resolved && verdict == "" {
			return ErrNoVerdict
		}
		o.state, o.changedAt = c.State, now
		if !c.At.IsZero() {
			o.changedAt = c.At.UTC()
		}
		switch {
		case c.State == Open:
			o.closedAt = time.Time{}
		case !c.Closed.IsZero():
			o.closedAt = c.Closed.UTC()
		case c.Ends && (o.closedAt.IsZero() || o.closedAt.After(o.changedAt)):
			o.closedAt = o.changedAt
		}
		o.word, o.form, o.payout = "", "", nil
		if c.State == Open || c.State == Closed {
			o.verdict = c.Verdict
		}
	}
	if c.Word != "" {
		o.word = c.Word
	}
	if c.Form != "" {
		o.form = c.Form
	}
	if c.Payout != nil {
		o.payout = c.Payout
	}
	if c.Price != nil || c.Spread != nil {
		o.book = nil
	}
	if c.Spread != nil {
		o.spread = c.Spread
	}
	if c.Book != nil {
		o.book = c.Book
		if middle := (c.Book.Bid + c.Book.Ask) / 2; c.Price == nil && c.Book.Bid > 0 && c.Book.Ask < One {
			c.Price = &middle
		}
	}
	if c.Price != nil {
		if len(o.prices) == maxPriceLog {
			o.prices = o.prices[1:]
		}
		o.prices = append(o.prices, pricePoint{now.Unix(), *c.Price})
	}
	w.overlays[id] = o
	w.version++
	return nil
}

// Get finds a market by its number.
func (w *World) Get(id int64) (Market, bool) {
	now := w.Now()
	w.mu.RLock()
	defer w.mu.RUnlock()
	m, ok := w.baseLocked(id, now)
	if !ok {
		return Market{}, false
	}
	m = dress(m, w.overlays[id], now)
	w.identify(&m)
	return m, true
}

// Find reads a condition id, a token or a slug.
func (w *World) Find(key string) (Market, bool) {
	if id, ok := w.source.Lookup(key); ok {
		return w.Get(id)
	}
	id, ok := w.IDs.FromCondition(key)
	if !ok {
		id, _, ok = w.IDs.FromToken(key)
	}
	if ok {
		return w.Get(id)
	}
	if id, ok = trailingNumber(key); !ok {
		return Market{}, false
	}
	m, ok := w.Get(id)
	return m, ok && m.Slug == key
}

// Recorded finds a recorded market by a key that its source knows.
func (w *World) Recorded(key string) (Market, bool) {
	id, ok := w.source.Lookup(key)
	if !ok {
		return Market{}, false
	}
	return w.Get(id)
}

// Range calls yield with every market worth listing, in no given order and
// without the derived identifiers: Get has those.
func (w *World) Range(yield func(Market) bool) {
	now := w.Now()
	w.mu.RLock()
	created := w.created[:len(w.created):len(w.created)]
	overlays := maps.Clone(w.overlays)
	w.mu.RUnlock()
	for _, m := range created {
		if !yield(dress(m, overlays[m.ID], now)) {
			return
		}
	}
	w.source.Range(now, func(m Market) bool {
		return yield(dress(m, overlays[m.ID], now))
	})
}

func (w *World) baseLocked(id int64, now time.Time) (Market, bool) {
	if id >= FirstCreated {
		i := id - FirstCreated
		if i >= int64(len(w.created)) {
			return Market{}, false
		}
		return w.created[i], true
	}
	return w.source.Get(id, now)
}

// identify fills in the identifiers that are derived from the market's number.
func (w *World) identify(m *Market) {
	if m.ConditionID == "" {
		m.ConditionID, m.QuestionID = w.IDs.Condition(m.ID), w.IDs.Question(m.ID)
	}
	if m.Tokens == nil && !m.Placeholder {
		m.Tokens = make([]string, len(m.Outcomes))
		for i := range m.Tokens {
			m.Tokens[i] = w.IDs.Token(m.ID, i)
		}
	}
}

// dress lays a test's changes over a market.
func dress(m Market, o *overlay, now time.Time) Market {
	if m.Path == nil {
		fixed := m.Price
		m.Path = func(int64) Micros { return fixed }
	}
	if o != nil {
		m.Patched = true
		if len(o.prices) > 0 || o.spread != nil || o.book != nil {
			m.Book = o.book
		}
		if o.spread != nil {
			m.Spread = o.spread
		}
		if len(o.prices) > 0 {
			m.Path = over(m.Path, o.prices)
			for _, p := range o.prices {
				m.Moves = append(m.Moves, p.at)
			}
		}
		if o.state != "" {
			m.State, m.Verdict, m.ChangedAt = o.state, o.verdict, o.changedAt
			m.Word, m.Form, m.Payout, m.ClosedAt = o.word, o.form, o.payout, o.closedAt
		} else if o.verdict != "" {
			m.Verdict = o.verdict
		}
		if len(o.prices) > 0 || m.Raw == nil {
			m.Price = m.Path(m.Until(now).Unix())
		}
		if (m.State == Proposed || m.State == Disputed) && len(o.prices) == 0 {
			m.Price = pinned(m.Verdict, m.Price)
		}
	}
	return m
}

func over(path Path, log []pricePoint) Path {
	return func(unix int64) Micros {
		for i := len(log) - 1; i >= 0; i-- {
			if log[i].at <= unix {
				return log[i].price
			}
		}
		return path(unix)
	}
}

// pinned is where trading leaves the price once an outcome is proposed.
func pinned(v Verdict, p Micros) Micros {
	switch v {
	case Yes:
		return One - 500
	case No:
		return 500
	case Invalid:
		return One / 2
	}
	return p
}
