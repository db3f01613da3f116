package resolve_test

import (
	"bufio"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/signalcast/signalcast/pkg/syntax"
	"github.com/signalcast/signalcast/services/api/internal/score"
	"github.com/signalcast/signalcast/services/api/internal/signal"
)

// TestCases holds the pure rules of prices and scores against cases that a second
// implementation has computed. Each line of the file is a case and its result:
//
//	side price snapshot tolerance verdict close = stored basis status score outcome clv
//
// SCORE_CASES names another file than the one that is kept here.
func TestCases(t *testing.T) {
	t.Parallel()
	path := os.Getenv("SCORE_CASES")
	if path == "" {
		path = "testdata/cases.txt"
	}
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	cases, differ := 0, 0
	for lines := bufio.NewScanner(f); lines.Scan(); cases++ {
		given, want, ok := strings.Cut(lines.Text(), " = ")
		if !ok {
			t.Fatalf("line %d has no result", cases+1)
		}
		if got := ours(t, strings.Fields(given)); got != want {
			if differ++; differ < 10 {
				t.Errorf("%s: %s, not %s", given, got, want)
			}
		}
	}
	if cases == 0 {
		t.Error("no case was read")
	}
	t.Logf("%d cases, %d differ", cases, differ)
}

// ours is the result of a case as the product computes it.
func ours(t *testing.T, words []string) string {
	t.Helper()
	if len(words) != 6 {
		t.Fatalf("a case has 6 words, not %v", words)
	}
	side, paid := syntax.Side(words[0]), syntax.Bps(*whole(t, words[1]))
	var snap, of, closing *syntax.Bps
	if n := whole(t, words[2]); n != nil {
		snap = new(syntax.Bps(*n))
		of = new(snap.Of(side))
	}
	if n := whole(t, words[5]); n != nil {
		closing = new(syntax.Bps(*n))
	}
	stored := signal.Repair(side, paid, snap)
	basis := signal.Basis(stored, of, *whole(t, words[3]))
	r := score.Of(side, basis, syntax.Verdict(words[4]), closing)
	outcome, clv := "-", "-"
	if r.Outcome != nil {
		outcome = string(*r.Outcome)
	}
	if r.CLV != nil {
		clv = strconv.Itoa(*r.CLV)
	}
	return fmt.Sprintf("%d %d %s %d %s %s", stored, basis, r.Status, r.Score, outcome, clv)
}

func whole(t *testing.T, word string) *int {
	t.Helper()
	if word == "-" {
		return nil
	}
	n, err := strconv.Atoi(word)
	if err != nil {
		t.Fatal(err)
	}
	return &n
}
