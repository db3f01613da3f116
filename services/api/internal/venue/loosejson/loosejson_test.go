package loosejson_test

import (
	"encoding/json"
	"fmt"
	"math/big"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/signalcast/signalcast/services/api/internal/venue/loosejson"
)

func TestPricesRoundHalfUpFromTheText(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int{
		"0": 0, "1": 10000, "0.5": 5000, "0.615": 6150, "0.0105": 105, "0.00005": 1, "0.0000499999999999": 0, "0.99995": 10000,
		"0.99994999": 9999, "1.0000": 10000, ".5": 5000, "5e-1": 5000, "5E-05": 1, "0.000005e1": 1, "1.7": 10000, "-0.2": 0,
		"0.00000005531106223830049992568": 0, "0.99999994468893776169950007432": 10000, "00.25": 2500,
	} {
		p, ok := loosejson.ParsePrice(text)
		if !ok || int(p.Bps()) != want {
			t.Errorf("%s: %d %v, want %d", text, p.Bps(), ok, want)
		}
	}
	for _, bad := range []string{"", ".", "NaN", "Inf", "0x1", "1e999999999", "1e-999", "0.5.5", "12345678", "--1", "1e", "0,5", " 1", "٣"} {
		if p, ok := loosejson.ParsePrice(bad); ok {
			t.Errorf("%q was read as %d", bad, p)
		}
	}
}

func TestPriceEqualsExactArithmetic(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		digits := rapid.StringMatching(`[0-9]{1,30}`).Draw(t, "fraction")
		text := rapid.SampledFrom([]string{"0.", "1.", "00.", "."}).Draw(t, "whole") + digits
		p, ok := loosejson.ParsePrice(text)
		exact, good := new(big.Rat).SetString(text)
		if !ok || !good {
			t.Fatalf("parse of %s: %v %v", text, ok, good)
		}
		scaled := new(big.Rat).Add(new(big.Rat).Mul(exact, big.NewRat(10000, 1)), big.NewRat(1, 2))
		want := min(int(new(big.Int).Quo(scaled.Num(), scaled.Denom()).Int64()), 10000)
		if int(p.Bps()) != want {
			t.Fatalf("%s: %d, want %d", text, p.Bps(), want)
		}
	})
}

func TestLooseTypes(t *testing.T) {
	t.Parallel()
	var v struct {
		D []loosejson.Decimal
		L []loosejson.List
		T []loosejson.Text
	}
	raw := `{"D":["1.50",1.5,"",null," 2 ",5e-05],"L":["[\"Yes\", \"No\"]",["a","b"],"",null,"[\"7\",8]"],"T":["x",7,null,{"a":1}]}`
	if err := json.Unmarshal([]byte(raw), &v); err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprintf("%q %q %q", v.D, v.L, v.T); got != `["1.50" "1.5" "" "" "2" "5e-05"] [["Yes" "No"] ["a" "b"] [] [] ["7" "8"]] ["x" "" "" ""]` {
		t.Error(got)
	}
	for _, bad := range []string{`{"D":[true]}`, `{"D":[{}]}`, `{"L":["not a list"]}`, `{"L":[5]}`, `{"L":[[{}]]}`} {
		if json.Unmarshal([]byte(bad), &v) == nil {
			t.Errorf("%s was accepted", bad)
		}
	}
	for text, want := range map[loosejson.Decimal]bool{"1.5": true, "0": true, "": false, "NaN": false, "Inf": false, "-1": false, "1e400": false} {
		if got := text.Amount() != nil; got != want {
			t.Errorf("amount %q: %v", text, got)
		}
	}
}

func TestTimesInAllForms(t *testing.T) {
	t.Parallel()
	want := time.Date(2026, 9, 20, 6, 12, 29, 0, time.UTC)
	for _, raw := range []string{
		`"2026-09-20T06:12:29Z"`, `"2026-09-20 06:12:29+00"`, `"2026-09-20 06:12:29.5+00"`, `"2026-09-20T06:12:29.123456Z"`,
		`"2026-09-20T08:12:29+02:00"`, `1789884749`, `1789884749000`, `"1789884749000"`,
	} {
		var at loosejson.Instant
		if err := json.Unmarshal([]byte(raw), &at); err != nil || at.Second() == nil || !at.Second().Equal(want) {
			t.Errorf("time %s: %v %v", raw, at, err)
		}
	}
	for _, raw := range []string{`null`, `""`, `"soon"`, `9223372036854775807`, `"0000-00-00 00:00:00+00"`} {
		var at loosejson.Instant
		if err := json.Unmarshal([]byte(raw), &at); err != nil || at.Second() != nil {
			t.Errorf("invalid time %s: %v %v", raw, at, err)
		}
	}
}

func TestPlain(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"<p>Will <b>x</b> &amp; y?</p>": "Will x & y?", "BTC <100 or >90?": "BTC <100 or >90?", "a\x00b\nc": "ab\nc",
		"e\u0301te": "\u00e9te", "<script>bad()</script>ok": "ok", "  trim ": "trim", "too long for it": "too long f",
	} {
		limit := 60
		if want == "too long f" {
			limit = 10
		}
		if got := loosejson.Plain(in, limit); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}
