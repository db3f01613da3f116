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

// Limits of a programme query: number of segments, and bytes of the parameter spec.
const (
	DefaultLimit = 200
	MaxLimit     = 400
	maxSpec      = 2 << 10
)

// Query selects a programme. Its fields are normalized, so that equivalent queries are equal and share a cache entry.
type Query struct {
	Preset    string // default, hot, resolving or close
	Spec      string // filter as JSON, whose members override the preset; empty: none
	Providers string // comma-separated, in the order of protocol.Providers; empty: all
	Limit     int
	Lanes     bool
}

// Request returns the GetProgram request that the hub sends to the clock service for this query.
func (q Query) Request() *programv1.GetProgramRequest {
	r := &programv1.GetProgramRequest{Preset: q.Preset, Spec: q.Spec, Limit: int32(q.Limit)}
	if q.Providers != "" {
		r.Providers = strings.Split(q.Providers, ",")
	}
	return r
}

// Segments returns the segments of a lane of the programme p. It skips an invalid segment index.
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

// filter is a FilterSpec of the API, which selects the markets of a programme. A nil member is absent.
type filter struct {
	Categories      []string `json:"categories,omitempty"`
	MinVolume       *float64 `json:"minVolume,omitempty"`
	MaxVolume       *float64 `json:"maxVolume,omitempty"`
	MinYes          *float64 `json:"minYes,omitempty"`
	MaxYes          *float64 `json:"maxYes,omitempty"`
	MaxResolveHours *float64 `json:"maxResolveHours,omitempty"`
	TopPerCategory  *float64 `json:"topPerCategory,omitempty"`
}

// ParseQuery parses the query parameters of a programme. The members of the parameter spec override the preset. A parameter
// with the name of a member of spec, such as categories, overrides this member. A member of the wrong type or out of range
// counts as absent. The function get must return the value of a parameter, or "" if it is absent.
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

// member is a numeric member of a filter with its range. low and high are inclusive; whole requires an integer.
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

// order removes an upper limit that is below its lower limit.
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

// contentLanes maps lanes of the broadcast programme to content lanes of markets.
var contentLanes = map[string]protocol.Lane{
	"sports": protocol.LaneSport, "music": protocol.LaneMusic, "film": protocol.LaneEntertainment, "tv": protocol.LaneEntertainment,
	"fashion": protocol.LaneCulture, "culture": protocol.LaneCulture, "crypto": protocol.LaneCrypto, "politics": protocol.LanePolitics,
	"news": protocol.LaneWorld, "science": protocol.LaneScience, "tech": protocol.LaneTech, "economy": protocol.LaneEconomy,
}

// ContentLane returns the content lane of a lane of the broadcast programme. It returns OTHER for an unknown lane.
func ContentLane(key string) protocol.Lane {
	if l, ok := contentLanes[key]; ok {
		return l
	}
	return protocol.LaneOther
}

// isLane reports whether word is the key of a lane of the broadcast programme.
func isLane(word string) bool { return contentLanes[word] != "" }

// isCategory reports whether the clock accepts word as a category: a lane of the programme, or a content lane in lower case.
func isCategory(word string) bool {
	lane := func(l protocol.Lane) bool { return word == strings.ToLower(string(l)) }
	return isLane(word) || slices.ContainsFunc(protocol.Lanes[:], lane)
}

// categories returns the words that are categories, in lower case, sorted and without repetition. It returns nil if there are
// none.
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
