package protocol_test

import (
	"bufio"
	"os"
	"strconv"
	"strings"
	"testing"
)

// fixtureLines returns the lines of a file in testdata without empty lines and comments.
func fixtureLines(t testing.TB, name string) []string {
	t.Helper()
	f, err := os.Open("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var out []string
	for sc := bufio.NewScanner(f); sc.Scan(); {
		if line := sc.Text(); line != "" && !strings.HasPrefix(line, "#") {
			out = append(out, line)
		}
	}
	if len(out) == 0 {
		t.Fatalf("%s is empty", name)
	}
	return out
}

// literals returns the values of the Go string literals in a file in testdata, which contains one literal per line.
func literals(t testing.TB, name string) []string {
	t.Helper()
	out := fixtureLines(t, name)
	for i, line := range out {
		s, err := strconv.Unquote(line)
		if err != nil {
			t.Fatalf("%s: %q: %v", name, line, err)
		}
		out[i] = s
	}
	return out
}
