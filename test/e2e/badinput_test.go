package e2e

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/getkin/kin-openapi/openapi3"
)

// door is an operation that takes a JSON body.
type door struct {
	url    string
	who    func() option
	schema string    // what the description says of its body
	good   obj       // a body that it would take
	twist  []badCase // what no schema says
	soft   bool      // a body may be missing
}

// badCase is one body and the code that it earns.
type badCase struct {
	what, body, code string
}

func (d *door) raw(change func(obj)) string {
	body := maps.Clone(d.good)
	change(body)
	b, err := json.Marshal(body)
	if err != nil {
		panic(err) // a mistake in a test
	}
	return string(b)
}

// put is the good body with one member replaced by raw JSON.
func (d *door) put(name, value string) string {
	return d.raw(func(o obj) { o[name] = json.RawMessage(value) })
}

// cases derives from the description everything that is wrong with one member.
func (d *door) cases(t *testing.T) (out []badCase) {
	t.Helper()
	if d.schema == "" {
		return d.twist
	}
	doc, err := described()
	if err != nil {
		t.Fatal(err)
	}
	schema := doc.spec.Components.Schemas[d.schema].Value
	for _, name := range slices.Sorted(maps.Keys(schema.Properties)) {
		s := schema.Properties[name].Value
		bad := func(what, value string) {
			out = append(out, badCase{name + ": " + what, d.put(name, value), "invalid_" + snake(name)})
		}
		broken := func(what, body string) { out = append(out, badCase{name + ": " + what, body, "invalid_body"}) }
		if slices.Contains(schema.Required, name) {
			for what, body := range map[string]string{
				"missing": d.raw(func(o obj) { delete(o, name) }), "null": d.put(name, "null"),
				"in other case": d.raw(func(o obj) { o[strings.ToUpper(name)] = o[name]; delete(o, name) }),
				"first letter":  d.raw(func(o obj) { o[strings.ToUpper(name[:1])+name[1:]] = o[name]; delete(o, name) }),
			} {
				out = append(out, badCase{name + ": " + what, body, "missing_" + snake(name)})
			}
		}
		for kind, value := range map[string]string{"string": `"7x"`, "boolean": "true", "array": "[]", "object": "{}", "number": "1.5", "integer": "7"} {
			if !s.Type.Includes(kind) && (kind != "integer" || !s.Type.Includes("number")) && (kind != "array" || !s.Type.Includes("array")) {
				bad("a "+kind, value)
			}
		}
		sized(s, bad)
		good, err := json.Marshal(d.good[name])
		if err != nil {
			t.Fatal(err)
		}
		again := strings.TrimSuffix(d.raw(func(obj) {}), "}")
		broken("twice", again+`,"`+name+`":`+string(good)+`,"`+name+`":null}`)
		broken("NUL", d.put(name, `"a\u0000b"`))
		broken("NUL byte", strings.Replace(d.put(name, `"a~b"`), "a~b", "a\x00b", 1))
		broken("half a surrogate", d.put(name, `"\ud800"`))
		broken("not UTF-8", strings.Replace(d.put(name, `"a~b"`), "a~b", "a\xffb", 1))
		broken("no number", strings.Replace(d.put(name, `"a~b"`), `"a~b"`, "01", 1))
	}
	return append(out, d.twist...)
}

// sized adds what is out of bounds.
func sized(s *openapi3.Schema, bad func(what, value string)) {
	if s.Type.Includes("integer") {
		bad("below", fmt.Sprint(int64(*s.Min)-1))
		bad("above", fmt.Sprint(int64(*s.Max)+1))
		bad("minus zero", "-0")
		for _, value := range []string{"1e400", "9223372036854775808", "-9223372036854775809", "0.5", "1e-2"} {
			bad("number "+value, value)
		}
	}
	if len(s.Enum) > 0 {
		bad("no word of the list", `"MAYBE"`)
		bad("in other case", `"`+swapCase(fmt.Sprint(s.Enum[0]))+`"`)
	}
	if s.MaxLength != nil {
		bad("too long", `"`+strings.Repeat("é", int(*s.MaxLength)+1)+`"`)
	}
	if s.Pattern != "" {
		bad("of another form", `"<x y>"`)
	}
	if s.Items != nil && s.Items.Value != nil && len(s.Items.Value.Enum) > 0 {
		for what, value := range map[string]string{"empty": "[]", "unknown": `["fly"]`, "twice the same": `["read","read"]`, "not text": "[1]", "too many": `["read","signal","broadcast","read"]`} {
			bad(what, value)
		}
	}
}

func swapCase(s string) string {
	if s == strings.ToUpper(s) {
		return strings.ToLower(s)
	}
	return strings.ToUpper(s)
}

// snake writes a member as it stands in a code.
func snake(name string) string {
	var b strings.Builder
	for _, r := range name {
		if r >= 'A' && r <= 'Z' {
			b.WriteByte('_')
			r += 'a' - 'A'
		}
		b.WriteRune(r)
	}
	return b.String()
}

// shapes are bodies that are wrong as a whole, for every door.
func (d *door) shapes() []badCase {
	var out []badCase
	for what, body := range map[string]string{
		"a list": "[]", "text": `"x"`, "a number": "7", "null": "null", "half": `{"a":`, "two objects": "{} {}", "behind the end": "{}x",
		"a comment": "{/**/}", "single quotes": "{'a':1}", "a trailing comma": `{"a":1,}`, "too deep": strings.Repeat(`{"a":`, 33) + "1" + strings.Repeat("}", 33),
		"a byte order mark": "\ufeff{}", "twice, unknown": `{"zz":1,"zz":2}`, "twice, escaped": `{"zz":1,"z\u007a":2}`, "white space": " ",
	} {
		out = append(out, badCase{what, body, "invalid_body"})
	}
	if !d.soft {
		out = append(out, badCase{"nothing", "", "invalid_body"})
	}
	return out
}

// TestBadInput: every member of every body in every wrong form earns its exact
// code, and nothing of it is kept.
func TestBadInput(t *testing.T) {
	s := up(t)
	doors := s.doors(t)
	before := s.counts(t)
	n := 0
	for _, d := range doors {
		for _, c := range append(d.cases(t), d.shapes()...) {
			n++
			a := post(t, d.url, d.who(), payload(c.body))
			if a.status != http.StatusBadRequest || errorCode(a.body) != c.code {
				t.Errorf("%s: %s: %d %s, want 400 %s\n%.300s\n%s", d.url, c.what, a.status, errorCode(a.body), c.code, c.body, a.body)
			} else if field := fieldOf(a); strings.HasPrefix(c.code, "invalid_body") == (field != "") && c.code != "invalid_payload" {
				t.Errorf("%s: %s: field %q\n%s", d.url, c.what, field, a.body)
			}
		}
		d.envelopes(t)
	}
	after := s.counts(t)
	for name, want := range before {
		if got := after[name]; got != want {
			t.Errorf("%s: %s before, %s after", name, want, got)
		}
	}
	t.Logf("%d bodies", n)
}

func fieldOf(a *answer) string {
	var e struct{ Field string }
	a.into(&e)
	return e.Field
}

// envelopes are bodies that are not read at all.
func (d *door) envelopes(t *testing.T) {
	t.Helper()
	good := d.raw(func(obj) {})
	big := strings.TrimSuffix(good, "}") + `,"zz":"`
	big += strings.Repeat("x", 64<<10+1-len(big)-2) + `"}`
	post(t, d.url, d.who(), payload(big)).fails(http.StatusRequestEntityTooLarge, "payload_too_large")
	chunked := func(r *http.Request) { payload(big)(r); r.ContentLength = -1 }
	post(t, d.url, d.who(), chunked).fails(http.StatusRequestEntityTooLarge, "payload_too_large")
	for _, kind := range []string{"text/plain", "application/x-www-form-urlencoded", "application/json; charset=latin1", "application/jsonp", "multipart/form-data; boundary=x", "application"} {
		post(t, d.url, d.who(), with("Content-Type", kind), payload(good)).fails(http.StatusUnsupportedMediaType, "unsupported_media_type")
	}
	none := func(r *http.Request) { payload(good)(r); r.Header.Del("Content-Type") }
	post(t, d.url, d.who(), none).fails(http.StatusUnsupportedMediaType, "unsupported_media_type")
	post(t, d.url, d.who(), with("Content-Encoding", "gzip"), payload(good)).fails(http.StatusUnsupportedMediaType, "unsupported_media_type")
	full := strings.TrimSuffix(good, "}") + `,"zz":"`
	full += strings.Repeat("x", 64<<10-len(full)-2) + `"` // one byte short of the limit, and broken
	post(t, d.url, d.who(), with("Content-Type", "application/json; charset=UTF-8"), payload(full)).fails(http.StatusBadRequest, "invalid_body")
}

// counts are the rows of record.
func (s *stack) counts(t *testing.T) map[string]string {
	t.Helper()
	out := map[string]string{}
	for _, table := range []string{
		"api.signals", "api.signal_events", "api.signal_results", "api.market_resolutions", "api.market_disputes",
		"api.operator_keys", "api.users", "api.idempotency_keys", "api.markets WHERE provider = 'manual'",
	} {
		out[table] = s.row(t, "SELECT count(*)::text FROM "+table)
	}
	return out
}

// doors lists the operations with a body. Whoever asks has enough keys.
func (s *stack) doors(t *testing.T) []*door {
	t.Helper()
	market := s.native(t, 5000)
	owner := s.person(t)
	signal := owner.call(t, market, "YES", 5000)
	callers := []*person{s.person(t), owner}
	for _, p := range callers {
		p.fill(t)
	}
	logins := []*person{s.person(t), s.person(t), s.person(t)}
	turn := 0
	login := func() option { turn++; return logins[turn%len(logins)].login() }
	for _, p := range logins {
		get(t, s.Hub+"/api/dev/whoami", p.login()).is(http.StatusOK)
	}
	byKey := func(p *person) func() option { return func() option { return p.auth(t) } }
	in := func(d time.Duration) string { return `"` + stamp(time.Now().Add(d)) + `"` }
	key := obj{"label": "e2e", "permissions": []string{"read"}}
	draft := &door{
		url: s.Hub + "/api/admin/markets", who: s.admin, schema: "NativeMarketDraft",
		good: obj{"question": "Will it be a good year?", "cutoffAt": stamp(time.Now().AddDate(1, 0, 0)), "lane": "SCIENCE"},
	}
	for what, value := range map[string]string{"in the past": in(-time.Hour), "too near": in(4 * time.Minute), "too far": in(2*366*24*time.Hour + time.Hour), "a day": `"2027-01-01"`, "no zone": `"2027-01-01T00:00:00"`, "no time": `"soon"`} {
		draft.twist = append(draft.twist, badCase{"cutoffAt " + what, draft.put("cutoffAt", value), "invalid_cutoff_at"})
	}
	for value, code := range map[string]string{`"2026-12-01T00:00:00Z"`: "invalid_resolves_by", `"never"`: "invalid_resolves_by"} {
		draft.twist = append(draft.twist, badCase{"resolvesBy " + value, draft.put("resolvesBy", value), code})
	}
	draft.twist = append(draft.twist,
		badCase{"question short", draft.put("question", `"Will it?"`), "invalid_question"},
		badCase{"resolutionSource plain", draft.put("resolutionSource", `"http://gauge.example"`), "invalid_resolution_source"},
		badCase{"resolutionSource script", draft.put("resolutionSource", `"javascript:alert(1)"`), "invalid_resolution_source"},
	)
	return []*door{
		{url: s.Hub + "/api/predictions", who: byKey(callers[0]), schema: "SignalDraft", good: obj{"marketId": market, "direction": "YES", "priceAtPrediction": 5000}},
		{url: s.Hub + "/api/dev/keys", who: login, schema: "KeyMint", good: key},
		{url: s.API + "/api/v1/agent/keys", who: login, schema: "KeyMint", good: key},
		{url: s.Hub + "/api/resolution/finalize", who: s.admin, schema: "Finalize", good: obj{"marketId": market, "verdict": "YES"}},
		{url: s.Hub + "/api/resolution/dispute", who: s.admin, schema: "Dispute", good: obj{"marketId": market}},
		{url: s.Hub + "/api/admin/resolve-signals", who: s.admin, schema: "Force", good: obj{"marketId": market, "outcome": "YES"}, soft: true},
		{url: s.Hub + "/api/admin/operators", who: s.admin, schema: "Classify", good: obj{"handle": owner.user}},
		draft,
		s.eventDoor(byKey(owner), signal),
	}
}

// eventDoor is the one whose body is several bodies.
func (s *stack) eventDoor(who func() option, signal string) *door {
	d := &door{url: s.Hub + "/api/signals/" + signal + "/events", who: who, schema: "", good: obj{"type": "note", "payload": obj{"text": "x"}}}
	for body, code := range map[string]string{
		`{}`: "missing_type", `{"type":null}`: "missing_type", `{"TYPE":"reaffirm"}`: "missing_type", `{"type":""}`: "missing_type",
		`{"type":7}`: "invalid_type", `{"type":"resolved"}`: "invalid_type", `{"type":"Take"}`: "invalid_type", `{"type":["take"]}`: "invalid_type",
	} {
		d.twist = append(d.twist, badCase{body, body, code})
	}
	long := strings.Repeat("é", 501)
	for _, bad := range []string{
		`"take"`, `"take","payload":null`, `"take","payload":{}`, `"take","payload":[]`, `"take","payload":"x"`, `"take","payload":{"text":""}`, `"take","payload":{"TEXT":"x"}`,
		`"take","payload":{"text":7}`, `"take","payload":{"text":"` + long + `"}`, `"take","payload":{"mediaAssetId":"` + long[:402] + `"}`, `"take","payload":{"mediaAssetId":7}`,
		`"take","payload":{"url":"ftp://x.example"}`, `"take","payload":{"url":"javascript:alert(1)"}`, `"take","payload":{"url":"//x.example"}`,
		`"take","payload":{"url":"https://u:p@x.example"}`, `"take","payload":{"url":"https://x.example/` + long[:1000] + `"}`, `"take","payload":{"url":"https://x.example/a b"}`,
		`"reaffirm","payload":{"text":"x"}`, `"reaffirm","payload":[]`,
		`"confidence"`, `"confidence","payload":{}`, `"confidence","payload":{"confidence":0}`, `"confidence","payload":{"confidence":101}`, `"confidence","payload":{"confidence":"50"}`, `"confidence","payload":{"confidence":1.5}`,
		`"note"`, `"note","payload":{"text":""}`, `"note","payload":{"text":"` + long + `"}`, `"note","payload":{"text":null}`,
		`"share","payload":{"channel":"` + long[:82] + `"}`, `"share","payload":{"channel":7}`, `"share","payload":7`,
	} {
		d.twist = append(d.twist, badCase{bad, `{"type":` + bad + `}`, "invalid_payload"})
	}
	for _, bad := range []string{`{"type":"note","type":"note","payload":{"text":"x"}}`, `{"type":"note","payload":{"text":"x","text":"y"}}`, `{"type":"note","payload":{"text":"a\u0000b"}}`} {
		d.twist = append(d.twist, badCase{bad, bad, "invalid_body"})
	}
	return d
}

// fill gives a person several keys before rows are counted.
func (p *person) fill(t *testing.T) {
	t.Helper()
	for range 8 {
		key, _ := p.mint(t, "e2e")
		p.spare = append(p.spare, key)
	}
}

// TestIgnoredMembers: what is no member of ours, or one in other case, is neither
// refused nor kept.
func TestIgnoredMembers(t *testing.T) {
	t.Parallel()
	s := up(t)
	p := s.person(t)
	id := p.call(t, s.native(t, 5000), "YES", 5000, obj{
		"TEXTTAKE": 7, "Confidence": "high", "MediaAssetID": []int{1}, "handle": "somebody_else", "privyId": "did:idp:other", "status": "won", "score": 99,
		"source": "carrier pigeon", "reach": 1_000_000_000, "confidence": nil, "crowdLeanBps": 4000, "createdAt": "2020-01-01T00:00:00.000Z", "id": "0199f0a4-0000-7000-8000-00000000ffff",
	})
	s.signal(t, id).has(obj{"textTake": nil, "confidence": nil, "callsign": p.user, "status": "pending", "score": nil, "source": "web", "id": id})
	if reach := s.row(t, "SELECT reach::text FROM api.signals WHERE id = $1", id); reach != "100000" {
		t.Errorf("reach %s", reach)
	}
	for _, source := range []string{"mobile", "embed", "farcaster", "web"} {
		s.signal(t, p.call(t, s.native(t, 5000), "YES", 5000, obj{"source": source})).has(obj{"source": source})
	}
	// The largest that is taken: every text in characters, not bytes.
	market := s.native(t, 5000)
	title := get(t, s.Hub+"/api/m/"+market).is(http.StatusOK).str("question")
	full := p.call(t, market, "NO", 5000, obj{
		"textTake": strings.Repeat("é", 500), "marketTitle": strings.Repeat("語", 300), "channelId": strings.Repeat("c", 64),
		"mediaAssetId": strings.Repeat("m", 200), "confidence": 100, "crowdYesAtSignal": 10000, "timeToResolution": 315360000, "reach": 0,
	})
	s.signal(t, full).has(obj{"textTake": strings.Repeat("é", 500), "marketTitle": title, "confidence": 100, "timeToResolution": 315360000})
}
