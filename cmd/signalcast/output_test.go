package main

import (
	"encoding/csv"
	"net/http"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

const (
	longQuestion = "Will the Opava gauge read above four metres on any day before the first of June, as the agency publishes it?"
	oneMarket    = `{"markets":[{"id":"701122","name":"` + longQuestion + `","yesPct":31.5,"closed":false,` +
		`"closesAt":"2027-06-01T00:00:00.000Z","lane":"SCIENCE"}],"count":1,"next_cursor":null}`
)

// TestTablesFitTheTerminal checks that no line of a table is longer than the terminal is wide, and that a table that is not
// written to a terminal contains the whole text.
func TestTablesFitTheTerminal(t *testing.T) {
	d := newShell(t)
	hub := serve(t, respond(http.StatusOK, oneMarket))
	search := []string{"market", "search", "--hub", hub.URL}
	for _, d.width = range []int{80, 120} {
		out, _ := d.run(done, search...)
		for line := range strings.Lines(out) {
			if n := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); n > d.width {
				t.Errorf("a line has %d characters in a terminal of %d: %s", n, d.width, line)
			}
		}
		d.requireContains(out, "Will the Opava", "…")
	}
	for _, d.width = range []int{0, 300} {
		out, _ := d.run(done, search...)
		d.requireContains(out, longQuestion)
	}
	d.width = 20 // the ids must stay whole
	out, _ := d.run(done, search...)
	d.requireContains(out, "701122", "SCIENCE")
}

// TestFormsOfOutput checks --columns, --csv, --no-header and --json.
func TestFormsOfOutput(t *testing.T) {
	d := newShell(t)
	d.piped = true // each of the flags selects a table
	hub := serve(t, respond(http.StatusOK, strings.Replace(oneMarket, "Will the", `Will, \"the`, 1)))
	show := serve(t, respond(http.StatusOK,
		`{"marketId":"701122","question":"a, b","status":"open","yesBps":3150,"provider":"native","lane":"OTHER"}`))
	search := []string{"market", "search", "--hub", hub.URL}
	for _, c := range []struct {
		want string
		args []string
	}{
		{"YES   ID\n31.5  701122\n", append(search, "--columns", "yes,ID")},
		{"31.5  701122\n", append(search, "--columns", "YES,id", "--no-header")},
		{"ID,YES\n701122,31.5\n", append(search, "--csv", "--columns", "ID,YES")},
		{"701122\n", append(search, "--csv", "--no-header", "--columns", "ID")},
		{"Question,Price of YES\n\"a, b\",31.5 cents\n", []string{
			"market", "show", "701122", "--hub", show.URL, "--csv", "--columns", "Question,Price of YES",
		}},
		{"31.5 cents\n", []string{"market", "show", "701122", "--hub", show.URL, "--no-header", "--columns", "price of yes"}},
	} {
		if out, _ := d.run(done, c.args...); out != c.want {
			t.Errorf("%q prints %q, want %q", c.args, out, c.want)
		}
	}
	out, _ := d.run(done, append(search, "--csv")...)
	rows, err := csv.NewReader(strings.NewReader(out)).ReadAll()
	if err != nil || len(rows) != 2 || rows[1][4] != strings.Replace(longQuestion, "Will the", `Will, "the`, 1) {
		t.Errorf("the comma-separated values are %q, error %v", rows, err)
	}
	_, bad := d.run(usage, append(search, "--columns", "ID,COLOUR")...)
	d.requireContains(bad, `there is no column "COLOUR"; the columns are ID,YES,ENDS,LANE,NAME`)
	none := serve(t, respond(http.StatusOK, `{"markets":[],"count":0,"next_cursor":null}`))
	if out, _ := d.run(done, "market", "search", "--hub", none.URL, "--csv"); out != "ID,YES,ENDS,LANE,NAME\n" {
		t.Errorf("without markets --csv prints %q, want only the names of the columns", out)
	}
	if out, _ := d.run(done, "market", "search", "--hub", none.URL, "--no-header"); out != "" {
		t.Errorf("without markets --no-header prints %q, want nothing", out)
	}
}

// TestEveryCommandKnowsTheForms checks that no command refuses --json or --table as unknown flags: a command accepts them, or
// says what it writes.
func TestEveryCommandKnowsTheForms(t *testing.T) {
	d := newShell(t)
	for name := range leaves(t) {
		for _, flag := range []string{"--json", "--table", "--csv"} {
			out, _ := d.run(done, append(strings.Fields(name), "--help")...)
			d.requireContains(out, flag)
		}
	}
	for want, args := range map[string][]string{
		"form of --format; it does not accept --table":    {"record", "get", "mara_k", "--table"},
		"text or JSON; it does not accept --csv":          {"record", "verify", "x", "--csv"},
		"text or JSON; it does not accept --columns":      {"conform", "http://127.0.0.1:1", "--columns", "x"},
		"the manual; it does not accept --json":           {"man", "--json"},
		"a script; it does not accept --table":            {"completion", "bash", "--table"},
		"one line of JSON; it does not accept --table":    {"message", "sign", "signal.create", "--signer", "x", "--table"},
		"lines of text or JSON; it does not accept --csv": {"watch", "--csv"},
	} {
		_, bad := d.run(usage, args...)
		d.requireContains(bad, want)
	}
}

// TestColors checks that states are colored on a terminal with colors only, and that columns stay aligned.
func TestColors(t *testing.T) {
	d := newShell(t)
	hub := serve(t, respond(http.StatusOK, `{`+call+`}`))
	show := []string{"signal", "show", signalID, "--hub", hub.URL}
	plain, _ := d.run(done, show...)
	if strings.Contains(plain, "\x1b") {
		t.Errorf("the output contains colors without a terminal that has them: %q", plain)
	}
	d.color = true
	colored, _ := d.run(done, show...)
	d.requireContains(colored, "\x1b[32mwon\x1b[0m")
	if got := strings.NewReplacer("\x1b[32m", "", "\x1b[0m", "").Replace(colored); got != plain {
		t.Errorf("the output with colors is %q, want %q with colors", colored, plain)
	}
	raw, _ := d.run(done, append(show, "--json")...)
	values, _ := d.run(done, append(show, "--csv")...)
	if slices.ContainsFunc([]string{raw, values}, func(s string) bool { return strings.Contains(s, "\x1b") }) {
		t.Errorf("JSON or comma-separated values contain colors: %q %q", raw, values)
	}
}
