package world

import (
	"math"
	"strconv"
	"sync"
	"time"
)

// firstInvented is the lowest number of an invented market.
const firstInvented = 2_000_000

// epoch is the start time of the first events. Numbers of markets increase with time. With 100,000 open markets, they stay
// below firstCreated for a thousand years.
var epoch = time.Date(2025, 1, 1, 0, 0, 0, 0, time.UTC).Unix()

// Times of an invented market, in seconds after its end. At the time overtime, trading ends and an outcome is proposed. The
// outcome is final at the time finalAfter, or at the time finalAfterDispute if it is disputed.
const (
	overtime          = 60
	finalAfter        = 180
	finalAfterDispute = 3660
)

// eventSeries is a series of events. When the markets of one event end, the next event starts.
type eventSeries struct {
	kind     *kind
	first    int   // index of its first market
	size     int   // number of markets of each event
	lifetime int64 // seconds of each event
	phase    int64 // seconds from epoch to the start of an event
}

// universe derives invented markets only from a seed and the time. Simulators with the same seed have the same questions,
// prices and outcomes at any time. Finished markets stay readable although universe does not store them.
type universe struct {
	seed     uint64
	series   []eventSeries
	seriesOf []int // index of the series by the index of a market

	mu      sync.Mutex
	stories map[storyKey]*story // cache of the current events
}

type storyKey struct {
	series     int
	generation int64
}

// newUniverse returns a universe in which at least size and fewer than size+10 markets are open at any time.
func newUniverse(seed uint64, size int) *universe {
	total := 0
	for _, k := range stories.Kinds {
		total += k.Weight
	}
	u := &universe{seed: seed, stories: map[storyKey]*story{}}
	for len(u.seriesOf) < size {
		i := len(u.series)
		d := roll(seed, 1, uint64(i))
		p := eventSeries{first: len(u.seriesOf)}
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
		u.series = append(u.series, p)
		for range p.size {
			u.seriesOf = append(u.seriesOf, i)
		}
	}
	return u
}

// generation returns the number of the event that the series shows at a Unix time in seconds.
func (p *eventSeries) generation(unix int64) int64 { return (unix-epoch-p.phase)/p.lifetime + 1 }

// get returns a current or past market by its number. The result is false for a future or unknown market.
func (u *universe) get(id int64, now time.Time) (Market, bool) {
	n, total := id-firstInvented, int64(len(u.seriesOf))
	if n < 0 || id >= firstCreated {
		return Market{}, false
	}
	key := storyKey{u.seriesOf[n%total], n / total}
	p := &u.series[key.series]
	if key.generation > p.generation(now.Unix()) {
		return Market{}, false
	}
	return u.market(key, int(n%total)-p.first, now), true
}

// each calls the function yield for each market of the current and the previous event of each series. It stops when yield
// returns false.
func (u *universe) each(now time.Time, yield func(Market) bool) {
	for i := range u.series {
		generation := u.series[i].generation(now.Unix())
		for _, g := range []int64{generation, generation - 1} {
			for index := range u.series[i].size {
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

// status returns the status of a market. The parameter past is the number of seconds since the end of the market.
func (c *storyMarket) status(end time.Time, past int64) Status {
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

// story returns the story of an event, from the cache if possible.
func (u *universe) story(key storyKey) *story {
	u.mu.Lock()
	defer u.mu.Unlock()
	if s, ok := u.stories[key]; ok {
		return s
	}
	if len(u.stories) > 4*len(u.series) {
		clear(u.stories)
	}
	s := u.newStory(key)
	u.stories[key] = s
	return s
}

func (u *universe) newStory(key storyKey) *story {
	p := &u.series[key.series]
	start := epoch + p.phase + (key.generation-1)*p.lifetime
	end := start + p.lifetime
	d := roll(u.seed, 2, uint64(key.series), uint64(key.generation))
	s := p.kind.write(d, p.size, time.Unix(end, 0).UTC())
	s.event.First = firstInvented + key.generation*int64(len(u.seriesOf)) + int64(p.first)
	s.event.ID = strconv.FormatInt(20_000+key.generation*int64(len(u.series))+int64(key.series), 10)
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

// odds returns random probabilities for the markets of a story. In an exclusive event they add up to about one, and at most one
// market ends as YES. winner is the index of that market, or -1.
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

// cents truncates an amount to whole cents.
func cents(v float64) float64 { return float64(int64(v*100)) / 100 }
