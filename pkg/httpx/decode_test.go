package httpx_test

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/labstack/echo/v4"

	"github.com/signalcast/signalcast/pkg/apperr"
	"github.com/signalcast/signalcast/pkg/httpx"
)

// bodyCases contains bodies that lenient JSON parsers handle wrongly. An empty code means that the body is valid.
var bodyCases = []struct {
	name, body, code string
}{
	{"plain", `{"marketId":"1","priceAtPrediction":6400}`, ""},
	{"white space", " \t\r\n{ \"marketId\" : \"1\" , \"priceAtPrediction\" : 0 } \n", ""},
	{"unknown members", `{"marketId":"1","priceAtPrediction":1,"x":{"y":[1,2,{"z":null}]}}`, ""},
	{"other case is unknown", `{"marketId":"1","MARKETID":"2","priceAtPrediction":1}`, ""},
	{"escaped name", `{"market\u0049d":"1","priceAtPrediction":1}`, ""},
	{"pair of surrogates", `{"marketId":"1\ud83d\ude00","priceAtPrediction":1}`, ""},
	{"non-ASCII", `{"marketId":"žluťoučký 🐎","priceAtPrediction":1}`, ""},
	{"depth 32", `{"marketId":"1","priceAtPrediction":1,"x":` + strings.Repeat("[", 31) + strings.Repeat("]", 31) + `}`, ""},

	{"400 members", manyMembers(200, `"marketId":"1","priceAtPrediction":1`), ""},

	{"empty", ``, "invalid_body"},
	{"blank", "  \n", "invalid_body"},
	{"array", `[]`, "invalid_body"},
	{"string", `"x"`, "invalid_body"},
	{"null", `null`, "invalid_body"},
	{"number", `1`, "invalid_body"},
	{"byte order mark", "\xef\xbb\xbf{}", "invalid_body"},
	{"form", `marketId=1`, "invalid_body"},
	{"unclosed", `{"marketId":"1"`, "invalid_body"},
	{"unclosed string", `{"marketId":"1`, "invalid_body"},
	{"trailing comma", `{"marketId":"1",}`, "invalid_body"},
	{"no colon", `{"marketId" "1"}`, "invalid_body"},
	{"name without quotes", `{marketId:"1"}`, "invalid_body"},
	{"single quotes", `{'marketId':'1'}`, "invalid_body"},
	{"comment", `{"marketId":"1"/**/}`, "invalid_body"},
	{"second document", `{"marketId":"1"}{"marketId":"2"}`, "invalid_body"},
	{"trailing word", `{"marketId":"1"} x`, "invalid_body"},
	{"duplicate", `{"marketId":"1","marketId":"2"}`, "invalid_body"},
	{"duplicate by escape", `{"marketId":"1","market\u0049d":"2"}`, "invalid_body"},
	{"duplicate within", `{"marketId":"1","x":{"a":1,"a":2}}`, "invalid_body"},
	{"duplicate in a list", `{"marketId":"1","x":[{"a":1,"a":1}]}`, "invalid_body"},
	{"late duplicate", manyMembers(200, `"m3":1`), "invalid_body"},
	{"raw NUL", "{\"marketId\":\"1\x00\"}", "invalid_body"},
	{"escaped NUL", `{"marketId":"1\u0000"}`, "invalid_body"},
	{"NUL in a name", `{"a\u0000":1}`, "invalid_body"},
	{"NUL between", "{\"marketId\":\x00\"1\"}", "invalid_body"},
	{"raw control character", "{\"marketId\":\"1\n\"}", "invalid_body"},
	{"invalid UTF-8", "{\"marketId\":\"\xff\"}", "invalid_body"},
	{"overlong UTF-8", "{\"marketId\":\"\xc0\xaf\"}", "invalid_body"},
	{"UTF-8 surrogate", "{\"marketId\":\"\xed\xa0\x80\"}", "invalid_body"},
	{"cut UTF-8", "{\"marketId\":\"\xe2\x82\"}", "invalid_body"},
	{"high surrogate alone", `{"marketId":"\ud800"}`, "invalid_body"},
	{"low surrogate alone", `{"marketId":"\udc00"}`, "invalid_body"},
	{"high surrogate twice", `{"marketId":"\ud800\ud800"}`, "invalid_body"},
	{"surrogate and letter", `{"marketId":"\ud800x"}`, "invalid_body"},
	{"surrogate in unknown member", `{"marketId":"1","priceAtPrediction":1,"x":["\ud800"]}`, "invalid_body"},
	{"bad escape", `{"marketId":"\x41"}`, "invalid_body"},
	{"short escape", `{"marketId":"\u41"}`, "invalid_body"},
	{"depth 33", `{"x":` + strings.Repeat("[", 32) + strings.Repeat("]", 32) + `}`, "invalid_body"},
	{"depth 9999", `{"x":` + strings.Repeat("[", 9999), "invalid_body"},
	{"leading zero", `{"priceAtPrediction":01}`, "invalid_body"},
	{"plus", `{"priceAtPrediction":+1}`, "invalid_body"},
	{"point first", `{"priceAtPrediction":.5}`, "invalid_body"},
	{"point last", `{"priceAtPrediction":1.}`, "invalid_body"},
	{"open exponent", `{"priceAtPrediction":1e}`, "invalid_body"},
	{"NaN", `{"priceAtPrediction":NaN}`, "invalid_body"},
	{"Infinity", `{"priceAtPrediction":-Infinity}`, "invalid_body"},
	{"cut word", `{"priceAtPrediction":tru}`, "invalid_body"},

	{"missing id", `{"priceAtPrediction":1}`, "missing_market_id"},
	{"null id", `{"marketId":null,"priceAtPrediction":1}`, "missing_market_id"},
	{"empty id", `{"marketId":"","priceAtPrediction":1}`, "missing_market_id"},
	{"number as id", `{"marketId":701122,"priceAtPrediction":1}`, "invalid_market_id"},
	{"object as id", `{"marketId":{"$ne":""},"priceAtPrediction":1}`, "invalid_market_id"},
	{"long id", `{"marketId":"` + strings.Repeat("é", 21) + `","priceAtPrediction":1}`, "invalid_market_id"},
	{"missing price", `{"marketId":"1"}`, "missing_price_at_prediction"},
	{"null price", `{"marketId":"1","priceAtPrediction":null}`, "missing_price_at_prediction"},
	{"string price", `{"marketId":"1","priceAtPrediction":"6400"}`, "invalid_price_at_prediction"},
	{"true price", `{"marketId":"1","priceAtPrediction":true}`, "invalid_price_at_prediction"},
	{"list price", `{"marketId":"1","priceAtPrediction":[1]}`, "invalid_price_at_prediction"},
	{"fraction", `{"marketId":"1","priceAtPrediction":1.5}`, "invalid_price_at_prediction"},
	{"exponent beyond", `{"marketId":"1","priceAtPrediction":1e5}`, "invalid_price_at_prediction"},
	{"exponent below", `{"marketId":"1","priceAtPrediction":1e-1}`, "invalid_price_at_prediction"},
	{"1e400", `{"marketId":"1","priceAtPrediction":1e400}`, "invalid_price_at_prediction"},
	{"2^63", `{"marketId":"1","priceAtPrediction":9223372036854775808}`, "invalid_price_at_prediction"},
	{"minus zero", `{"marketId":"1","priceAtPrediction":-0}`, "invalid_price_at_prediction"},
	{"minus one", `{"marketId":"1","priceAtPrediction":-1}`, "invalid_price_at_prediction"},
	{"10001", `{"marketId":"1","priceAtPrediction":10001}`, "invalid_price_at_prediction"},
	{"first mistake wins", `{"marketId":1,"priceAtPrediction":-1}`, "invalid_market_id"},
}

func manyMembers(n int, last string) string {
	var b strings.Builder
	b.WriteByte('{')
	for i := range n {
		b.WriteString(`"m`)
		b.WriteString(strings.Repeat("x", i))
		b.WriteString(`":0,"m`)
		b.WriteString(string(rune('0' + i%10)))
		b.WriteString(strings.Repeat("y", i))
		b.WriteString(`":0,`)
	}
	return b.String() + `"m3":0,` + last + `}`
}

func readCall(o httpx.Object) (string, int64, error) {
	id := o.String("marketId", 20, true)
	price := o.Int("priceAtPrediction", 0, 10000)
	return id, price, o.Err()
}

func TestDecodeBodies(t *testing.T) {
	t.Parallel()
	if len(bodyCases) < 40 {
		t.Fatalf("%d cases, want at least 40", len(bodyCases))
	}
	for _, c := range bodyCases {
		o, err := httpx.DecodeBytes([]byte(c.body))
		if err == nil {
			_, _, err = readCall(o)
		}
		var f *apperr.Fault
		switch {
		case c.code == "" && err != nil:
			t.Errorf("%s: %v", c.name, err)
		case c.code == "":
		case !errors.As(err, &f) || f.Code != c.code || f.Kind != apperr.Invalid:
			t.Errorf("%s: got %v, want %s", c.name, err, c.code)
		case c.code != "invalid_body" && f.Extra["field"] != field(c.code):
			t.Errorf("%s: wrong extra member field: %v", c.name, f.Extra["field"])
		}
	}
}

func field(code string) string {
	if strings.HasSuffix(code, "market_id") {
		return "marketId"
	}
	return "priceAtPrediction"
}

func TestObjectAccessors(t *testing.T) {
	t.Parallel()
	o, err := httpx.DecodeBytes([]byte(`{"s":"a\u00e9\n\ud83d\ude00","e":"","n":null,"i":-3,"f":31.5,"z":-0.0,"b":true,"d":"YES",
		"o":{"text":"hi","deep":{"k":1}},"l":["a","b"],"os":[{"k":1},{"k":2}]}`))
	if err != nil {
		t.Fatal(err)
	}
	if s := o.String("s", 4, true); s != "aé\n😀" {
		t.Errorf("s = %q", s)
	}
	if s := o.OptString("e", 4); s == nil || *s != "" {
		t.Error("an empty string must be present")
	}
	if o.OptString("n", 4) != nil || o.OptInt("n", 0, 1) != nil || o.OptBool("n") != nil || o.OptNumber("absent", 0, 1) != nil {
		t.Error("null and absent members must be nil")
	}
	if n := o.OptInt("i", -5, 5); n == nil || *n != -3 {
		t.Error("i")
	}
	if f := o.OptNumber("f", 0, 100); f == nil || *f != 31.5 {
		t.Error("f")
	}
	if f := o.Number("z", 0, 1); f != 0 || 1/f < 0 {
		t.Error("minus zero must become zero")
	}
	if !o.Bool("b") || *o.OptBool("b") != true {
		t.Error("b")
	}
	if o.Enum("d", "YES", "NO") != "YES" || o.OptEnum("absent", "YES") != "" {
		t.Error("d")
	}
	in := o.Object("o")
	if in.String("text", 10, true) != "hi" || in.Object("deep").Int("k", 0, 9) != 1 {
		t.Error("nested")
	}
	if l := o.Strings("l", 2, 1); len(l) != 2 || l[1] != "b" {
		t.Error("l")
	}
	if os := o.Objects("os", 2); len(os) != 2 || os[1].Int("k", 0, 9) != 2 {
		t.Error("os")
	}
	if o.Has("n") || !o.Has("s") || string(o.Raw("l")) != `["a","b"]` || len(o.Names()) != 11 {
		t.Error("Has, Raw, Names")
	}
	if err := o.Err(); err != nil {
		t.Error(err)
	}
}

func TestObjectMistakes(t *testing.T) {
	t.Parallel()
	const body = `{"s":"long","b":1,"o":{"conf":101},"l":["a",1],"os":[],"d":"yes","f":1e999,"deep":{"in":{"x":[1]}}}`
	for want, read := range map[string]func(httpx.Object){
		"invalid_s s":           func(o httpx.Object) { o.OptString("s", 3) },
		"missing_absent absent": func(o httpx.Object) { o.Bool("absent") },
		"invalid_b b":           func(o httpx.Object) { o.OptBool("b") },
		"invalid_conf o.conf":   func(o httpx.Object) { o.Object("o").Int("conf", 1, 100) },
		"missing_text o.text":   func(o httpx.Object) { o.Object("o").String("text", 9, true) },
		"missing_absent_object": func(o httpx.Object) { o.Object("absentObject").Int("conf", 1, 100) },
		"invalid_l l":           func(o httpx.Object) { o.Strings("l", 5, 5) },
		"invalid_os os":         func(o httpx.Object) { o.Objects("os", 5) },
		"invalid_d d":           func(o httpx.Object) { o.Enum("d", "YES", "NO") },
		"invalid_f f":           func(o httpx.Object) { o.Number("f", 0, 100) },
		"invalid_x deep.in.x": func(o httpx.Object) {
			o.Object("deep").Object("in").Objects("x", 3)
			o.Object("deep").Object("in").Int("x", 0, 1)
		},
		"invalid_market_url":       func(o httpx.Object) { o.Invalid("marketUrl", "must be https"); o.Missing("later") },
		"missing_later later":      func(o httpx.Object) { o.Missing("later") },
		"invalid_o o":              func(o httpx.Object) { o.String("o", 9, false) },
		"invalid_s s (not object)": func(o httpx.Object) { o.OptObject("s") },
		"invalid_l l (too many)":   func(o httpx.Object) { o.Strings("l", 1, 5) },
	} {
		o, err := httpx.DecodeBytes([]byte(body))
		if err != nil {
			t.Fatal(err)
		}
		read(o)
		var f *apperr.Fault
		if !errors.As(o.Err(), &f) {
			t.Errorf("%s: no fault", want)
			continue
		}
		code, place, _ := strings.Cut(want, " ")
		place, _, _ = strings.Cut(place, " ")
		if f.Code != code || place != "" && f.Extra["field"] != place && code != "invalid_x" {
			t.Errorf("%s: got %s %v", want, f.Code, f.Extra)
		}
	}
}

func request(t testing.TB, body io.Reader, header ...string) echo.Context {
	t.Helper()
	r := httptest.NewRequest(http.MethodPost, "/", body)
	for i := 0; i < len(header); i += 2 {
		r.Header.Add(header[i], header[i+1])
	}
	return echo.New().NewContext(r, httptest.NewRecorder())
}

func TestDecodeHeaders(t *testing.T) {
	t.Parallel()
	js := []string{"Content-Type", "application/json"}
	cases := []struct {
		name   string
		body   string
		header []string
		want   *apperr.Fault
	}{
		{"json", `{}`, js, nil},
		{"charset", `{}`, []string{"Content-Type", "Application/JSON; charset=UTF-8"}, nil},
		{"identity", `{}`, append([]string{"Content-Encoding", "identity"}, js...), nil},
		{"no type", `{}`, nil, httpx.ErrMediaType},
		{"text", `{}`, []string{"Content-Type", "text/plain"}, httpx.ErrMediaType},
		{"form", `{}`, []string{"Content-Type", "application/x-www-form-urlencoded"}, httpx.ErrMediaType},
		{"two types", `{}`, append([]string{"Content-Type", "text/plain"}, js...), httpx.ErrMediaType},
		{"latin", `{}`, []string{"Content-Type", "application/json; charset=latin1"}, httpx.ErrMediaType},
		{"gzip", `{}`, append([]string{"Content-Encoding", "gzip"}, js...), httpx.ErrMediaType},
		{"full", `{"a":"` + strings.Repeat("x", httpx.BodyLimit-8) + `"}`, js, nil},
		{"too large", `{"a":"` + strings.Repeat("x", httpx.BodyLimit-7) + `"}`, js, httpx.ErrTooLarge},
	}
	for _, c := range cases {
		_, err := httpx.Decode(request(t, strings.NewReader(c.body), c.header...), httpx.BodyLimit)
		if c.want == nil && err != nil || c.want != nil && !errors.Is(err, c.want) {
			t.Errorf("%s: %v", c.name, err)
		}
		// The same request without Content-Length.
		_, err = httpx.Decode(request(t, io.MultiReader(strings.NewReader(c.body)), c.header...), httpx.BodyLimit)
		if c.want == nil && err != nil || c.want != nil && !errors.Is(err, c.want) {
			t.Errorf("%s, chunked: %v", c.name, err)
		}
	}
}

func TestDecodeOptional(t *testing.T) {
	t.Parallel()
	o, sent, err := httpx.DecodeOptional(request(t, http.NoBody), httpx.BodyLimit)
	if err != nil || sent || o.Err() != nil || o.Has("x") {
		t.Errorf("no body: body present %v, error %v", sent, err)
	}
	o.Missing("x")
	if o.Err() == nil {
		t.Error("the object of an empty body did not record a missing member")
	}
	if _, sent, err = httpx.DecodeOptional(request(t, io.MultiReader(strings.NewReader(""))), httpx.BodyLimit); err != nil || sent {
		t.Errorf("empty chunked body: body present %v, error %v", sent, err)
	}
	if _, _, err = httpx.DecodeOptional(request(t, strings.NewReader(`{}`)), httpx.BodyLimit); !errors.Is(err, httpx.ErrMediaType) {
		t.Errorf("body without content type: error %v, want ErrMediaType", err)
	}
	if _, sent, err = httpx.DecodeOptional(request(t, strings.NewReader(`{}`), "Content-Type", "application/json"), httpx.BodyLimit); err != nil || !sent {
		t.Errorf("body: body present %v, error %v", sent, err)
	}
}

type broken struct{}

func (broken) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }

func TestDecodeBrokenBody(t *testing.T) {
	t.Parallel()
	_, err := httpx.Decode(request(t, broken{}, "Content-Type", "application/json"), httpx.BodyLimit)
	if !errors.Is(err, httpx.ErrBody) || !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Error(err)
	}
}

// FuzzDecode checks that DecodeBytes does not panic, that encoding/json accepts every accepted body with the same
// members, and that the accessors return the same values.
func FuzzDecode(f *testing.F) {
	for _, c := range bodyCases {
		if len(c.body) < 1000 {
			f.Add([]byte(c.body))
		}
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		o, err := httpx.DecodeBytes(b)
		if err != nil {
			if apperr.Of(err).Kind != apperr.Invalid {
				t.Fatalf("error of a wrong kind: %v", err)
			}
			return
		}
		var std map[string]json.RawMessage
		if err := json.Unmarshal(b, &std); err != nil {
			t.Fatalf("accepted invalid JSON: %v", err)
		}
		names := o.Names()
		if len(names) != len(std) {
			t.Fatalf("%d members, want %d", len(names), len(std))
		}
		for _, name := range names {
			raw, ok := std[name]
			if !ok {
				t.Fatalf("member %q is not in the body", name)
			}
			if string(raw) == "null" {
				if o.Has(name) {
					t.Fatalf("null %q is present", name)
				}
				continue
			}
			if string(o.Raw(name)) != string(raw) {
				t.Fatalf("raw %q, want %q", o.Raw(name), raw)
			}
			compare(t, o, name, raw)
		}
		_, _, _ = readCall(o)
	})
}

func compare(t *testing.T, o httpx.Object, name string, raw []byte) {
	t.Helper()
	switch raw[0] {
	case '"':
		var want string
		if err := json.Unmarshal(raw, &want); err != nil {
			t.Fatal(err)
		}
		if got := o.OptString(name, len(raw)); got == nil || *got != want {
			t.Fatalf("text of %q: %v, want %q", name, got, want)
		}
	case '{':
		in, ok := o.OptObject(name)
		if !ok {
			t.Fatal("object is absent")
		}
		for _, n := range in.Names() {
			in.OptString(n, 5)
		}
	case '[':
		o.Strings(name, 3, 3)
		o.Objects(name, 3)
	default:
		o.OptInt(name, 0, 10)
		o.OptNumber(name, 0, 10)
		o.OptBool(name)
	}
}
