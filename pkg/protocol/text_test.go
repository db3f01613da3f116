package protocol_test

import (
	"strings"
	"testing"

	"github.com/signalcast/signalcast/pkg/protocol"
)

// TestIsText checks which texts IsText accepts. Control characters, marks of the writing direction, private use
// characters and noncharacters are rejected. Names must also not contain format characters.
func TestIsText(t *testing.T) {
	t.Parallel()
	for s, want := range map[string]bool{
		"": true, "žluť 🐎": true, "a\u200bb": true, "\u00ad": true, "\u2029": true, "\ufffd": true, "\ufdcf\ufdf0": true,
		"\t": false, "\r": false, "\r\n": false, "\x00": false, "\x1b[2J": false, "\x7f": false, "\u0080": false, "\u009f": false, "\u00a0": true,
		"\u2029a\u202a": false, "\u202e": false, "\u202f": true, "\u2065": true, "\u2066": false, "\u2069": false, "\u206a": true,
		"\ue000": false, "\uf8ff": false, "\uf900": true, "\U000f0000": false, "\U0010fffd": false,
		"\ufdd0": false, "\ufdef": false, "\ufffe": false, "\uffff": false, "\U0001fffe": false, "\U000effff": false, "\xff": false, "\xed\xa0\x80": false,
	} {
		if protocol.IsText(s, false) != want || protocol.IsText(s, true) != want {
			t.Errorf("IsText(%q) = %v", s, !want)
		}
	}
	if protocol.IsText("a\nb", false) || !protocol.IsText("a\nb", true) || protocol.IsText("a\rb", true) || protocol.PlainLines("a\r\nb\r\r\n") != "a\nb\r\n" {
		t.Error("line feeds must be valid only with lines, and PlainLines must replace CR LF")
	}
}

func TestIsName(t *testing.T) {
	t.Parallel()
	for s, want := range map[string]bool{
		"Mara K": true, "مَرا": true, "a\u00a0b": true, "👩\u200d🚀": true, "👩🏽\u200d🚀": true, "❤\ufe0f\u200d🔥": true, "👨\u200d👩\u200d👧": true, "🏳\ufe0f\u200d🌈": true,
		"": false, " ": false, "a\nb": false, "a\u200db": false, "👩\u200d": false, "\u200d👩": false, "👩\u200db": false, "👩\u200d\u200d👩": false,
		"👩\ufe0f\ufe0f\u200d👩": false, "a\u200bb": false, "a\u00adb": false, "\ufeffa": false, "a\u200e": false, "a\u061c": false, "a\U000e0041": false, "a\u206a": false,
	} {
		if got := protocol.IsName(s, 1, 64); got != want {
			t.Errorf("IsName(%q) = %v", s, got)
		}
	}
}

func TestIsLine(t *testing.T) {
	t.Parallel()
	for s, want := range map[string]bool{
		"a": true, " a ": true, "žluť": true, strings.Repeat("é", 64): true, strings.Repeat("x", 65): false,
		"": false, " ": false, "a\nb": false, "a\x00": false, "\x7f": false, "a\tb": false, "\xff": false,
		"a\u2028": false, "a\u2029b": false, "a\u0085": false, "a\u202a": false, "\u202ea": false, "a\u2066": false, "a\u2069": false,
		"\u00a0": false, "\u200b": false, "\ufeff": false, "\u2060": false, " \u3000\u200d\ufeff ": false, "\u2800": false, "\u3164": false,
		"\u200ba": true, "a\u00a0b": true, "a\u2027": true, "a\u202f": true, "a\u2065": true, "a\u206a": true, "مَرا": true,
		"\U0001f469\u200d\U0001f680": true, "\u2764\ufe0f\u200d\U0001f525": true,
	} {
		if got := protocol.IsLine(s, 1, 64); got != want {
			t.Errorf("IsLine(%q) = %v", s, got)
		}
	}
	if !protocol.IsLine("", 0, 3) || !protocol.IsLine(" ", 0, 3) || protocol.IsLine("\n", 0, 3) {
		t.Error("with low = 0 a line without a visible character must be valid")
	}
}
