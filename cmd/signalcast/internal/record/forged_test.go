package record

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"golang.org/x/mod/sumdb/note"
)

type object = map[string]any

// edited returns the sample record with changes and a valid SHA-256. change receives the first line, the call on line 2, and
// the last line. The call is a counted loss at 9600 bps on a native market.
func edited(t *testing.T, change func(head, call, end object)) string {
	t.Helper()
	return editedLine(t, 2, change)
}

// venueLine is the line of a call on a venue market: a counted win that was filed at 1700 bps and has a second quote of 2000
// bps.
const venueLine = 4

// editedLine does the same as edited, for the call on another line.
func editedLine(t *testing.T, line int, change func(head, call, end object)) string {
	t.Helper()
	lines := sample(t)
	last := len(lines) - 1
	var parts [3]object
	at := [3]int{0, line - 1, last}
	for i, n := range at {
		d := json.NewDecoder(strings.NewReader(lines[n]))
		d.UseNumber()
		if err := d.Decode(&parts[i]); err != nil {
			t.Fatal(err)
		}
	}
	change(parts[0], parts[1], parts[2])
	for i, n := range at {
		var text bytes.Buffer
		e := json.NewEncoder(&text)
		if err := e.Encode(parts[i]); err != nil {
			t.Fatal(err)
		}
		lines[n] = text.String()
	}
	return whole(lines)
}

func tolerances(list ...any) []any {
	out := []any{}
	for i := 0; i < len(list); i += 2 {
		out = append(out, object{"since": list[i], "bps": list[i+1]})
	}
	return out
}

// statedLow makes the call pending. It states a price of 100 bps while the market is at 9600 bps, so the scoring price is 9600
// bps. The totals on the last line do not change and therefore differ.
func statedLow(_, call, _ object) {
	call["priceAtPrediction"] = 100
	makePending(call)
}

// scoredAt sets both scoring prices of a call, at the filing and the final one, to bps.
func scoredAt(call object, bps int) { call["filingBasisBps"], call["scoreBasisBps"] = bps, bps }

// makePending removes the result from a call.
func makePending(call object) {
	call["status"], call["events"] = "pending", []any{}
	for _, name := range []string{
		"score", "outcome", "closePrice", "clvBps", "resolvedAt", "scoringVersion", "scoringVertical", "resolution", "counted", "reason",
	} {
		call[name] = nil
	}
}

// respell renames the member from of an object to to.
func respell(o object, from, to string) {
	o[to] = o[from]
	delete(o, from)
}

func noteOf(call object) object { return call["events"].([]any)[0].(object) }

const signed = "signalcast.ledger\n12\nAAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=\n\n\u2014 signalcast.ledger "

// TestForgeries checks that Verify reports each change that an attacker may make to a record.
func TestForgeries(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change func(head, call, end object)
		says   string
	}{
		"a higher price of the side": {
			func(_, c, _ object) { c["marketYesAtSignal"] = 0 },
			"line 2: filingBasisBps: is 9600, should be 10000",
		},
		"a higher initial price": {
			func(_, c, _ object) { c["initialYesBps"] = 300 },
			"line 2: filingBasisBps: is 9600, should be 9700",
		},
		"basis below the side": {
			func(h, c, e object) { statedLow(h, c, e); scoredAt(c, 9599) },
			"line 2: filingBasisBps: is 9599, should be 9600",
		},
		"another final basis": {
			func(_, c, _ object) { c["scoreBasisBps"] = 9500 },
			"line 2: scoreBasisBps: is 9500, should be 9600",
		},
		"an unrated call that counts": {func(_, c, _ object) { c["rated"] = false }, "line 2: counted: is true, should be false"},
		"a market that is unrated": {
			func(_, c, _ object) { c["resolution"].(object)["rated"] = false },
			"line 2: counted: is true, should be false",
		},
		"an own market that counts":  {func(_, c, _ object) { c["ownMarket"] = true }, "line 2: counted: is true, should be false"},
		"a call that is not counted": {func(_, c, _ object) { c["counted"] = false }, "line 2: counted: is false, should be true"},
		"a late reason on time":      {func(_, c, _ object) { c["reason"] = "late" }, "line 2: reason"},
		"another tolerance": {func(h, c, e object) {
			statedLow(h, c, e)
			h["priceTolerances"] = tolerances("1970-01-01T00:00:00Z", 500)
		}, "should be 9100"},
		"a later tolerance": {func(h, c, e object) {
			statedLow(h, c, e)
			h["priceTolerances"] = tolerances("1970-01-01T00:00:00Z", 500, "2027-01-01T00:00:00Z", 1000)
		}, "should be 9100"},
		"an earlier tolerance": {func(h, c, e object) {
			statedLow(h, c, e)
			h["priceTolerances"] = tolerances("1970-01-01T00:00:00Z", 1000, "2026-11-01T00:00:00Z", 500)
		}, "should be 9100"},
		"no tolerances": {func(h, _, _ object) { delete(h, "priceTolerances") }, "line 2: priceTolerances"},
		"tolerances from some day on": {
			func(h, _, _ object) { h["priceTolerances"] = tolerances("2026-01-01T00:00:00Z", 1000) },
			"line 1: priceTolerances[0].since",
		},
		"tolerances backwards": {func(h, _, _ object) {
			h["priceTolerances"] = tolerances("1970-01-01T00:00:00Z", 1000, "1970-01-01T00:00:00Z", 1000)
		}, "line 1: priceTolerances[1].since"},
		"an unverified price":    {func(_, c, _ object) { c["priceVerified"] = false }, "line 2: counted"},
		"asOf in the future":     {func(h, _, _ object) { h["asOf"] = "2026-11-22T09:35:01Z" }, "line 1: asOf"},
		"asOf before the result": {func(h, c, _ object) { h["asOf"] = c["createdAt"] }, "line 2: resolvedAt"},
		"an event before its call": {
			func(_, c, _ object) { noteOf(c)["createdAt"] = "1999-01-01T00:00:00Z" },
			"line 2: events.createdAt",
		},
		"a result before its call": {
			func(_, c, _ object) { c["resolvedAt"] = "1999-01-01T00:00:00Z" },
			"line 2: resolvedAt: is 1999-01-01T00:00:00.000Z, should be not before the call",
		},
		"a resolution before its call": {
			func(_, c, _ object) { c["resolution"].(object)["resolvedAt"] = "1999-01-01T00:00:00Z" },
			"line 2: resolution.resolvedAt",
		},
		"a close before the call": {
			func(_, c, _ object) { c["resolution"].(object)["closeAt"] = "2000-01-01T00:00:00Z" },
			`line 2: reason: is "", should be "late"`,
		},
		"a close after the result": {
			func(_, c, _ object) { c["resolution"].(object)["closeAt"] = "2026-11-22T09:00:00Z" },
			"line 2: resolution.closeAt",
		},
		"an unknown vertical":   {func(_, c, _ object) { c["scoringVertical"] = "NONSENSE" }, "line 2: scoringVertical"},
		"an unknown lane":       {func(_, c, _ object) { c["lane"] = "X" }, "line 2: lane"},
		"a crowd above 100%":    {func(_, c, _ object) { c["crowdYesAtSignal"] = 99999 }, "line 2: crowdYesAtSignal"},
		"a path as an id":       {func(_, c, _ object) { c["id"] = "../../x" }, "line 2: id"},
		"a path as a market id": {func(_, c, _ object) { c["marketId"] = "native-../x" }, "line 2: marketId"},
		"a random event id": {
			func(_, c, _ object) { noteOf(c)["id"] = "3e96deca-cfd9-44ff-bab5-291617153993" },
			"line 2: events.id",
		},
		"an invalid event id":  {func(_, c, _ object) { noteOf(c)["id"] = "x" }, "line 2: events.id"},
		"an invalid public id": {func(h, _, _ object) { h["operatorPublicId"] = "mara" }, "line 1: operatorPublicId"},
		"control codes in a handle": {
			func(h, _, _ object) { h["handle"] = "mara\x1b[2J\x1b[H" },
			`line 1: handle: is "mara\x1b[2J\x1b[H"`,
		},
		"an invalid checkpoint": {func(_, _, e object) { e["checkpoint"] = "forged" }, "checkpoint"},
		"a checkpoint without a size": {func(_, _, e object) {
			e["checkpoint"] = strings.Replace(signed, "\n12\n", "\n012\n", 1) + "AAAAAQECAwQ=\n"
		}, "should be name, size and root"},
		"a total in another spelling": {
			func(_, _, e object) { respell(e["numbers"].(object), "streak", "Streak") },
			"a member with the name streak",
		},
		"a tier in another spelling": {
			func(_, _, e object) { respell(e["numbers"].(object)["moments"].(object), "RARE", "R2RE") },
			"a number for each tier",
		},
		"an edge in another spelling": {
			func(_, _, e object) { respell(e["edge"].(object), "lowBps", "LowBps") },
			"a member with the name lowBps",
		},
		"a result in another spelling":   {func(_, c, _ object) { respell(c, "score", "Score") }, "a member with the name score"},
		"a scored call still in scoring": {func(_, c, _ object) { c["scoring"] = true }, "line 2: scoring"},
		"a result in two spellings":      {func(_, c, _ object) { c["Score"] = c["score"]; c["score"] = 99 }, "each member once"},
	} {
		text := edited(t, c.change)
		if name == "a result in two spellings" { // the member that this package reads must be the last
			text = strings.Replace(text, `"Score":-96`, `"score":99`, 1)
			text = strings.Replace(text, `"score":99,"scoring"`, `"Score":-96,"scoring"`, 1)
		}
		var out bytes.Buffer
		_, err := Verify(strings.NewReader(text), &out, reader)
		if !errors.Is(err, ErrDiffers) || !strings.Contains(out.String(), c.says) || strings.ContainsRune(out.String(), 0x1b) {
			t.Errorf("%s: error %v, want ErrDiffers and %q\n%s", name, err, c.says, out.String())
		}
	}
}

// TestValidVariants checks that Verify reports no differences for records that a service can write. It ignores the totals on
// the last line, which are those of the unchanged sample.
func TestValidVariants(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change            func(head, call, end object)
		scoring, unpriced int64
	}{
		"a stated price too low":     {statedLow, 0, 0},
		"a quote that is not stored": {func(h, c, e object) { statedLow(h, c, e); c["marketYesAtSignal"] = nil }, 0, 1},
		"no fresh quote": {func(_, c, _ object) {
			c["priceVerified"], c["counted"] = false, false
			c["events"].([]any)[1].(object)["payload"].(object)["counted"] = false
		}, 0, 0},
		"a tolerance is replaced": {func(h, c, e object) {
			statedLow(h, c, e)
			scoredAt(c, 8600)
			h["priceTolerances"] = tolerances("1970-01-01T00:00:00Z", 1000, earlier(t, c, overlap-time.Second), 500)
		}, 0, 0},
		"still being scored": {func(_, c, _ object) {
			claim := c["resolution"]
			makePending(c)
			c["resolution"], c["scoring"] = claim, true
		}, 1, 0},
		"disputed before it was scored": {func(_, c, _ object) {
			claim := c["resolution"].(object)
			makePending(c)
			claim["disputed"], c["resolution"] = true, claim
		}, 0, 0},
		"a checkpoint": {func(_, _, e object) { e["checkpoint"] = signed + "AAAAAQECAwQ=\n" }, 0, 0},
		"a name in two spellings in a payload": {
			func(_, c, _ object) { noteOf(c)["payload"] = object{"a": 1, "A": object{"score": 1, "Score": 2}} },
			0, 0,
		},
		"an event with an idempotency key": {
			func(_, c, _ object) { noteOf(c)["id"] = "3e96deca-cfd9-84ff-bab5-291617153993" },
			0, 0,
		},
		"the reader's clock is behind": {func(h, _, _ object) { h["asOf"] = "2026-11-22T09:34:59Z" }, 0, 0},
	} {
		var out bytes.Buffer
		got, _ := Verify(strings.NewReader(edited(t, c.change)), &out, reader)
		for line := range strings.Lines(out.String()) {
			if !strings.HasPrefix(line, "line 50: numbers.") && !strings.HasPrefix(line, "line 50: edge.") &&
				!strings.HasPrefix(line, "line 50: events:") &&
				!(name == "a tolerance is replaced" && !strings.HasPrefix(line, "line 2:")) { // a tolerance applies to all calls
				t.Errorf("%s: unexpected difference %s", name, line)
			}
		}
		if got.Scoring != c.scoring || got.Unpriced != c.unpriced {
			t.Errorf("%s: %d calls being scored and %d unpriced; want %d and %d", name, got.Scoring, got.Unpriced, c.scoring, c.unpriced)
		}
	}
	v := Result{Handle: "a\x1b[2J\n", Calls: 3, Scoring: 2, Unpriced: 1}
	text := v.summary()
	if strings.Contains(text, "\x1b") || strings.Count(text, "\n") != 1 ||
		!strings.Contains(text, "being scored: 2") || !strings.Contains(text, "recomputed: 1") ||
		!strings.HasSuffix(text, "\narithmetic verified; origin not verified") {
		t.Errorf("summary of a record with open calls: %q", text)
	}
}

// earlier returns the time that is the duration by before the creation of the call, as text.
func earlier(t *testing.T, call object, by time.Duration) string {
	at, err := time.Parse(time.RFC3339, call["createdAt"].(string))
	if err != nil {
		t.Fatal(err)
	}
	return at.Add(-by).Format(time.RFC3339Nano)
}

// TestForgedQuotes checks that Verify reports a scoring price or a counted flag that does not follow from the quotes.
func TestForgedQuotes(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change func(head, call, end object)
		says   string
	}{
		"a better first quote": {
			func(_, c, _ object) { c["quote"].(object)["yesPriceBps"] = 1800 },
			"line 4: filingBasisBps: is 1700, should be 1800",
		},
		"no first quote": {
			func(_, c, _ object) { c["quote"], c["quoteAt"] = nil, nil },
			"line 4: counted: is true, should be false",
		},
		"an old first quote": {func(_, c, _ object) { c["quote"].(object)["at"] = "2026-11-22T05:00:00Z" }, "line 4: quote.at"},
		"the basis at the filing": {
			func(_, c, _ object) { c["scoreBasisBps"] = 1700 },
			"line 4: scoreBasisBps: is 1700, should be 2000",
		},
		"a lower second quote": {
			func(_, c, _ object) { c["secondQuote"].(object)["yesPriceBps"] = 1900 },
			"line 4: scoreBasisBps: is 2000, should be 1900",
		},
		"no second quote": {
			func(_, c, _ object) { c["secondQuote"], c["confirmedAt"] = nil, nil },
			"line 4: counted: is true, should be false",
		},
		"a second quote too soon": {
			func(_, c, _ object) { c["secondQuote"].(object)["at"] = c["createdAt"] },
			"line 4: secondQuote.at",
		},
		"second after the close": {
			func(_, c, _ object) { c["secondQuote"].(object)["at"] = "2026-11-22T05:20:00Z" },
			"line 4: secondQuote.at",
		},
		"second quotes are off": {func(h, _, _ object) { h["quoteConfirmAfterMs"] = 0 }, "line 4: secondQuote.at"},
		"another second quote":  {func(_, c, _ object) { c["confirmedAt"] = "2026-11-22T05:18:57Z" }, "line 4: confirmedAt"},
	} {
		var out bytes.Buffer
		_, err := Verify(strings.NewReader(editedLine(t, venueLine, c.change)), &out, reader)
		if !errors.Is(err, ErrDiffers) || !strings.Contains(out.String(), c.says) {
			t.Errorf("%s: error %v, want ErrDiffers and %q\n%s", name, err, c.says, out.String())
		}
	}
}

// TestOriginIsNotVerified checks that the output states that the origin is not verified. If the origin is required, the command
// must return an error.
func TestOriginIsNotVerified(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		v    verifyCommand
		json bool
		text string
		says []string
		err  error
	}{
		{
			verifyCommand{},
			false,
			strings.Join(sample(t), ""),
			[]string{"all numbers are correct (calls: 48, events: 54)", "arithmetic verified; origin not verified"},
			nil,
		},
		{verifyCommand{RequireOrigin: true}, false, strings.Join(sample(t), ""), []string{"origin not verified"}, ErrOrigin},
		{
			verifyCommand{},
			true,
			strings.Join(sample(t), ""),
			[]string{`"arithmetic": "verified"`, `"origin": "not verified"`, `"differences": []`},
			nil,
		},
		{
			verifyCommand{},
			true,
			edited(t, func(_, c, _ object) { c["score"] = 5 }),
			[]string{`"arithmetic": "differs"`, `"origin": "not verified"`, "line 2: score"},
			ErrDiffers,
		},
	} {
		var out bytes.Buffer
		err := c.v.report(strings.NewReader(c.text), &out, c.json, reader)
		if !errors.Is(err, c.err) {
			t.Errorf("%+v: error %v, want %v", c.v, err, c.err)
		}
		for _, want := range c.says {
			if !strings.Contains(out.String(), want) {
				t.Errorf("%+v: the output does not contain %q:\n%s", c.v, want, out.String())
			}
		}
	}
}

// TestCheckpointAndKey checks that, if a key is given, the record must have a checkpoint that this key signed.
func TestCheckpointAndKey(t *testing.T) {
	t.Parallel()
	newKey := func() (note.Signer, note.Verifier) {
		private, public, err := note.GenerateKey(rand.Reader, journalOrigin)
		if err != nil {
			t.Fatal(err)
		}
		s, err := note.NewSigner(private)
		if err != nil {
			t.Fatal(err)
		}
		v, err := note.NewVerifier(public)
		if err != nil {
			t.Fatal(err)
		}
		return s, v
	}
	signer, key := newKey()
	_, other := newKey()
	body, _, _ := strings.Cut(signed, "\n\n")
	text, err := note.Sign(&note.Note{Text: body + "\n"}, signer)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		text any
		key  note.Verifier
		want int
	}{{string(text), nil, 0}, {string(text), key, 0}, {string(text), other, 1}, {nil, nil, 0}, {nil, key, 1}} {
		var out bytes.Buffer
		got, _ := Verify(strings.NewReader(edited(t, func(_, _, e object) { e["checkpoint"] = c.text })), &out,
			Options{Now: reader.Now, Key: c.key})
		if got.Differences != c.want {
			t.Errorf("%v: %d differences, want %d\n%s", c, got.Differences, c.want, out.String())
		}
	}
}
