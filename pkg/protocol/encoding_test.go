package protocol_test

import (
	"encoding/base64"
	"strings"
	"testing"
	"time"

	"github.com/signalcast/signalcast/pkg/protocol"
)

func TestStamp(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 9, 18, 14, 0, 0, 7_999_999, time.FixedZone("", 7200))
	if got := protocol.Stamp(at); got != "2026-09-18T12:00:00.007Z" {
		t.Errorf("Stamp returned %s", got)
	}
	if got := protocol.Day(at); got != "2026-09-18" {
		t.Errorf("Day returned %s", got)
	}
	if protocol.StampOrNull(time.Time{}) != nil || *protocol.StampOrNull(at) != protocol.Stamp(at) {
		t.Error("StampOrNull returned a wrong value")
	}
	back, ok := protocol.ParseStamp("2026-09-18T14:00:00.007+02:00")
	if !ok || protocol.Stamp(back) != protocol.Stamp(at) || back.Location() != time.UTC {
		t.Errorf("ParseStamp returned %v, %v", back, ok)
	}
	for _, bad := range []string{"", "2026-09-18", "2026-09-18 12:00:00Z", "2026-13-01T00:00:00Z", "0000-01-01T00:00:00Z", "9999-12-31T23:59:59-01:00"} {
		if at, ok := protocol.ParseStamp(bad); ok {
			t.Errorf("ParseStamp(%q) = %v, want an error", bad, at)
		}
	}
}

func TestCursor(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 9, 18, 12, 0, 0, 123456000, time.UTC)
	c := protocol.NewCursor("0199f0a4-2222-7000-8000-000000000002", protocol.TimeKey(at), protocol.IntKey(-48))
	got, ok := protocol.DecodeCursor(c.Encode(), 2)
	if !ok || got.ID != c.ID {
		t.Fatalf("decoded cursor %+v, %v", got, ok)
	}
	if back, ok := got.Time(0); !ok || !back.Equal(at) {
		t.Errorf("the first key is the time %v", back)
	}
	if n, ok := got.Int(1); !ok || n != -48 {
		t.Errorf("the second key is the integer %d, want -48", n)
	}
	if _, ok := got.Int(2); ok {
		t.Error("a cursor with two keys returned a third one")
	}
	if (protocol.Cursor{}).EncodeOrNull() != nil || *c.EncodeOrNull() != c.Encode() {
		t.Error("EncodeOrNull returned a wrong value")
	}
	far := protocol.NewCursor("x", "9223372036854775807")
	if at, ok := far.Time(0); ok {
		t.Errorf("the time %v is beyond the year 9999", at)
	}
}

func TestCursorBad(t *testing.T) {
	t.Parallel()
	enc := func(s string) string { return base64.RawURLEncoding.EncodeToString([]byte(s)) }
	for _, raw := range []string{
		"", "abc", "***", enc("{"), enc("null"), enc("[]"), enc(`{"k":["1"]}`), enc(`{"k":["1"],"id":""}`),
		enc(`{"k":[1],"id":"a"}`), enc(`{"k":["1","2"],"id":"a"}`), enc(`{"k":["\u0000"],"id":"a"}`),
		enc(`{"k":["1"],"id":"a\u0000"}`), enc("{\"k\":[\"\xff\"],\"id\":\"a\"}"), enc(`{"k":["1"],"id":"a"} x`),
		enc(`{"k":["` + strings.Repeat("1", 2000) + `"],"id":"a"}`),
	} {
		if c, ok := protocol.DecodeCursor(raw, 1); ok || !c.IsZero() {
			t.Errorf("DecodeCursor(%q) = %+v, want an error", raw, c)
		}
	}
	if _, ok := protocol.DecodeCursor(enc(`{"k":["1"],"id":"a"}`)+"=", 1); !ok {
		t.Error("a padded cursor was rejected")
	}
}

func TestLimit(t *testing.T) {
	t.Parallel()
	for raw, want := range map[string]int{
		"": 20, "0": 20, "-1": 20, "abc": 20, "1.5": 20, "+5": 20, " 5": 20, "1e9": 20, "٥": 20,
		"1": 1, "007": 7, "50": 50, "51": 50, "1000000000": 50, strings.Repeat("9", 200): 50, strings.Repeat("0", 200): 20,
	} {
		if got := protocol.Limit(raw, 20, 50); got != want {
			t.Errorf("Limit(%q) = %d, want %d", raw, got, want)
		}
	}
}

func TestSnake(t *testing.T) {
	t.Parallel()
	for member, want := range map[string]string{
		"priceAtPrediction": "price_at_prediction", "marketId": "market_id", "market": "market",
		"crowdYesAtSignal": "crowd_yes_at_signal", "hlsURL": "hls_url", "URLPath": "url_path",
		"minYes": "min_yes", "window24h": "window24h", "totalVol24hUsd": "total_vol24h_usd",
		"payload.text": "payload_text", "client_id": "client_id", "A": "a", "": "",
	} {
		if got := protocol.Snake(member); got != want {
			t.Errorf("Snake(%q) = %q, want %q", member, got, want)
		}
	}
}
