package main

import (
	"net/http"
	"strings"
	"testing"
	"time"
)

// TestFlagsBeforeTheCommand checks that each flag may be before, between and after the words of the command.
func TestFlagsBeforeTheCommand(t *testing.T) {
	d := newShell(t)
	t.Setenv("SIGNALCAST_KEY", key)
	hub := serve(t, respond(http.StatusOK, `{"marketId":"701122","question":"Q?","status":"open","yesBps":null,"provider":"native","lane":"OTHER"}`))
	const question = "Question      Q?"
	for _, args := range [][]string{
		{"--hub", hub.URL, "market", "show", "701122"},
		{"--hub=" + hub.URL, "--table", "market", "show", "701122"},
		{"market", "--hub", hub.URL, "show", "701122"},
		{"market", "show", "701122", "--table", "--hub", hub.URL},
		{"--timeout", "5s", "market", "show", "--hub", hub.URL, "--", "701122"},
	} {
		out, _ := d.run(done, args...)
		d.requireContains(out, question)
	}
	out, _ := d.run(done, "--json", "--hub", hub.URL, "market", "show", "701122")
	d.requireContains(out, `"question": "Q?"`)

	// The flag --yes has a value in some commands and none in others.
	filed := serve(t, respond(http.StatusOK, `{"ok":true,"id":"`+signalID+`"}`))
	d.inTerminal = true
	d.run(done, "--yes", "--hub", filed.URL, "call", "701122", "no", "--price", "50")
	d.run(done, "call", "--yes", "--price", "50", "701122", "no", "--hub", filed.URL)
	if len(filed.requests) != 2 {
		t.Errorf("%d requests with --yes, want 2: the command asked for a confirmation", len(filed.requests))
	}
	for want, args := range map[string][]string{
		"unknown flag --hubb":           {"--hubb", hub.URL, "market", "show", "1"},
		"--hub must not be empty":       {"--hub", "", "market", "show", "1"},
		"See signalcast market --help":  {"--hub", hub.URL, "market"},
		"See signalcast --help":         {"--", "market"},
		"a negative number is not":      {"--hub", hub.URL, "market", "show", "-1"},
		"--timeout must be 100ms to 1h": {"--timeout", "1ms", "market", "show", "1"},
		"--timeout: must be a duration": {"--timeout", "5", "market", "show", "1"},
		"--columns and --no-header":     {"--json", "--columns", "ID", "market", "search"},
	} {
		_, bad := d.run(usage, args...)
		d.requireContains(bad, want)
	}
}

// TestHelpOfACommand checks that `help COMMAND` prints the same text as `COMMAND --help`.
func TestHelpOfACommand(t *testing.T) {
	d := newShell(t)
	for _, words := range [][]string{{"market"}, {"market", "show"}, {"call"}} {
		want, _ := d.run(done, append(words, "--help")...)
		got, _ := d.run(done, append([]string{"help"}, words...)...)
		if got != want || !strings.Contains(got, "--timeout") {
			t.Errorf("help %q prints %q, want %q", words, got, want)
		}
	}
	_, bad := d.run(usage, "help", "sing")
	d.requireContains(bad, "unexpected argument sing")
}

// TestFormsOfTimes checks that errors of times and durations state the accepted form, without a layout of Go.
func TestFormsOfTimes(t *testing.T) {
	d := newShell(t)
	t.Setenv("SIGNALCAST_ADMIN_SECRET", "opensesame")
	market := []string{"admin", "market", "create", "Will it rain?", "--lane", "SCIENCE", "--cutoff"}
	for want, args := range map[string][]string{
		"--cutoff: must be a time with its zone, such as 2027-06-01T00:00:00Z": append(market, "tomorrow"),
		"--within: must be a duration with its unit":                           append(market, "2027-06-01T00:00:00Z", "--within", "3"),
		"--decided-at: must be a time with its zone":                           {"admin", "finalize", "native-a", "yes", "--decided-at", "2027-06-01"},
		"--each: must be a duration with its unit":                             {"conform", "http://127.0.0.1:1", "--each", "3"},
		"--key must be the public key of the ledger":                           {"record", "verify", "--key", "garb", "x"},
	} {
		_, bad := d.run(usage, args...)
		d.requireContains(bad, want)
		if strings.Contains(bad, "2006") {
			t.Errorf("%q: the error contains a layout of Go: %s", args, bad)
		}
	}
}

// TestTimeout checks that a service that accepts connections and does not answer ends a command after --timeout, and that the
// command announces the second attempt.
func TestTimeout(t *testing.T) {
	d := newShell(t)
	t.Setenv("SIGNALCAST_KEY", key)
	d.progress = true
	wait := func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }
	for name, c := range map[string]struct {
		args     []string
		requests int
		says     []string
	}{
		"a read": {[]string{"market", "show", "1"}, 2, []string{"trying again (2 of 4)", "gives no answer within", "--timeout"}},
		"a call": {
			[]string{"call", "1", "yes", "--price", "5"}, 2, []string{"trying again (2 of 4)", "no answer within", "may have been stored"},
		},
		"a write":  {[]string{"live", "clear"}, 1, []string{"no answer within 2s", "may have been stored"}},
		"a record": {[]string{"record", "get", "mara_k"}, 1, []string{"gives no answer within 2s", "--timeout"}},
	} {
		t.Run(name, func(t *testing.T) {
			d.t = t
			silent := serve(t, wait)
			began := time.Now()
			_, bad := d.run(unavailable, append(c.args, "--hub", silent.URL, "--timeout", "2s")...)
			d.requireContains(bad, c.says...)
			if took := time.Since(began); took < 2*time.Second {
				t.Errorf("the command ended after %v, want at least 2s", took)
			}
			silent.Close() // after the last request has ended
			if len(silent.requests) != c.requests {
				t.Errorf("%d requests, want %d", len(silent.requests), c.requests)
			}
		})
	}
	d.t = t
	breaks := serve(t, func(w http.ResponseWriter, r *http.Request) {
		_, _ = w.Write([]byte(`{"type":"record",`))
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
	})
	_, bad := d.run(unavailable, "record", "get", "mara_k", "--hub", breaks.URL, "--timeout", "300ms")
	d.requireContains(bad, "did not end within the time limit")
	_, bad = d.run(unavailable, "market", "show", "1", "--hub", breaks.URL, "--timeout", "300ms")
	d.requireContains(bad, "did not end within the time limit")
	_, bad = d.run(usage, "conform", breaks.URL, "--timeout", "300ms")
	d.requireContains(bad, "--each")
}

// TestNotASignalcastService checks that an answer that no Signalcast service sends has exit code 3.
func TestNotASignalcastService(t *testing.T) {
	d := newShell(t)
	other := serve(t, respond(http.StatusOK, `<html>`))
	_, bad := d.run(unavailable, "market", "show", "1", "--hub", other.URL)
	d.requireContains(bad, "the answer is not JSON. The server is not a Signalcast service: check --hub")
	if len(other.requests) != 1 {
		t.Errorf("%d requests, want 1", len(other.requests))
	}
	page := serve(t, respond(http.StatusNotFound, `404 page not found`))
	_, bad = d.run(refused, "market", "show", "1", "--hub", page.URL)
	d.requireContains(bad, "404 Not Found. The server is not a Signalcast service: check --hub")
	empty := serve(t, respond(http.StatusServiceUnavailable, ``))
	_, bad = d.run(unavailable, "market", "show", "1", "--hub", empty.URL)
	d.requireContains(bad, "503 Service Unavailable. Try again")
}
