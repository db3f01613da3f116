package program

import (
	"encoding/json"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/signalcast/signalcast/pkg/protocol"
	programv1 "github.com/signalcast/signalcast/proto/program/v1"
)

// Limits of a programme query: segments, and bytes of spec.
const (
	DefaultLimit = 200
	MaxLimit     = 400
	maxSpec      = 2 << 10
)

// Query selects a programme. It is normalized, so that equivalent queries are equal and share a cache entry.
type Query struct {
	Preset    string // default, hot, resolving or close
	Spec      string // FilterSpec as JSON, which overrides the preset; empty: none
	Providers string // list with commas in the order of protocol.Providers; empty: all
	Limit     int
	Lanes     bool
}

// Request returns the request for the programme to the clock.
func (q Query) Request() *programv1.GetProgramRequest {
	r := &programv1.GetProgramRequest{Preset: q.Preset, Spec: q.Spec, Limit: int32(q.Limit)}
	if q.Providers != "" {
		r.Providers = strings.Split(q.Providers, ",")
	}
	return r
}

// Segments returns the segments of a lane of p. It ignores an index outside the programme.
func Segments(p *programv1.Program, lane *programv1.Lane) []*programv1.Segment {
	all := p.GetSegments()
	out := make([]*programv1.Segment, 0, len(lane.GetSegments()))
	for _, i := range lane.GetSegments() {
		if i >= 0 && int(i) < len(all) {
			out = append(out, all[i])
		}
	}
	return out
}

// filter is a FilterSpec; nil members are absent.
type filter struct {
	Categories      []string `json:"categories,omitempty"`
	MinVolume       *float64 `json:"minVolume,omitempty"`
	MaxVolume       *float64 `json:"maxVolume,omitempty"`
	MinYes          *float64 `json:"minYes,omitempty"`
	MaxYes          *float64 `json:"maxYes,omitempty"`
	MaxResolveHours *float64 `json:"maxResolveHours,omitempty"`
	TopPerCategory  *float64 `json:"topPerCategory,omitempty"`
}

// ParseQuery parses the query parameters: a preset, a `spec` whose members override the preset, and single members that
// override both. A member of the wrong type or range counts as absent.
func ParseQuery(get func(name string) string) Query {
	q := Query{
		Preset:    parsePreset(get("preset")),
		Providers: parseProviders(get("providers")),
		Limit:     protocol.Limit(get("limit"), DefaultLimit, MaxLimit),
		Lanes:     get("lanes") != "0",
	}
	f := parseSpec(get("spec"))
	if list := categories(strings.Split(get("categories"), ",")); list != nil {
		f.Categories = list
	}
	for name, member := range f.members() {
		if n, err := strconv.ParseFloat(get(name), 64); err == nil {
			member.set(n)
		}
	}
	f.order()
	if text, err := json.Marshal(f); err == nil && len(text) > len("{}") {
		q.Spec = string(text)
	}
	return q
}

// member is a numeric member of a filter with its range.
type member struct {
	at        **float64
	low, high float64
	whole     bool
}

func (m member) set(n float64) {
	if math.IsNaN(n) || n < m.low || n > m.high || m.whole && n != math.Trunc(n) {
		return
	}
	*m.at = &n
}

func (f *filter) members() map[string]member {
	return map[string]member{
		"minVolume":       {&f.MinVolume, 0, math.MaxFloat64, false},
		"maxVolume":       {&f.MaxVolume, 0, math.MaxFloat64, false},
		"minYes":          {&f.MinYes, 0, 100, false},
		"maxYes":          {&f.MaxYes, 0, 100, false},
		"maxResolveHours": {&f.MaxResolveHours, math.SmallestNonzeroFloat64, 8760, false},
		"topPerCategory":  {&f.TopPerCategory, 1, 50, true},
	}
}

// order removes an upper bound that is below the lower bound.
func (f *filter) order() {
	if f.MinVolume != nil && f.MaxVolume != nil && *f.MinVolume > *f.MaxVolume {
		f.MaxVolume = nil
	}
	if f.MinYes != nil && f.MaxYes != nil && *f.MinYes > *f.MaxYes {
		f.MaxYes = nil
	}
}

func parseSpec(raw string) *filter {
	f := &filter{}
	var given map[string]any
	if len(raw) > maxSpec || json.Unmarshal([]byte(raw), &given) != nil {
		return f
	}
	if list, ok := given["categories"].([]any); ok {
		var words []string
		for _, v := range list {
			if s, ok := v.(string); ok {
				words = append(words, s)
			}
		}
		f.Categories = categories(words)
	}
	for name, member := range f.members() {
		if n, ok := given[name].(float64); ok {
			member.set(n)
		}
	}
	return f
}

func parsePreset(raw string) string {
	switch raw {
	case "hot", "resolving", "close":
		return raw
	}
	return "default"
}

func parseProviders(raw string) string {
	names := strings.Split(raw, ",")
	var known []string
	for _, p := range protocol.Providers {
		if slices.Contains(names, string(p)) {
			known = append(known, string(p))
		}
	}
	return strings.Join(known, ",")
}

// contentLanes maps lanes of the programme to content lanes.
var contentLanes = map[string]protocol.Lane{
	"sports": protocol.LaneSport, "music": protocol.LaneMusic, "film": protocol.LaneEntertainment, "tv": protocol.LaneEntertainment,
	"fashion": protocol.LaneCulture, "culture": protocol.LaneCulture, "crypto": protocol.LaneCrypto, "politics": protocol.LanePolitics,
	"news": protocol.LaneWorld, "science": protocol.LaneScience, "tech": protocol.LaneTech, "economy": protocol.LaneEconomy,
}

// ContentLane returns the content lane of a lane of the programme; OTHER for an unknown one.
func ContentLane(key string) protocol.Lane {
	if l, ok := contentLanes[key]; ok {
		return l
	}
	return protocol.LaneOther
}

// isLane reports whether a word is the key of a lane of the programme.
func isLane(word string) bool { return contentLanes[word] != "" }

// isCategory reports whether the clock accepts a word as a category: a lane of the programme, or a content lane in
// lower case.
func isCategory(word string) bool {
	lane := func(l protocol.Lane) bool { return word == strings.ToLower(string(l)) }
	return isLane(word) || slices.ContainsFunc(protocol.Lanes[:], lane)
}

// categories returns the words that are categories, sorted and without repetition; nil without one.
func categories(words []string) []string {
	var known []string
	for _, word := range words {
		word = strings.ToLower(strings.TrimSpace(word))
		if isCategory(word) && !slices.Contains(known, word) {
			known = append(known, word)
		}
	}
	slices.Sort(known)
	return known
}
