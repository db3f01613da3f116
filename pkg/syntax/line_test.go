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
	} {
		if got := syntax.IsLine(s, 1, 64); got != want {
			t.Errorf("%q: %v", s, got)
		}
	}
	if !syntax.IsLine("", 0, 3) || !syntax.IsLine(" ", 0, 3) || syntax.IsLine("\n", 0, 3) {
		t.Error("where nothing is needed")
	}
}
