package message

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/signalcast/signalcast/pkg/testkit"
)

// payloadFile is the content of a file of test vectors: the payload schemas, and payloads that are valid or invalid under them.
type payloadFile struct {
	Schemas  map[string]map[string]any `json:"schemas"`
	Payloads []payloadVector           `json:"payloads"`
}

// payloadVector is a payload that other implementations of JSON Schema can also check.
type payloadVector struct {
	Schema  string          `json:"schema"`
	Valid   bool            `json:"valid"`
	Name    string          `json:"name"`
	Payload json.RawMessage `json:"payload"`
}

// TestPayloadVectors checks the examples of the schemas and slightly invalid payloads, and that the file of test vectors is
// current.
func TestPayloadVectors(t *testing.T) {
	t.Parallel()
	out := payloadFile{Schemas: map[string]map[string]any{}}
	add := func(s shape, valid bool, name string, payload any) {
		raw, err := json.Marshal(payload)
		if err != nil {
			t.Fatal(err)
		}
		canonical, err := Canonical(raw)
		if err != nil {
			t.Fatal(err)
		}
		if s.accepts(t, payload) != valid {
			t.Errorf("%s, %s: valid is not %v", s.name, name, valid)
		}
		out.Schemas[s.file] = s.schema
		out.Payloads = append(out.Payloads, payloadVector{Schema: s.file, Valid: valid, Name: name, Payload: canonical})
	}
	for _, s := range shapes(t) {
		for _, e := range s.schema["examples"].([]any) {
			add(s, true, "example", e)
		}
		example := s.schema["examples"].([]any)[0].(map[string]any)
		add(s, false, "unknown member", edited(example, "memo", ""))
		add(s, false, "nothing", map[string]any{})
		required, _ := s.schema["required"].([]any)
		for _, name := range required {
			add(s, false, "without "+name.(string), edited(example, name.(string), nothing))
		}
		if s.attested {
			continue // members that both types have are tested with the other type
		}
		for _, miss := range nearMisses[s.of] {
			for _, v := range miss.wrong {
				add(s, false, miss.member+" beyond", edited(example, miss.member, v))
			}
			for _, v := range miss.right {
				add(s, true, miss.member+" at its bound", edited(example, miss.member, v))
			}
		}
	}
	text, err := json.Marshal(out)
	if err != nil {
		t.Fatal(err)
	}
	testkit.Golden(t, payloadVectors, text)
}

type missing struct{}

var nothing missing

// edited returns a copy of a payload with one member set or removed.
func edited(example map[string]any, name string, v any) map[string]any {
	c := map[string]any{}
	for k, old := range example {
		c[k] = old
	}
	c[name] = v
	if v == any(nothing) {
		delete(c, name)
	}
	return c
}

type miss struct {
	member       string
	right, wrong []any
}

func letters(n int) string { return strings.Repeat("é", n) }

const (
	scheme  = "https://a.example/"
	maxLink = 500
)

var (
	link500   = scheme + strings.Repeat("a", maxLink-len(scheme))
	badLinks  = []any{"http://a.example", "https://u@a.example/", "https://a.example/ b", "https://", 1, nil}
	goodLinks = []any{"https://a.example", "https://a.example:8443/x?y#z"}
	badIDs    = []any{"polymarket:1", "0701122", "", "kalshi-", "native-..", "manifold-" + strings.Repeat("a", 120), 701122}
	goodIDs   = []any{"1", "kalshi-KX:1.a_b-c", "lmt-a", "manifold-" + strings.Repeat("a", 119)}
	badTimes  = []any{"2026-02-29T00:00:00Z", "2026-11-30", "2026-11-30T23:00:00", "2026-11-30T24:00:00Z", "2026-11-30t23:00:00z", 1789732800000, nil}
	goodTimes = []any{"2028-02-29T00:00:00Z", "2026-11-30T23:00:00.123456789+05:30"}
	calls     = []miss{
		{"priceBps", []any{0, 10000}, []any{-1, 10001, 0.5, "1", nil}},
		{"confidence", []any{1, 100}, []any{0, 101}},
		{"take", []any{"", letters(500), "a\nb"}, []any{letters(501), "a\x00", nil}},
		{"marketTitle", []any{"", letters(300)}, []any{letters(301), "a\nb"}},
		{"marketId", goodIDs, badIDs},
		{"eventId", nil, []any{"701122"}},
		{"position", []any{"YES", "NO"}, []any{"yes", "INVALID", true, nil}},
		{"signal", nil, []any{"NO"}},
	}
	stations = []miss{
		{"stationId", []any{"abc", strings.Repeat("a", 32)}, []any{"ab", strings.Repeat("a", 33), "Abc", "a_b", nil}},
		{"name", []any{"a", letters(64)}, []any{"", " ", letters(65), "a\tb", nil}},
		{"url", append([]any{link500}, goodLinks...), append([]any{link500 + "a"}, badLinks...)},
		{"lanes", []any{[]any{}}, []any{[]any{"OTHER", "OTHER"}, []any{"other"}, "OTHER", nil}},
		{"providers", []any{[]any{"limitless"}}, []any{[]any{"native"}, []any{nil}}},
		{"description", []any{"", letters(280)}, []any{letters(281)}},
	}
)

// nearMisses lists, for the first example of each type, values at and beyond the limits of its members.
var nearMisses = map[Type][]miss{
	ProfileUpdate: {
		{
			"displayName",
			[]any{"a", letters(64), "\U0001f469\u200d\U0001f680", "a\u00a0b"},
			[]any{"", "  ", letters(65), "a\x7f", "a\u2028", "a\u0085", "a\u202eb", "a\u2066", "\u00a0", "\u200b\ufeff", nil},
		},
		{"bio", []any{"", letters(280)}, []any{letters(281), nil}},
		{"avatar", append([]any{nil}, goodLinks...), badLinks[:5]},
		{"links", []any{[]any{}}, []any{[]any{"http://a.example"}, []any{1, 2, 3, 4, 5, 6}}},
		{"payoutAddress", []any{nil}, []any{"", "0x" + strings.Repeat("a", 39), "0x" + strings.Repeat("g", 40), strings.Repeat("a", 42)}},
	},
	StationCreate: stations,
	StationUpdate: append([]miss{{"status", []any{"active"}, []any{"pending", "suspended", nil}}}, stations[:1]...),
	BroadcastCreate: {
		{"title", []any{"a", letters(120)}, []any{"", letters(121), nil}},
		{"marketId", goodIDs, badIDs},
		{"scheduledFor", goodTimes, badTimes},
		{"lane", []any{"OTHER"}, []any{"other", nil}},
	},
	BroadcastGoLive: {
		{"broadcastId", nil, []any{"1", strings.ToUpper(passport), nil}},
		{"url", []any{"https://a.example/.m3u8", "https://a.example/a.m3u8?x=1"}, []any{"https://a.example/a.m3u8#x", "https://a.example/a.mp4", "https://a.example?.m3u8", "http://a.example/a.m3u8"}},
		{"label", []any{"", letters(80), " 👩\u200d🚀 "}, []any{letters(81), " ", "a\u200d", "\u200b", "a\nb", "\u202ea"}},
	},
	SignalCreate:     calls,
	PredictionCreate: calls,
	MarketCreate: {
		{"question", []any{letters(10), letters(200)}, []any{letters(9), letters(201), nil}},
		{"cutoffAt", goodTimes, badTimes},
		{"lane", []any{"OTHER"}, []any{"ANY", nil}},
		{"description", []any{"", letters(4000)}, []any{letters(4001)}},
		{"resolutionSource", goodLinks, badLinks},
		{"initialYesBps", []any{100, 9900}, []any{99, 9901, 5000.5}},
	},
	ResolutionCreate: {
		{"marketId", []any{"native-a"}, []any{"701122", "kalshi-A", "native-"}},
		{"verdict", []any{"YES", "NO", "INVALID"}, []any{"VOID", "yes", nil}},
		{"proofUrl", goodLinks, badLinks},
		{"reason", []any{"", letters(500)}, []any{letters(501)}},
	},
}
