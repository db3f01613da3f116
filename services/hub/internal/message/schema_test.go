package message

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf8"
)

// fits is a small reader of JSON Schema, written apart from the rules in Go: the
// keywords that the schemas use and no others, so that a new one fails here
// first. test/vectors asks a complete one.
func fits(t testing.TB, schema map[string]any, v any) bool {
	for keyword, want := range schema {
		if !keywordFits(t, schema, keyword, want, v) {
			return false
		}
	}
	return true
}

func keywordFits(t testing.TB, schema map[string]any, keyword string, want, v any) bool {
	text, isText := v.(string)
	number, isNumber := v.(float64)
	list, isList := v.([]any)
	members, isObject := v.(map[string]any)
	switch keyword {
	case "$schema", "title", "description", "examples":
		return true
	case "type":
		return typeFits(t, want.(string), v)
	case "enum":
		return slices.Contains(want.([]any), v)
	case "minLength":
		return !isText || utf8.RuneCountInString(text) >= int(want.(float64))
	case "maxLength":
		return !isText || utf8.RuneCountInString(text) <= int(want.(float64))
	case "pattern":
		return !isText || pattern(want.(string)).MatchString(text)
	case "format":
		_, err := time.Parse(time.RFC3339Nano, text)
		return !isText || want == "date-time" && err == nil
	case "minimum":
		return !isNumber || number >= want.(float64)
	case "maximum":
		return !isNumber || number <= want.(float64)
	case "maxItems":
		return !isList || len(list) <= int(want.(float64))
	case "uniqueItems":
		return !isList || !slices.ContainsFunc(list, func(a any) bool {
			return slices.IndexFunc(list, func(b any) bool { return reflect.DeepEqual(a, b) }) != lastIndex(list, a)
		})
	case "items":
		return !isList || !slices.ContainsFunc(list, func(e any) bool { return !fits(t, want.(map[string]any), e) })
	case "minProperties":
		return !isObject || len(members) >= int(want.(float64))
	case "required":
		return !isObject || !slices.ContainsFunc(want.([]any), func(name any) bool { _, there := members[name.(string)]; return !there })
	case "properties":
		for name, sub := range want.(map[string]any) {
			if value, there := members[name]; there && !fits(t, sub.(map[string]any), value) {
				return false
			}
		}
		return true
	case "additionalProperties":
		known := schema["properties"].(map[string]any)
		for name := range members {
			if _, there := known[name]; !there {
				return want.(bool)
			}
		}
		return true
	case "allOf", "anyOf", "oneOf":
		n := 0
		for _, sub := range want.([]any) {
			if fits(t, sub.(map[string]any), v) {
				n++
			}
		}
		return keyword == "allOf" && n == len(want.([]any)) || keyword == "anyOf" && n > 0 || keyword == "oneOf" && n == 1
	}
	t.Fatalf("the schemas use %s, which this reader does not know", keyword)
	return false
}

var patterns sync.Map

// pattern compiles each pattern once: there are some ten thousand cases.
func pattern(text string) *regexp.Regexp {
	if p, ok := patterns.Load(text); ok {
		return p.(*regexp.Regexp)
	}
	p, _ := patterns.LoadOrStore(text, regexp.MustCompile(text))
	return p.(*regexp.Regexp)
}

func lastIndex(list []any, v any) int {
	last := -1
	for i, e := range list {
		if reflect.DeepEqual(e, v) {
			last = i
		}
	}
	return last
}

func typeFits(t testing.TB, want string, v any) bool {
	switch v := v.(type) {
	case string:
		return want == "string"
	case float64:
		return want == "number" || want == "integer" && v == math.Trunc(v)
	case []any:
		return want == "array"
	case map[string]any:
		return want == "object"
	case nil:
		return want == "null"
	case bool:
		return want == "boolean"
	}
	t.Fatalf("%T", v)
	return false
}

// shape is one payload schema.
type shape struct {
	name     string
	file     string
	of       Type
	attested bool
	schema   map[string]any
}

func shapes(t testing.TB) []shape {
	t.Helper()
	var out []shape
	for _, name := range Types {
		for _, attested := range []bool{false, true} {
			raw, ok := Schema(name, attested)
			if plain, _ := Schema(name, false); attested && bytes.Equal(raw, plain) {
				continue
			}
			s := shape{name: fmt.Sprintf("%s attested %v", name, attested), file: string(name), of: name, attested: attested}
			if attested {
				s.file += ".attested"
			}
			if !ok || json.Unmarshal(raw, &s.schema) != nil {
				t.Fatalf("no schema of %s", s.name)
			}
			out = append(out, s)
		}
	}
	return out
}

// agree holds one payload against the rules in Go and against the schema.
func (s shape) agree(t testing.TB, payload any) (taken bool) {
	raw, err := json.Marshal(payload)
	if err != nil {
		t.Fatal(err)
	}
	canonical, err := Canonical(raw)
	if err != nil {
		t.Fatal(err)
	}
	var again any
	if err := json.Unmarshal(canonical, &again); err != nil {
		t.Fatal(err)
	}
	_, err = ReadPayload(s.of, canonical, s.attested)
	if err != nil && why(err) != "invalid_request payload" {
		t.Fatalf("%s: %v", s.name, err)
	}
	if bySchema := fits(t, s.schema, again); bySchema != (err == nil) {
		t.Errorf("%s: the schema says %v, the rules %v of\n%s", s.name, bySchema, err, canonical)
	}
	return err == nil
}

// odd are values that some member refuses and some other takes.
func odd() []any {
	many := func(s string, n int) string { return strings.Repeat(s, n) }
	out := []any{
		nil, true,
		map[string]any{},
		map[string]any{"a": 1},
		[]any{},
		[]any{nil},
		[]any{"POLITICS"},
		[]any{"POLITICS", "POLITICS"},
		[]any{"polymarket"},
		[]any{"POLITICS", "CRYPTO", "SPORT", "CULTURE", "MUSIC", "TECH", "ECONOMY", "SCIENCE", "WORLD", "ENTERTAINMENT", "OTHER"},
		[]any{"https://a.example"},
		[]any{"https://a.example", "https://a.example"},
		[]any{"http://a.example"},
		1.5, -1.0, 0.0, 1.0, 99.0, 100.0, 101.0,
		9900.0, 9901.0, 10000.0, 10001.0, 1e21, 9007199254740993.0, "", " ", "   ", "a", "NO", "no", "INVALID", "active", "app_token", "OTHER",
		"\x00", "a\x00", "a\nb", "a\tb", "\x7f", "a\u2028", "\u00a0", "a\u0085", "a\u202eb", "a\u2029", "a\u2069", "\u200b\u2060", "\ufeff", "\u3000", "\u2065", "\U0001f469\u200d\U0001f680", "é", "\U0001f600", "river-desk", "River", "ab", "abc", many("a", 33),
		passport, strings.ToUpper(passport), "701122", "0701122", "0", many("9", 20), many("9", 21), "kalshi-", "kalshi-A:b._-", "kalshi--", "lmt-x y",
		"native-01hv3q8m2r", "native-..", "manifold-" + many("a", 119), "manifold-" + many("a", 120), "polymarket:1", "٧",
		"0x" + many("aF", 20), "0x" + many("a", 39), "0X" + many("a", 40), "0x" + many("g", 40), many("\u212a", 42),
	}
	for _, unit := range []string{"a", "\U0001f600"} {
		for _, n := range []int{9, 10, 64, 65, 80, 81, 120, 121, 200, 201, 280, 281, 300, 301, 500, 501, 4000, 4001} {
			out = append(out, many(unit, n))
		}
	}
	for n := 1; n <= 6; n++ {
		out = append(out, slices.Repeat([]any{"https://a.example/"}, n))
	}
	out = append(out, oddLinks()...)
	for _, s := range []string{
		"2026-11-30T23:00:00Z", "2026-11-30T23:00:00.000Z", "2026-11-30T23:00:00.123456789Z", "2026-11-30T23:00:00.1234567891Z",
		"2026-11-30T23:00:00,5Z", "2026-11-30t23:00:00z", "2026-11-30 23:00:00Z", "2026-11-30T23:00:00", "2026-11-30", "2026-02-29T00:00:00Z",
		"2028-02-29T00:00:00Z", "2026-13-01T00:00:00Z", "2026-11-30T24:00:00Z", "2026-11-30T23:60:00Z", "2026-12-31T23:59:60Z", "2026-11-30T3:00:00Z",
		"2026-11-30T23:00:00+01:00", "2026-11-30T23:00:00-23:59", "2026-11-30T23:00:00+24:00", "2026-11-30T23:00:00+0100", "0999-01-01T00:00:00Z",
		"1000-01-01T00:00:00Z", "2999-12-31T23:59:59Z", "3000-01-01T00:00:00Z", "2026-11-30T23:00:00.Z", "+2026-11-30T23:00:00Z", "2026-11-30T23:00:00Z\n",
	} {
		out = append(out, s)
	}
	return out
}

func oddLinks() []any {
	var out []any
	for _, s := range []string{
		"https://a.example", "https://a.example/", "http://a.example", "HTTPS://a.example", "https:/a.example", "https://", "https:///x", "https://.a",
		"https://a.", "https://-a", "https://a-", "https://a..b", "https://user@a.example", "https://a.example:443", "https://a.example:", "https://a.example:123456",
		"https://a.example:x", "https://[::1]/", "https://a_b.example", "https://é.example", "https://a.example/é", "https://a.example/a b", "https://a.example\\@b",
		"https://a.example/\\", "https://a.example/\"", "https://a.example/<", "https://a.example/%20", "https://a.example?x=1", "https://a.example#f", "https://a.example/a#b#c",
		"https://a.example/a?b?c", "https://a.example:80:80", "https://a.example/[x]", "https://a.example/{x}", "https://a.example/x\x7f", "https://a.example/a\n",
		"javascript:alert(1)", "//a.example", "https://a.example/index.m3u8", "https://a.example/index.m3u8?x=1", "https://a.example/index.m3u8?x?.m3u8",
		"https://a.example/index.m3u8#x", "https://a.example/index.m3u8/", "https://a.example/.m3u8", "https://a.example.m3u8", "https://a.example?.m3u8",
		"https://a.example/x?y=.m3u8", "https://a.example/index.M3U8", "https://a.example:8443/a/b.m3u8", "https://a.example/a@b.m3u8", "https://a.m3u8/",
		"https://a.example/" + strings.Repeat("a", 482), "https://a.example/" + strings.Repeat("a", 483), "https://a.example/" + strings.Repeat("a", 477) + ".m3u8",
		"https://a.example/" + strings.Repeat("a", 478) + ".m3u8",
	} {
		out = append(out, s)
	}
	return out
}

// TestSchemas: every example is taken, and everything near an example is taken
// or refused by the schema and by the rules alike.
func TestSchemas(t *testing.T) {
	t.Parallel()
	values, taken, refused := odd(), 0, 0
	count := func(ok bool) {
		if ok {
			taken++
		} else {
			refused++
		}
	}
	for _, s := range shapes(t) {
		examples := s.schema["examples"].([]any)
		if len(examples) < 2 {
			t.Errorf("%s has %d examples", s.name, len(examples))
		}
		for i, e := range examples {
			example := e.(map[string]any)
			if !s.agree(t, example) {
				t.Errorf("%s refuses its example %v", s.name, example)
			}
			with := func(name string, v any) map[string]any {
				c := map[string]any{name: v}
				for k, old := range example {
					if k != name {
						c[k] = old
					}
				}
				return c
			}
			for name := range example {
				c := with(name, nil)
				delete(c, name)
				count(s.agree(t, c))
			}
			for _, name := range []string{"extra", "MarketId", "signalId", "resolver", "status", "filedAt", "stationID"} {
				count(s.agree(t, with(name, "x")))
			}
			if i > 0 {
				continue
			}
			for name := range s.schema["properties"].(map[string]any) {
				for _, v := range values {
					count(s.agree(t, with(name, v)))
				}
			}
		}
		for _, v := range values {
			count(s.agree(t, v))
		}
	}
	if taken < 1000 || refused < 5000 {
		t.Errorf("%d taken and %d refused: too few to say anything", taken, refused)
	}
}

// TestAttestedMembers is ruling 26: a client never says what the hub vouches for.
func TestAttestedMembers(t *testing.T) {
	t.Parallel()
	for _, s := range shapes(t) {
		plain := s
		plain.attested, plain.schema = false, nil
		raw, _ := Schema(s.of, false)
		if err := json.Unmarshal(raw, &plain.schema); err != nil {
			t.Fatal(err)
		}
		own := s.of == SignalCreate || s.of == PredictionCreate || s.of == ResolutionCreate
		for _, e := range s.schema["examples"].([]any) {
			if taken := plain.agree(t, e); taken == (own && s.attested) {
				t.Errorf("%s as a client's: taken %v: %v", s.name, taken, e)
			}
		}
	}
	if _, ok := Schema("signal.create.attested", false); ok {
		t.Error("a word that is no type has a schema")
	}
}

// Integrity P11: the patterns of the schemas and the rules in Go judge every character alike.
func TestPatternsJudgeEveryCharacterAsTheRules(t *testing.T) {
	t.Parallel()
	of := func(file, member string) *regexp.Regexp {
		raw, err := schemas.ReadFile("schemas/" + file + ".json")
		if err != nil {
			t.Fatal(err)
		}
		var s struct {
			Properties map[string]struct{ Pattern string }
		}
		if err := json.Unmarshal(raw, &s); err != nil {
			t.Fatal(err)
		}
		return pattern(s.Properties[member].Pattern)
	}
	for _, c := range []struct {
		file, member string
		rule         func(string) bool
	}{
		{"signal.create", "take", prose(500)},
		{"signal.create", "marketTitle", line(0, 300)},
		{"market.create", "question", line(1, 200)},
		{"profile.update", "displayName", name(1, 64)},
		{"broadcast.goLive", "label", nameOrNone(80)},
	} {
		p := of(c.file, c.member)
		for r := rune(0); r <= utf8.MaxRune; r++ {
			if r > 0x1fb00 && r < 0xe0000 && r&0xffff < 0xfff0 || !utf8.ValidRune(r) {
				continue // nothing is refused there but the ends of planes
			}
			if r > 0xe0100 && r&0xfff < 0xff0 {
				r |= 0xf00 // runs of one kind
			}
			for _, s := range []string{string(r), "a" + string(r) + "b"} {
				if p.MatchString(s) != c.rule(s) {
					t.Fatalf("%s: %q fits the schema: %v", c.member, s, p.MatchString(s))
				}
			}
		}
		for _, s := range []string{"", "a\r\nb", "a\rb", "\r\n", "👩\u200d🚀", "👩🏽\u200d🚀", "❤\ufe0f\u200d🔥", "👩\u200d", "\u200d👩", "👩\ufe0f\ufe0f\u200d👩", "👨\u200d👩\u200d👧b", "a\u200db"} {
			if p.MatchString(s) != c.rule(s) {
				t.Errorf("%s: %q fits the schema: %v", c.member, s, p.MatchString(s))
			}
		}
	}
}
