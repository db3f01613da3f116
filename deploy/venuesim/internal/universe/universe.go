package universe

import (
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/signalcast/signalcast/deploy/venuesim/internal/world"
)

// Size is the usual number of markets that are open at any moment, give or take
// the size of one event.
const Size = 3000

// firstID leaves room below for records of other origin.
const firstID = 2_000_000

// epoch is when the first events began; ids grow from here on and stay below
// world.FirstCreated for longer than this century's first half.
var epoch = time.Date(2025, 1, 1, 0, 0, 0, 0, time.UTC).Unix()

// After its end a market goes on trading, then an outcome is proposed, then it
// is final. A few are challenged first and take longer.
const (
	overtime   = 60
	finalAfter = 180
	challenged = 3600
)

// place is one event's seat in the universe.
type place struct {
	kind     kind
	first    int // index of its first market
	size     int // markets in the event
	lifetime int64
	phase    int64
}

// Universe is a world.Source. It is safe for concurrent use.
type Universe struct {
	seed   uint64
	places []place
	seats  []int // market index -> place
	total  int64

	mu    sync.Mutex
	texts map[eventKey]*story
}

type eventKey struct {
	place      int
	generation int64
}

// New lays out the universe of a seed, of the usual size.
func New(seed uint64) *Universe { return Sized(seed, Size) }

// Sized lays out a universe with about that many markets open at any moment.
func Sized(seed uint64, size int) *Universe {
	u := &Universe{seed: seed, texts: map[eventKey]*story{}}
	for len(u.seats) < size {
		i := len(u.places)
		d := roll(seed, 1, uint64(i))
		p := place{kind: drawKind(d), first: len(u.seats)}
		p.size = p.kind.size(d)
		p.lifetime = p.kind.lifetimes[d.below(len(p.kind.lifetimes))]
		p.phase = int64(d.next() % uint64(p.lifetime))
		p.phase -= p.phase % 60
		if p.lifetime == hour {
			p.phase = int64(5 * 60 * d.below(12))
		}
		u.places = append(u.places, p)
		for range p.size {
			u.seats = append(u.seats, i)
		}
	}
	u.total = int64(len(u.seats))
	return u
}

// generation is which event sits at a place at a second of Unix time.
func (p place) generation(unix int64) int64 { return (unix-epoch-p.phase)/p.lifetime + 1 }

func (p place) span(generation int64) (start, end int64) {
	start = epoch + p.phase + (generation-1)*p.lifetime
	return start, start + p.lifetime
}

// Get finds a market of the present or of the past; the future is unknown.
func (u *Universe) Get(id int64, now time.Time) (world.Market, bool) {
	n := id - firstID
	if n < 0 || id >= world.FirstCreated {
		return world.Market{}, false
	}
	index, gen := n%u.total, n/u.total
	i := u.seats[index]
	if gen > u.places[i].generation(now.Unix()) {
		return world.Market{}, false
	}
	return u.market(eventKey{i, gen}, int(index)-u.places[i].first, now), true
}

// Range gives the present events and the ones just before them.
func (u *Universe) Range(now time.Time, yield func(world.Market) bool) {
	for i, p := range u.places {
		gen := p.generation(now.Unix())
		for _, g := range []int64{gen, gen - 1} {
			if g < 0 {
				continue
			}
			for child := range p.size {
				if !yield(u.market(eventKey{i, g}, child, now)) {
					return
				}
			}
		}
	}
}

// Lookup knows nothing: every identifier here can be read without a table.
func (u *Universe) Lookup(string) (int64, bool) { return 0, false }

func (u *Universe) market(key eventKey, child int, now time.Time) world.Market {
	p := u.places[key.place]
	s := u.story(key)
	c := s.children[child]
	start, end := p.span(key.generation)
	id := firstID + key.generation*u.total + int64(p.first+child)
	m := world.Market{
		ID: id, Event: s.event, Question: c.question, Description: s.description, SportsType: s.sports,
		Slug: c.slug, GroupTitle: c.group, GroupIndex: child, Outcomes: c.outcomes, Tags: s.tags,
		Start: time.Unix(start, 0).UTC(), End: time.Unix(end, 0).UTC(), State: world.Open,
		NegRisk: s.event.NegRisk, Placeholder: c.placeholder,
	}
	if c.placeholder {
		m.Price = world.One / 2
		if now.Unix() >= end {
			m.State, m.ChangedAt = world.Closed, m.End
		}
		return m
	}
	m.Path = c.course.at
	age := min(max(float64(now.Unix()-start)/float64(p.lifetime), 0), 1)
	age = float64(int(age*100)) / 100
	m.Volume = cents(c.volume * (0.2 + 0.8*age))
	m.Volume24h = cents(c.volume * min(86400/float64(p.lifetime), 1) * c.pace)
	m.Liquidity = cents(c.volume * (0.04 + 0.1*c.pace))
	m.Price = m.Path(now.Unix())
	conclude(&m, c, end, now)
	return m
}

// conclude puts a market past its end where the clock says it stands.
func conclude(m *world.Market, c child, end int64, now time.Time) {
	past := now.Unix() - end - overtime
	final := int64(finalAfter - overtime)
	if c.disputed {
		final = challenged
	}
	switch {
	case past < 0:
		return
	case past < final && c.disputed && past > final/4:
		m.State = world.Disputed
	case past < final:
		m.State = world.Proposed
	default:
		m.State = world.Resolved
	}
	m.Verdict = c.verdict
	m.ChangedAt = time.Unix(end+overtime, 0).UTC()
	if m.State == world.Resolved {
		m.ChangedAt = m.ChangedAt.Add(time.Duration(final) * time.Second)
	}
}

// story keeps the words of the events that are on, within a bound; they can
// always be told again.
func (u *Universe) story(key eventKey) *story {
	u.mu.Lock()
	defer u.mu.Unlock()
	if s, ok := u.texts[key]; ok {
		return s
	}
	if len(u.texts) > 4*len(u.places) {
		clear(u.texts)
	}
	s := u.tell(key)
	u.texts[key] = s
	return s
}

func (u *Universe) tell(key eventKey) *story {
	p := u.places[key.place]
	start, end := p.span(key.generation)
	d := roll(u.seed, 2, uint64(key.place), uint64(key.generation))
	s := p.kind.write(d, p.size, time.Unix(end, 0).UTC())
	s.tags = tagsOf(p.kind.tags, s.extraTags)
	eventID := 20_000 + key.generation*int64(len(u.places)) + int64(key.place)
	s.event.ID = strconv.FormatInt(eventID, 10)
	s.event.Slug = world.Slug(s.event.Title, 60) + "-" + s.event.ID
	s.event.Children, s.event.Group, s.event.Tags = p.size, p.size > 1, s.tags
	s.event.Head = firstID + key.generation*u.total + int64(p.first)
	u.fate(s, d, start, end, u.seed^mix(uint64(key.place), uint64(key.generation)))
	for i := range s.children {
		id := firstID + key.generation*u.total + int64(p.first+i)
		s.children[i].slug = world.Slug(s.children[i].question, 70) + "-" + strconv.FormatInt(id, 10)
	}
	return s
}

// fate draws odds, outcomes and money. In a one-winner event the odds of the
// markets add up to about one and one market wins.
func (u *Universe) fate(s *story, d *dice, start, end int64, seed uint64) {
	size := len(s.children)
	money := d.pareto(4000, 0.75, 9e7)
	odds := make([]float64, size)
	left := 1.0
	for i := range odds {
		odds[i] = 0.04 + 0.92*d.unit()
		if s.event.NegRisk {
			odds[i] = max(left*(0.25+0.5*d.unit()), 0.006)
			left = max(left-odds[i], 0)
		}
	}
	winner, draw := -1, d.unit()
	for i := range odds {
		if draw < odds[i] && winner < 0 && s.event.NegRisk {
			winner = i
		}
		draw -= odds[i]
	}
	for i := range s.children {
		c := &s.children[i]
		if c.placeholder {
			continue
		}
		c.verdict = world.No
		if i == winner || !s.event.NegRisk && d.chance(odds[i]) {
			c.verdict = world.Yes
		}
		if !s.event.NegRisk && d.chance(0.012) {
			c.verdict = world.Invalid
		}
		c.disputed = d.chance(0.02)
		c.volume = money * (0.3 + d.unit()) / float64(i+1)
		c.pace = 0.2 + 0.8*d.unit()
		pull := map[world.Verdict]float64{world.Yes: 1, world.No: -1}[c.verdict]
		c.course = newCourse(mix(seed, uint64(i)), odds[i], start, end, pull)
	}
}

func cents(v float64) float64 {
	return float64(int64(v*100)) / 100
}

func tagsOf(lists ...[]string) []world.Tag {
	var out []world.Tag
	for _, list := range lists {
		for _, label := range list {
			slug := world.Slug(label, 40)
			out = append(out, world.Tag{
				ID: strconv.FormatUint(mix(uint64(len(slug)), strHash(slug))%200_000+1, 10), Label: label, Slug: slug,
			})
		}
	}
	return out
}

func strHash(s string) uint64 {
	h := uint64(0)
	for _, b := range []byte(strings.ToLower(s)) {
		h = mix(h, uint64(b))
	}
	return h
}
