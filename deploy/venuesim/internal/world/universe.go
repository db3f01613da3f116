package world

import (
	"math"
	"strconv"
	"sync"
	"time"
)

// firstInvented is the number below the invented markets.
const firstInvented = 2_000_000

// epoch is the start of the first events. Numbers grow from here and stay below firstCreated until after 2050.
var epoch = time.Date(2025, 1, 1, 0, 0, 0, 0, time.UTC).Unix()

// An invented market trades for overtime seconds after its end. Then its outcome is proposed, and it is final finalAfter
// seconds after its end, or after finalAfterDispute seconds if it is disputed.
const (
	overtime          = 60
	finalAfter        = 180
	finalAfterDispute = 3660
)

// place is a series of events: when the markets of one end, the next one begins.
type place struct {
	kind     *kind
	first    int // index of its first market
	size     int // markets of each event
	lifetime int64
	phase    int64
}

// universe invents markets from a seed and the time, and nothing else: simulators with one seed agree on every question, price
// and outcome at every moment. A finished market can be read at any later time although none is stored.
type universe struct {
	seed   uint64
	places []place
	seats  []int // index of a market to index of its place

	mu      sync.Mutex
	stories map[storyKey]*story // of the present events; a cache
}

type storyKey struct {
	place      int
	generation int64
}

// newUniverse returns a universe with at least size markets open at any moment, and fewer than ten more.
func newUniverse(seed uint64, size int) *universe {
	total := 0
	for _, k := range stories.Kinds {
		total += k.Weight
	}
	u := &universe{seed: seed, stories: map[storyKey]*story{}}
	for len(u.seats) < size {
		i := len(u.places)
		d := roll(seed, 1, uint64(i))
		p := place{first: len(u.seats)}
		n := d.IntN(total)
		for _, k := range stories.Kinds {
			if n -= k.Weight; n < 0 {
				p.kind = k
				break
			}
		}
		lifetimes := stories.Lifetimes[p.kind.Lifetime]
		p.size, p.lifetime = d.between(p.kind.Least, p.kind.Most), lifetimes[d.IntN(len(lifetimes))]
		p.phase = d.Int64N(p.lifetime) / 300 * 300
		u.places = append(u.places, p)
		for range p.size {
			u.seats = append(u.seats, i)
		}
	}
	return u
}

// generation returns the number of the event that a place has at a Unix time.
func (p *place) generation(unix int64) int64 { return (unix-epoch-p.phase)/p.lifetime + 1 }

// get returns a present or past market.
func (u *universe) get(id int64, now time.Time) (Market, bool) {
	n, total := id-firstInvented, int64(len(u.seats))
	if n < 0 || id >= firstCreated {
		return Market{}, false
	}
	key := storyKey{u.seats[n%total], n / total}
	p := &u.places[key.place]
	if key.generation > p.generation(now.Unix()) {
		return Market{}, false
	}
	return u.market(key, int(n%total)-p.first, now), true
}

// each calls yield with the markets of the present events and of those before them, until yield returns false.
func (u *universe) each(now time.Time, yield func(Market) bool) {
	for i := range u.places {
		generation := u.places[i].generation(now.Unix())
		for _, g := range []int64{generation, generation - 1} {
			for index := range u.places[i].size {
				if g >= 0 && !yield(u.market(storyKey{i, g}, index, now)) {
					return
				}
			}
		}
	}
}

func (u *universe) market(key storyKey, index int, now time.Time) Market {
	s := u.story(key)
	c := &s.markets[index]
	start, end := c.course.start, c.course.end
	m := Market{
		ID: s.event.First + int64(index), Event: s.event, EventIndex: index, Candidate: c.candidate,
		Question: c.question, Description: s.description, Slug: c.slug, Labels: c.labels, Tags: s.tags,
		Start: time.Unix(start, 0).UTC(), End: time.Unix(end, 0).UTC(), Status: Status{State: Open}, Path: c.course.at,
	}
	age := min(max(float64(now.Unix()-start)/float64(end-start), 0), 1)
	age = float64(int(age*100)) / 100
	m.Volume = cents(c.volume * (0.2 + 0.8*age))
	m.Volume24h = cents(c.volume * min(86_400/float64(end-start), 1) * c.pace)
	m.Liquidity = cents(c.volume * (0.04 + 0.1*c.pace))
	if past := now.Unix() - end; past >= overtime {
		m.Status = c.status(m.End, past)
	}
	m.Price = c.course.at(now.Unix())
	return m
}

// status returns the status of a market some seconds after its end.
func (c *chapter) status(end time.Time, past int64) Status {
	final := int64(finalAfter)
	if c.disputed {
		final = finalAfterDispute
	}
	s := Status{State: Proposed, Outcome: c.outcome, ChangedAt: end.Add(overtime * time.Second)}
	switch {
	case past >= final:
		s.State, s.ChangedAt = Resolved, end.Add(time.Duration(final)*time.Second)
	case c.disputed && past > final/4:
		s.State = Disputed
	}
	return s
}

// story returns the text of an event.
func (u *universe) story(key storyKey) *story {
	u.mu.Lock()
	defer u.mu.Unlock()
	if s, ok := u.stories[key]; ok {
		return s
	}
	if len(u.stories) > 4*len(u.places) {
		clear(u.stories)
	}
	s := u.newStory(key)
	u.stories[key] = s
	return s
}

func (u *universe) newStory(key storyKey) *story {
	p := &u.places[key.place]
	start := epoch + p.phase + (key.generation-1)*p.lifetime
	end := start + p.lifetime
	d := roll(u.seed, 2, uint64(key.place), uint64(key.generation))
	s := p.kind.write(d, p.size, time.Unix(end, 0).UTC())
	s.event.First = firstInvented + key.generation*int64(len(u.seats)) + int64(p.first)
	s.event.ID = strconv.FormatInt(20_000+key.generation*int64(len(u.places))+int64(key.place), 10)
	s.event.Slug, s.event.Group = Slug(s.event.Title, 60)+"-"+s.event.ID, p.size > 1
	odds, winner := s.odds(d)
	volume := min(4000/math.Pow(1-d.Float64(), 4.0/3), 9e7) // most are small and a few are very large
	for i := range s.markets {
		c := &s.markets[i]
		c.slug = Slug(c.question, 70) + "-" + strconv.FormatInt(s.event.First+int64(i), 10)
		c.outcome = No
		pull := -1.0
		switch {
		case !s.event.Exclusive && d.chance(0.012):
			c.outcome, pull = Invalid, 0
		case i == winner || !s.event.Exclusive && d.chance(odds[i]):
			c.outcome, pull = Yes, 1
		}
		c.disputed = d.chance(0.02)
		c.volume, c.pace = volume*(0.3+d.Float64())/float64(i+1), 0.2+0.8*d.Float64()
		c.course = newCourse(mix(u.seed, uint64(s.event.First)+uint64(i)), odds[i], start, end, pull)
	}
	return s
}

// odds draws the odds of the markets. In an exclusive event they add up to about one, and at most one market wins.
func (s *story) odds(d *dice) (odds []float64, winner int) {
	odds, winner = make([]float64, len(s.markets)), -1
	left, drawn := 1.0, d.Float64()
	for i := range odds {
		if !s.event.Exclusive {
			odds[i] = 0.04 + 0.92*d.Float64()
			continue
		}
		odds[i] = max(left*(0.25+0.5*d.Float64()), 0.006)
		if drawn >= 1-left && drawn < 1-left+odds[i] {
			winner = i
		}
		left = max(left-odds[i], 0)
	}
	return odds, winner
}

// cents cuts an amount to whole cents.
func cents(v float64) float64 { return float64(int64(v*100)) / 100 }
