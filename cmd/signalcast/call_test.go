package main

import (
	"strings"
	"testing"
)

const (
	verified   = `"priceAtPrediction":6850,"scoreBasisBps":6900,"priceVerified":true,"rated":true,"marketYesBps":3150,"yesPriceBps":3200,"noPriceBps":6900,"warnings":[]`
	unverified = `"priceAtPrediction":6850,"scoreBasisBps":6850,"priceVerified":false,"rated":true,"marketYesBps":null,"yesPriceBps":null,"noPriceBps":null,"warnings":["price_unverified","of_next_year"]`
)

var noQuote = says(409, `{"error":"price_moved","reason":"unverified","marketId":"701122","marketYesBps":null,"yesPriceBps":null,"noPriceBps":null}`)

// Integrity P13: the command shows what was stored, from the answer.
func TestCallShowsWhatWasStored(t *testing.T) {
	d := sit(t)
	t.Setenv("SIGNALCAST_KEY", key)
	hub := serve(t, says(200, `{"ok":true,"id":"`+signalID+`",`+strings.Replace(verified, "[]", `["price_converted"]`, 1)+`}`))
	out, _ := d.run(done, "call", "701122", "no", "--price", "31.5", "--hub", hub.URL)
	d.has(out, "NO on 701122 at 68.5 cents", "69 cents", "at most +31 points", "at most -69 points", "that of NO is stored", hub.URL+"/receipts/"+signalID)
	out, _ = d.run(done, "call", "native-1", "no", "--price", "68.5", "--hub", hub.URL)
	if strings.Contains(out, "at most") {
		t.Errorf("a native market has no second quote: %s", out)
	}
	out, _ = d.run(done, "call", "701122", "no", "--price", "68.5", "--hub", serve(t, says(200, `{"ok":true,"id":"`+signalID+`",`+unverified+`}`)).URL)
	d.has(out, "does not count", "no fresh quote", "of_next_year")
}

// Integrity P14: the bound is 2 cents unless told otherwise, and refusals say which flags help.
func TestCallBoundsTheSlippage(t *testing.T) {
	d := sit(t)
	t.Setenv("SIGNALCAST_KEY", key)
	moved := serve(t, says(409, `{"error":"price_moved","reason":"moved","message":"NO costs 7100 bps","noPriceBps":7100}`))
	_, bad := d.run(refused, "call", "701122", "no", "--price", "68.5", "--max-slippage", "0.5", "--hub", moved.URL)
	d.has(bad, "NO costs 7100 bps", "--max-slippage")
	d.has(moved.said[0], `"maxSlippageBps":50`)
	hub := serve(t, noQuote, says(200, `{"ok":true,"id":"`+signalID+`",`+unverified+`}`))
	_, bad = d.run(refused, "call", "701122", "no", "--price", "68.5", "--hub", hub.URL)
	d.has(bad, "--allow-unverified")
	out, _ := d.run(done, "call", "701122", "no", "--price", "68.5", "--allow-unverified", "--hub", hub.URL)
	d.has(out, signalID)
	d.has(hub.said[1], `"maxSlippageBps":200`, `"allowUnverified":true`)
	if strings.Contains(hub.said[0], "allowUnverified") {
		t.Errorf("without the flag the command sends %s", hub.said[0])
	}
	for _, refusal := range []string{`{"error":"price_moved","reason":"moved"}`, `{"error":"idempotency_key_reused"}`} {
		hub = serve(t, says(409, refusal))
		d.run(refused, "call", "701122", "no", "--price", "68.5", "--allow-unverified", "--hub", hub.URL)
		if len(hub.asked) != 1 {
			t.Errorf("%s: %d requests; want 1", refusal, len(hub.asked))
		}
	}
}

// Integrity P15: a dry run is sent as one and files nothing.
func TestDryRunOfACommand(t *testing.T) {
	d := sit(t)
	t.Setenv("SIGNALCAST_KEY", key)
	hub := serve(t, says(200, `{"ok":true,"dryRun":true,`+verified+`}`),
		says(200, `{"dryRun":true,"event":{"type":"note","payload":{"text":"rain"},"actor":"owner","createdAt":"2026-09-18T12:00:00.000Z"}}`))
	out, _ := d.run(done, "call", "701122", "no", "--price", "68.5", "--dry-run", "--hub", hub.URL)
	d.has(out, "Would file", "NO on 701122 at 68.5 cents", "at most +31 points")
	d.has(hub.said[0], `"dryRun":true`)
	out, _ = d.run(done, "events", "add", signalID, "note", "--text", "rain", "--dry-run", "--hub", hub.URL)
	d.has(out, "rain")
	d.has(hub.said[1], `"dryRun":true`)
	for _, r := range hub.asked {
		if r.Header.Get("Idempotency-Key") != "" {
			t.Error("a dry run uses an idempotency key")
		}
	}
}

// Integrity P15: on a terminal the command shows the call and asks before it files.
func TestCallAsksOnATerminal(t *testing.T) {
	d := sit(t)
	t.Setenv("SIGNALCAST_KEY", key)
	dry, stored := says(200, `{"ok":true,"dryRun":true,`+verified+`}`), says(200, `{"ok":true,"id":"`+signalID+`",`+verified+`}`)
	file := func(hub *server) []string {
		return []string{"call", "701122", "no", "--price", "68.5", "--hub", hub.URL}
	}
	d.typed = true
	for _, in := range []string{"", "n\n", "\n", "yesterday\n"} {
		d.in = in
		hub := serve(t, dry, stored)
		_, bad := d.run(refused, file(hub)...)
		d.has(bad, "Would file", "at most +31 points", "[y/N]", "not filed")
		if len(hub.asked) != 1 {
			t.Errorf("%q: %d requests", in, len(hub.asked))
		}
	}
	d.in = "Yes\n"
	hub := serve(t, dry, stored)
	out, _ := d.run(done, file(hub)...)
	d.has(out, signalID)
	if len(hub.asked) != 2 || strings.Contains(hub.said[1], "dryRun") {
		t.Errorf("%q", hub.said)
	}
	d.in = "y\ny\n"
	hub = serve(t, dry, noQuote, says(200, `{"ok":true,"id":"`+signalID+`",`+unverified+`}`))
	out, bad := d.run(done, file(hub)...)
	d.has(bad, "without points?")
	d.has(out, "does not count")
	d.has(hub.said[2], `"maxSlippageBps":200`, `"allowUnverified":true`)
	if key := "Idempotency-Key"; hub.asked[1].Header.Get(key) == "" || hub.asked[1].Header.Get(key) != hub.asked[2].Header.Get(key) {
		t.Errorf("the keys are %q and %q; want the same", hub.asked[1].Header.Get(key), hub.asked[2].Header.Get(key))
	}
	d.in = "y\nn\n"
	hub = serve(t, dry, noQuote)
	_, bad = d.run(refused, file(hub)...)
	d.has(bad, "--allow-unverified")
	d.in = ""
	hub = serve(t, stored)
	d.run(done, append(file(hub), "--yes")...)
	if len(hub.asked) != 1 {
		t.Error("--yes asks")
	}
	hub = serve(t, says(409, `{"error":"already_predicted","id":"`+signalID+`"}`))
	_, bad = d.run(refused, file(hub)...)
	d.has(bad, "already_predicted", "cannot change")
}
