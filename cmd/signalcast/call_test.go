package main

import (
	"strings"
	"testing"
)

const (
	verified   = `"priceAtPrediction":6850,"scoreBasisBps":6900,"priceVerified":true,"rated":true,"marketYesBps":3150,"yesPriceBps":3200,"noPriceBps":6900,"warnings":[]`
	unverified = `"priceAtPrediction":6850,"scoreBasisBps":6850,"priceVerified":false,"rated":true,"marketYesBps":null,"yesPriceBps":null,"noPriceBps":null,"warnings":["price_unverified","of_next_year"]`
)

var noQuote = respond(409,
	`{"error":"price_moved","reason":"unverified","marketId":"701122","marketYesBps":null,"yesPriceBps":null,"noPriceBps":null}`)

// TestCallShowsWhatWasStored checks that the command shows the stored price, the points and the warnings of the answer
// (docs/guarantees.md, P13).
func TestCallShowsWhatWasStored(t *testing.T) {
	d := newShell(t)
	t.Setenv("SIGNALCAST_KEY", key)
	hub := serve(t, respond(200, `{"ok":true,"id":"`+signalID+`",`+strings.Replace(verified, "[]", `["price_converted"]`, 1)+`}`))
	out, _ := d.run(done, "call", "701122", "no", "--price", "31.5", "--hub", hub.URL)
	d.requireContains(out, "NO on 701122 at 68.5 cents", "69 cents", "at most +31 points", "at most -69 points",
		"the price of NO is stored", hub.URL+"/receipts/"+signalID)
	out, _ = d.run(done, "call", "native-1", "no", "--price", "68.5", "--hub", hub.URL)
	if strings.Contains(out, "at most") {
		t.Errorf("the points on a native market are shown as upper bounds: %s", out)
	}
	hub = serve(t, respond(200, `{"ok":true,"id":"`+signalID+`",`+strings.Replace(verified, "6900", "9900", 1)+`}`),
		respond(200, `{"ok":true,"id":"`+signalID+`",`+strings.Replace(verified, "6900", "50", 1)+`}`))
	out, _ = d.run(done, "call", "701122", "no", "--price", "68.5", "--hub", hub.URL)
	d.requireContains(out, "at most +1 point\n", "at most -99 points\n")
	out, _ = d.run(done, "call", "701122", "no", "--price", "68.5", "--hub", hub.URL)
	d.requireContains(out, "at most +99 points\n", "at most -1 point\n")
	hub = serve(t, respond(200, `{"ok":true,"id":"`+signalID+`",`+unverified+`}`))
	out, _ = d.run(done, "call", "701122", "no", "--price", "68.5", "--hub", hub.URL)
	d.requireContains(out, "does not count", "no fresh quote", "of_next_year")
}

// TestCallBoundsTheSlippage checks that the default of --max-slippage is 2 cents, and that a refusal names the flags that help
// (docs/guarantees.md, P14).
func TestCallBoundsTheSlippage(t *testing.T) {
	d := newShell(t)
	t.Setenv("SIGNALCAST_KEY", key)
	moved := serve(t, respond(409, `{"error":"price_moved","reason":"moved","message":"NO costs 7100 bps","noPriceBps":7100}`))
	_, bad := d.run(refused, "call", "701122", "no", "--price", "68.5", "--max-slippage", "0.5", "--hub", moved.URL)
	d.requireContains(bad, "NO costs 7100 bps", "--max-slippage")
	d.requireContains(moved.bodies[0], `"maxSlippageBps":50`)
	hub := serve(t, noQuote, respond(200, `{"ok":true,"id":"`+signalID+`",`+unverified+`}`))
	_, bad = d.run(refused, "call", "701122", "no", "--price", "68.5", "--hub", hub.URL)
	d.requireContains(bad, "--allow-unverified")
	out, _ := d.run(done, "call", "701122", "no", "--price", "68.5", "--allow-unverified", "--hub", hub.URL)
	d.requireContains(out, signalID)
	d.requireContains(hub.bodies[1], `"maxSlippageBps":200`, `"allowUnverified":true`)
	if strings.Contains(hub.bodies[0], "allowUnverified") {
		t.Errorf("without the flag the command sends %s", hub.bodies[0])
	}
	for _, refusal := range []string{`{"error":"price_moved","reason":"moved"}`, `{"error":"idempotency_key_reused"}`} {
		hub = serve(t, respond(409, refusal))
		d.run(refused, "call", "701122", "no", "--price", "68.5", "--allow-unverified", "--hub", hub.URL)
		if len(hub.requests) != 1 {
			t.Errorf("%s: %d requests; want 1", refusal, len(hub.requests))
		}
	}
}

// TestDryRunOfACommand checks that call and events add with --dry-run send a dry run (docs/guarantees.md, P15).
func TestDryRunOfACommand(t *testing.T) {
	d := newShell(t)
	t.Setenv("SIGNALCAST_KEY", key)
	hub := serve(t, respond(200, `{"ok":true,"dryRun":true,`+verified+`}`),
		respond(200, `{"dryRun":true,"event":{"type":"note","payload":{"text":"rain"},"actor":"owner","createdAt":"2026-09-18T12:00:00.000Z"}}`))
	out, _ := d.run(done, "call", "701122", "no", "--price", "68.5", "--dry-run", "--hub", hub.URL)
	d.requireContains(out, "Would file", "NO on 701122 at 68.5 cents", "at most +31 points")
	d.requireContains(hub.bodies[0], `"dryRun":true`)
	out, _ = d.run(done, "events", "add", signalID, "note", "--text", "rain", "--dry-run", "--hub", hub.URL)
	d.requireContains(out, "rain")
	d.requireContains(hub.bodies[1], `"dryRun":true`)
	for _, r := range hub.requests {
		if r.Header.Get("Idempotency-Key") != "" {
			t.Error("a dry run was sent with an idempotency key")
		}
	}
}

// TestCallAsksOnATerminal checks that on a terminal the command shows a dry run of the call and asks before it files the call.
func TestCallAsksOnATerminal(t *testing.T) {
	d := newShell(t)
	t.Setenv("SIGNALCAST_KEY", key)
	dry := respond(200, `{"ok":true,"dryRun":true,`+verified+`}`)
	stored := respond(200, `{"ok":true,"id":"`+signalID+`",`+verified+`}`)
	file := func(hub *server) []string {
		return []string{"call", "701122", "no", "--price", "68.5", "--hub", hub.URL}
	}
	d.inTerminal = true
	for _, in := range []string{"", "n\n", "\n", "yesterday\n"} {
		d.in = in
		hub := serve(t, dry, stored)
		_, bad := d.run(refused, file(hub)...)
		d.requireContains(bad, "Would file", "at most +31 points", "[y/N]", "not filed")
		if len(hub.requests) != 1 {
			t.Errorf("after the answer %q: %d requests, want only the dry run", in, len(hub.requests))
		}
	}
	d.in = "Yes\n"
	hub := serve(t, dry, stored)
	out, _ := d.run(done, file(hub)...)
	d.requireContains(out, signalID)
	if len(hub.requests) != 2 || strings.Contains(hub.bodies[1], "dryRun") {
		t.Errorf("the requests are %q, want a dry run and a call", hub.bodies)
	}
	d.in = "y\ny\n"
	hub = serve(t, dry, noQuote, respond(200, `{"ok":true,"id":"`+signalID+`",`+unverified+`}`))
	out, bad := d.run(done, file(hub)...)
	d.requireContains(bad, "without points?")
	d.requireContains(out, "does not count")
	d.requireContains(hub.bodies[2], `"maxSlippageBps":200`, `"allowUnverified":true`)
	if key := "Idempotency-Key"; hub.requests[1].Header.Get(key) == "" ||
		hub.requests[1].Header.Get(key) != hub.requests[2].Header.Get(key) {
		t.Errorf("the keys are %q and %q; want the same", hub.requests[1].Header.Get(key), hub.requests[2].Header.Get(key))
	}
	d.in = "y\nn\n"
	hub = serve(t, dry, noQuote)
	_, bad = d.run(refused, file(hub)...)
	d.requireContains(bad, "--allow-unverified")
	d.in = ""
	hub = serve(t, stored)
	d.run(done, append(file(hub), "--yes")...)
	if len(hub.requests) != 1 {
		t.Error("the command asks despite --yes")
	}
	hub = serve(t, respond(409, `{"error":"already_predicted","id":"`+signalID+`"}`))
	_, bad = d.run(refused, file(hub)...)
	d.requireContains(bad, "already_predicted", "the first call is final")
}
