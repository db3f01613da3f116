package message

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"testing"
	"unicode/utf8"

	"github.com/signalcast/signalcast/pkg/protocol"
)

// shape is a payload schema and the type of its message.
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

// TestTimesAndNames checks that times in another format, and member names in another case, are refused.
func TestTimesAndNames(t *testing.T) {
	t.Parallel()
	s := shape{name: "broadcast", of: BroadcastCreate}
	for _, at := range []string{
		"2026-12-31T23:59:60Z", "2026-11-30T23:00:00,5Z", "2026-11-30T23:00:00.1234567891Z", "2026-11-30T23:00:00.Z",
		"2026-11-30T23:00:00+24:00", "2026-11-30T23:00:00+0100", "+2026-11-30T23:00:00Z", "2026-11-30T23:00:00Z\n",
		"2026-11-30T23:60:00Z", "2026-13-01T00:00:00Z", "0999-01-01T00:00:00Z", "3000-01-01T00:00:00Z",
	} {
		if s.accepts(t, map[string]any{"title": "a", "scheduledFor": at}) {
			t.Errorf("%q is accepted as a time", at)
		}
	}
	if !s.accepts(t, map[string]any{"title": "a", "scheduledFor": "2026-11-30T23:00:00Z", "marketId": "1"}) {
		t.Error("a valid time is refused")
	}
	for _, name := range []string{"MarketId", "marketID", "MARKETID"} {
		if s.accepts(t, map[string]any{"title": "a", name: "1"}) {
			t.Errorf("the member %s is accepted", name)
		}
	}
}

// accepts reports whether ReadPayload accepts a payload.
func (s shape) accepts(t testing.TB, payload any) bool {
	t.Helper()
	raw, err := json.Marshal(payload)
	if err != nil {
		t.Fatal(err)
	}
	canonical, err := Canonical(raw)
	if err != nil {
		t.Fatal(err)
	}
	if _, err = ReadPayload(s.of, canonical, s.attested); err != nil && why(err) != "invalid_request payload" {
		t.Fatalf("%s: %v", s.name, err)
	}
	return err == nil
}

// TestLinks checks which URLs a payload may contain, and which of them are HLS playlists.
func TestLinks(t *testing.T) {
	t.Parallel()
	links, videos := shape{name: "links", of: ProfileUpdate}, shape{name: "videos", of: BroadcastGoLive}
	check := func(link, video bool, list ...string) {
		for _, s := range list {
			if got := links.accepts(t, map[string]any{"links": []any{s}}); got != link {
				t.Errorf("link %q: accepted is %v", s, got)
			}
			if got := videos.accepts(t, map[string]any{"broadcastId": passport, "url": s}); got != video {
				t.Errorf("video at %q: accepted is %v", s, got)
			}
		}
	}
	check(
		true, true, "https://a.example/index.m3u8", "https://a.example/index.m3u8?x=1", "https://a.example/index.m3u8?x?.m3u8",
		"https://a.example/.m3u8", "https://a.example:8443/a/b.m3u8", "https://a.example/a@b.m3u8",
	)
	check(
		true, false, "https://a.example", "https://a..b", "https://a.example:443", "https://a.example/%20", "https://a.example?x=1",
		"https://a.example#f", "https://a.example/a#b#c", "https://a.example/a?b?c", "https://a.example/[x]", "https://a.m3u8/",
		"https://a.example/index.m3u8#x", "https://a.example/index.m3u8/", "https://a.example.m3u8", "https://a.example?.m3u8",
		"https://a.example/x?y=.m3u8", "https://a.example/index.M3U8",
	)
	check(
		false, false, "http://a.example", "HTTPS://a.example", "https:/a.example", "https://", "https:///x", "https://.a", "https://a.",
		"https://-a", "https://a-", "https://user@a.example", "https://a.example:", "https://a.example:123456", "https://a.example:x",
		"https://[::1]/", "https://a_b.example", "https://é.example", "https://a.example/é", "https://a.example/a b",
		"https://a.example\\@b", "https://a.example/\\", "https://a.example/\"", "https://a.example/<", "https://a.example:80:80",
		"https://a.example/{x}", "https://a.example/x\x7f", "https://a.example/a\n", "javascript:alert(1)", "//a.example",
	)
}

// TestAttestedMembers checks that a client cannot send the members that only the hub may attest.
func TestAttestedMembers(t *testing.T) {
	t.Parallel()
	for _, s := range shapes(t) {
		plain := s
		plain.attested = false
		own := s.of == SignalCreate || s.of == PredictionCreate || s.of == ResolutionCreate
		for _, e := range s.schema["examples"].([]any) {
			if taken := plain.accepts(t, e); taken == (own && s.attested) {
				t.Errorf("%s from a client: accepted %v: %v", s.name, taken, e)
			}
		}
	}
	if _, ok := Schema("signal.create.attested", false); ok {
		t.Error("an unknown type has a schema")
	}
}

// TestPatternsMatchTheRules (P11) checks, for each character, that the patterns of the schemas agree with the rules in Go.
func TestPatternsMatchTheRules(t *testing.T) {
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
		return regexp.MustCompile(s.Properties[member].Pattern)
	}
	for _, c := range []struct {
		file, member string
		rule         func(string) bool
	}{
		{"signal.create", "take", func(s string) bool { return protocol.IsText(protocol.PlainLines(s), true) }},
		{"signal.create", "marketTitle", func(s string) bool { return protocol.IsLine(s, 0, 300) }},
		{"market.create", "question", func(s string) bool { return protocol.IsLine(s, 1, 200) }},
		{"profile.update", "displayName", func(s string) bool { return protocol.IsName(s, 1, 64) }},
		{"broadcast.goLive", "label", func(s string) bool { return s == "" || protocol.IsName(s, 1, 80) }},
	} {
		p := of(c.file, c.member)
		for r := rune(0); r <= utf8.MaxRune; r++ {
			if r > 0x1fb00 && r < 0xe0000 && r&0xffff < 0xfff0 || !utf8.ValidRune(r) {
				continue // no pattern refuses these, except the last code points of a plane
			}
			if r > 0xe0100 && r&0xfff < 0xff0 {
				r |= 0xf00 // skip within ranges of one category
			}
			for _, s := range []string{string(r), "a" + string(r) + "b"} {
				if p.MatchString(s) != c.rule(s) {
					t.Fatalf("%s: %q matches the schema: %v", c.member, s, p.MatchString(s))
				}
			}
		}
		for _, s := range []string{"", "a\r\nb", "a\rb", "\r\n", "👩\u200d🚀", "👩🏽\u200d🚀", "❤\ufe0f\u200d🔥", "👩\u200d", "\u200d👩", "👩\ufe0f\ufe0f\u200d👩", "👨\u200d👩\u200d👧b", "a\u200db"} {
			if p.MatchString(s) != c.rule(s) {
				t.Errorf("%s: %q matches the schema: %v", c.member, s, p.MatchString(s))
			}
		}
	}
}
