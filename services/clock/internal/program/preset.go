package program

import (
	"cmp"
	"fmt"
	"hash/fnv"
	"math"
	"slices"
	"strings"

	"github.com/signalcast/signalcast/pkg/protocol"
)

// Preset is the name of a predefined filter and sort order of markets.
type Preset string

// Names of the presets.
const (
	Default   Preset = "default"
	Hot       Preset = "hot"
	Resolving Preset = "resolving"
	Close     Preset = "close"
)

// Presets lists all presets.
var Presets = [...]Preset{Default, Hot, Resolving, Close}

// ParsePreset returns the preset with the name s, or Default for an unknown name.
func ParsePreset(s string) Preset {
	for _, p := range Presets {
		if string(p) == s {
			return p
		}
	}
	return Default
}

func given(v float64) bound { return bound{value: v, set: true} }

// spec returns the filter of the preset. lanes are the lanes of the default channel, which only the preset Default uses.
func (p Preset) spec(lanes laneSet) Spec {
	switch p {
	case Hot:
		return Spec{minVolume: given(10000), top: defaultTop}
	case Resolving:
		return Spec{maxHours: given(24), top: defaultTop}
	case Close:
		return Spec{minYes: given(40), maxYes: given(60), minVolume: given(1000), top: defaultTop}
	}
	return Spec{categories: lanes, minVolume: given(1000), top: defaultTop}
}

// compare orders two markets. The result is negative if a airs before b. Equal markets are ordered by the end of the market and
// its ID, so that all replicas use the same order.
func (p Preset) compare(a, b *Market) int {
	c := 0
	switch p {
	case Hot:
		c = cmp.Compare(b.DayVolume, a.DayVolume)
	case Resolving: // ordered only by the end of the market, below
	case Close:
		c = cmp.Or(cmp.Compare(fromMiddle(a.Yes), fromMiddle(b.Yes)), cmp.Compare(b.Volume, a.Volume))
	default:
		c = cmp.Or(first(a.Streams > 0, b.Streams > 0), first(a.Takes > 0, b.Takes > 0))
	}
	if c != 0 {
		return c
	}
	return cmp.Or(cmp.Compare(a.End, b.End), cmp.Compare(a.ID, b.ID))
}

func fromMiddle(yes protocol.Bps) int {
	d := int(yes) - int(protocol.MaxBps)/2
	return max(d, -d)
}

func first(a, b bool) int {
	switch {
	case a && !b:
		return -1
	case b && !a:
		return 1
	}
	return 0
}

// Query selects and orders the markets of a channel. It combines a preset with the filter members of a spec.
type Query struct {
	Preset    Preset
	Spec      Spec // filter of the preset, with the members that the caller sets
	Providers []protocol.Provider

	key     string
	channel string
}

// NewQuery returns the query of a preset, in which the members that spec sets replace those of the preset. It ignores unknown
// providers. Without a known provider, the query selects all providers. lanes are the lanes of the default channel.
func NewQuery(preset Preset, spec Spec, providers []string, lanes []Lane) Query {
	var set laneSet
	for _, l := range lanes {
		set = set.with(l)
	}
	base := preset.spec(set)
	q := Query{Preset: preset, Spec: spec.over(base), Providers: knownProviders(providers)}
	names := make([]string, len(q.Providers))
	for i, p := range q.Providers {
		names[i] = string(p)
	}
	q.key = string(preset) + "|" + q.Spec.Canonical() + "|" + strings.Join(names, ",")
	q.channel = string(preset)
	if spec != (Spec{}) || len(q.Providers) > 0 || preset == Default {
		// The channel name contains a hash of the query, so that segment ids of different queries never collide.
		h := fnv.New64a()
		_, _ = h.Write([]byte(q.key)) // writing to a hash never fails
		q.channel = fmt.Sprintf("%s-%016x", preset, h.Sum64())
	}
	return q
}

func knownProviders(names []string) []protocol.Provider {
	var out []protocol.Provider
	for _, p := range protocol.Providers {
		if slices.Contains(names, string(p)) {
			out = append(out, p)
		}
	}
	return out
}

// Key returns the cache key of the query. Equivalent queries have equal keys.
func (q *Query) Key() string { return q.key }

// Channel returns the channel name that is part of segment IDs.
func (q *Query) Channel() string { return q.channel }

// Lanes returns the lanes of the query in the order of laneTable.
func (q *Query) Lanes() []Lane { return q.lanes().lanes() }

func (q *Query) lanes() laneSet {
	if q.Spec.categories == 0 {
		return 1<<len(laneTable) - 1
	}
	return q.Spec.categories
}

// limits contains the bounds of a Query, converted to the units of Market, so that Pick converts them only once.
type limits struct {
	lanes                laneSet
	providers            []protocol.Provider
	minVolume, maxVolume float64
	minYes, maxYes       float64 // bps
	latestEnd            int64   // Unix milliseconds
}

func (q *Query) limits(nowMilli int64) limits {
	s := q.Spec
	l := limits{
		lanes: q.lanes(), providers: q.Providers,
		maxVolume: math.MaxFloat64, maxYes: float64(protocol.MaxBps), latestEnd: math.MaxInt64,
	}
	if s.minVolume.set {
		l.minVolume = s.minVolume.value
	}
	if s.maxVolume.set {
		l.maxVolume = s.maxVolume.value
	}
	if s.minYes.set {
		l.minYes = s.minYes.value * 100
	}
	if s.maxYes.set {
		l.maxYes = s.maxYes.value * 100
	}
	if s.maxHours.set {
		l.latestEnd = nowMilli + int64(s.maxHours.value*3600_000)
	}
	return l
}

// admits reports whether the market matches the filter. A market with an unknown volume matches any maximum volume, but no
// minimum volume above zero.
func (l *limits) admits(m *Market) bool {
	if !l.lanes.has(int(m.lane)) || m.End > l.latestEnd {
		return false
	}
	if m.Volume == Unknown {
		if l.minVolume > 0 {
			return false
		}
	} else if m.Volume < l.minVolume || m.Volume > l.maxVolume {
		return false
	}
	if yes := float64(m.Yes); yes < l.minYes || yes > l.maxYes {
		return false
	}
	return len(l.providers) == 0 || slices.Contains(l.providers, m.Provider)
}

// Channel is a channel of the feed for a preset, or for one content lane of a preset.
type Channel struct {
	Name   string // format: program:<preset>[:<LANE>]
	Preset Preset
	Lanes  []Lane // lanes of the content lane; empty: all lanes, of which the one with the highest priority is published
}

// Channels returns all channels of the feed: one for each preset, and one for each content lane of each preset.
func Channels() []Channel {
	var out []Channel
	for _, p := range Presets {
		out = append(out, Channel{Name: p.feed(), Preset: p})
		var done []Lane
		for _, row := range laneTable {
			if slices.Contains(done, row.lane) {
				continue
			}
			c := Channel{Name: row.lane.feed(p), Preset: p}
			for _, other := range laneTable {
				if other.content == row.content {
					c.Lanes = append(c.Lanes, other.lane)
				}
			}
			done = append(done, c.Lanes...)
			out = append(out, c)
		}
	}
	return out
}

// feed returns the name of the feed channel of a preset.
func (p Preset) feed() string { return "program:" + string(p) }

// feed returns the name of a channel of the feed. The channel is for the preset p and for the content lane of the lane l.
func (l Lane) feed(p Preset) string { return p.feed() + ":" + string(laneTable[l.index()].content) }
