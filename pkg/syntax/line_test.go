package syntax_test

import (
	"strings"
	"testing"

	"github.com/signalcast/signalcast/pkg/syntax"
)

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
		if got := syntax.IsLine(s, 1, 64); got != want {
			t.Errorf("%q: %v", s, got)
		}
	}
	if !syntax.IsLine("", 0, 3) || !syntax.IsLine(" ", 0, 3) || syntax.IsLine("\n", 0, 3) {
		t.Error("where nothing is needed")
	}
}
