package httpapi_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/signalcast/signalcast/services/api/apitest"
)

// numbers are the members that all answers to calls and dry runs have.
var numbers = []string{
	"marketYesBps", "noPriceBps", "ok", "priceAtPrediction", "priceVerified", "rated", "scoreBasisBps", "warnings", "yesPriceBps",
}

func decoded(t *testing.T, w *answer) (body map[string]any) {
	t.Helper()
	must(t, json.Unmarshal(w.Body.Bytes(), &body))
	return body
}

var remainingForm = regexp.MustCompile(`r=(\d+)`)

// remaining returns the number of remaining requests from the RateLimit header of an answer.
func remaining(t *testing.T, w *answer) int {
	t.Helper()
	m := remainingForm.FindStringSubmatch(w.Header().Get("RateLimit"))
	if m == nil {
		t.Fatalf("no limit: %v", w.Header())
	}
	n, err := strconv.Atoi(m[1])
	must(t, err)
	return n
}

// hasNumbers checks the member names and the values of an answer about the NO call at 6850. more are names of further members.
func hasNumbers(t *testing.T, body map[string]any, more ...string) {
	t.Helper()
	if got, want := slices.Sorted(maps.Keys(body)), slices.Sorted(slices.Values(append(more, numbers...))); !slices.Equal(got, want) {
		t.Errorf("members %v, want %v", got, want)
	}
	if body["ok"] != true || body["priceAtPrediction"] != 6850.0 || body["scoreBasisBps"] != 6900.0 || body["priceVerified"] != true ||
		body["rated"] != true || body["marketYesBps"] != 3150.0 || body["yesPriceBps"] != 3200.0 || body["noPriceBps"] != 6900.0 {
		t.Errorf("%v", body)
	}
	if list, is := body["warnings"].([]any); !is || len(list) != 0 {
		t.Errorf("warnings %v", body["warnings"])
	}
}

// filings returns the bodies of a NO call at a price, by route. more is JSON text with further members.
func filings(price int, more string) map[string]string {
	rest := fmt.Sprintf("%d%s}", price, more)
	return map[string]string{
		"/api/predictions": `{"marketId":"701122","direction":"NO","priceAtPrediction":` + rest,
		predictPath:        `{"marketId":"701122","position":"NO","priceBps":` + rest,
		createPath:         `{"marketId":"701122","position":"NO","priceBps":` + rest,
	}
}

// invalid returns the error code for an invalid member: code, or invalid_request on protocol routes.
func invalid(path, code string) string {
	if path == "/api/predictions" {
		return code
	}
	return "invalid_request"
}

// TestFilingAnswersTheStoredNumbers (docs/guarantees.md P13) checks that every route that files calls returns the stored numbers.
// A replay must return the numbers of the stored call.
func TestFilingAnswersTheStoredNumbers(t *testing.T) {
	t.Parallel()
	for path, body := range filings(6850, ``) {
		b := withPages(t)
		k := with("Idempotency-Key", "k1")
		w := b.send("POST", path, body, b.byKey(), k)
		want(t, w, 200, "")
		more := []string{"id", "receiptUrl"}
		if path != "/api/predictions" {
			more = append(more, "uri", "messageId")
		}
		hasNumbers(t, decoded(t, w), more...)
		has(t, w, "receiptUrl=https://hub.example/receipts/"+field(w, "id"))
		b.ledger.Quote(marketID, 1000, 9100)
		has(t, b.send("POST", path, body, b.byKey(), k), "="+w.Body.String())
	}
	b := setup(t)
	u := b.callTool(agentPath, "submit_signal", `{"marketId":"701122","direction":"NO","priceAtPrediction":6850}`, b.byKey())
	fitsTool(t, "submit_signal", u)
	hasNumbers(t, u.body, "id", "receiptUrl")
}

// TestFilingWarnsOfAPriceOffTheMarket (docs/guarantees.md P13) checks that a call with a price in the wrong unit is stored with a
// warning.
func TestFilingWarnsOfAPriceOffTheMarket(t *testing.T) {
	t.Parallel()
	b := setup(t)
	w := b.send("POST", "/api/predictions", `{"marketId":"701122","direction":"YES","priceAtPrediction":32}`, b.byKey())
	want(t, w, 200, "", `"warnings":["price_off_market"]`, "scoreBasisBps=3200")
	b.ledger.AddMarket(apitest.Market{ID: "9", Title: "Mill race", Yes: 5000, Volume: 50})
	b.ledger.FailVenue()
	w = b.send("POST", "/api/predictions", `{"marketId":"9","direction":"YES","priceAtPrediction":5000}`, b.byKey())
	has(t, w, `"warnings":["price_unverified","market_unrated"]`, `"yesPriceBps":null`)
}

// TestMaxSlippageRefusesAMovedPrice (docs/guarantees.md P14) checks that every route applies maxSlippageBps, and that the error
// has the prices.
func TestMaxSlippageRefusesAMovedPrice(t *testing.T) {
	t.Parallel()
	b := withPages(t)
	for path, body := range filings(6600, `,"maxSlippageBps":250`) {
		for _, body := range []string{body, strings.Replace(body, "}", `,"dryRun":true}`, 1)} {
			w := b.send("POST", path, body, b.byKey())
			if want(t, w, 409, "price_moved"); field(w, "reason") != "moved" || field(w, "marketId") != marketID || field(w, "noPriceBps") != "6900" ||
				field(w, "yesPriceBps") != "3200" || field(w, "marketYesBps") != "3150" {
				t.Errorf("%s: %s", path, w.Body)
			}
		}
		for _, bad := range []string{"-1", "10001", `"200"`, "0.5"} {
			b.clock.Advance(2e9)
			want(t, b.send("POST", path, strings.Replace(body, "250", bad, 1), b.byKey()), 400, invalid(path, "invalid_max_slippage_bps"), "field=maxSlippageBps")
		}
	}
	b.ledger.Quote(marketID, 0, 0)
	w := b.send("POST", "/api/predictions", `{"marketId":"701122","direction":"NO","priceAtPrediction":6600,"maxSlippageBps":10000}`, b.byKey())
	want(t, w, 409, "price_moved", "reason=unverified", `"noPriceBps":null`)
	equal(t, b.calls(), 0)
	want(t, b.send("POST", "/api/predictions", `{"marketId":"701122","direction":"NO","priceAtPrediction":6600}`, b.byKey()), 200, "")
}

// TestAllowUnverifiedIsPassedOnWithTheBound (docs/guarantees.md P14) checks that every route applies allowUnverified together
// with maxSlippageBps: a price that has moved is rejected, and a call without a quote is stored unverified.
func TestAllowUnverifiedIsPassedOnWithTheBound(t *testing.T) {
	t.Parallel()
	for path, body := range filings(6600, `,"maxSlippageBps":250,"allowUnverified":true`) {
		b := withPages(t)
		dry := strings.Replace(body, "}", `,"dryRun":true}`, 1)
		for _, body := range []string{body, dry} {
			want(t, b.send("POST", path, body, b.byKey()), 409, "price_moved", "reason=moved")
		}
		for _, bad := range []string{`"true"`, "1", "{}"} {
			want(t, b.send("POST", path, strings.Replace(body, "true", bad, 1), b.byKey()), 400, invalid(path, "invalid_allow_unverified"), "field=allowUnverified")
		}
		b.ledger.Quote(marketID, 0, 0)
		for _, no := range []string{"false", "null"} {
			w := b.send("POST", path, strings.Replace(body, "true", no, 1), b.byKey())
			want(t, w, 409, "price_moved", "reason=unverified")
		}
		equal(t, b.calls(), 0, path)
		b.clock.Advance(2e9)
		w := b.send("POST", path, dry, b.byKey())
		want(t, w, 200, "", "priceVerified=false")
		equal(t, b.calls(), 0, path)
		k := with("Idempotency-Key", "k1")
		w = b.send("POST", path, body, b.byKey(), k)
		want(t, w, 200, "", "priceVerified=false")
		equal(t, b.calls(), 1, path)
		if d := b.draft(); d.GetMaxSlippageBps() != 250 || !d.GetAllowUnverified() {
			t.Errorf("%s sends %v", path, d)
		}
		has(t, b.send("POST", path, body, b.byKey(), k), "="+w.Body.String())
		want(t, b.send("POST", path, strings.Replace(body, "true", "false", 1), b.byKey(), k), 409, "idempotency_key_reused")
	}
}

// TestToolBoundsTheSlippage (docs/guarantees.md P14) checks that the tool bounds the slippage at 200 bps unless an argument
// changes it.
func TestToolBoundsTheSlippage(t *testing.T) {
	t.Parallel()
	b := setup(t)
	draft := func(more string) string {
		return `{"marketId":"701122","direction":"NO","priceAtPrediction":6600` + more + `}`
	}
	b.callTool(agentPath, "submit_signal", draft(""), b.byKey()).failsWith(t, "price_moved")
	b.callTool(agentPath, "submit_signal", draft(`,"maxSlippageBps":299`), b.byKey()).failsWith(t, "price_moved")
	b.callTool(agentPath, "submit_signal", draft(`,"allowUnverified":true`), b.byKey()).failsWith(t, "price_moved")
	b.callTool(agentPath, "submit_signal", draft(`,"maxSlippageBps":300,"dryRun":true`), b.byKey()).is(t, "dryRun", true)
	b.ledger.Quote(marketID, 0, 0)
	u := b.callTool(agentPath, "submit_signal", draft(`,"dryRun":true`), b.byKey())
	u.is(t, "priceVerified", false)
	u = b.callTool(agentPath, "submit_signal", draft(""), b.byKey())
	if u.failsWith(t, "price_moved"); u.body["reason"] != "unverified" {
		t.Errorf("%s", u.raw)
	}
	u = b.callTool(agentPath, "submit_signal", draft(`,"allowUnverified":true`), b.byKey())
	fitsTool(t, "submit_signal", u)
	u.is(t, "priceVerified", false)
	equal(t, b.calls(), 1)
	if d := b.draft(); d.GetMaxSlippageBps() != 200 || !d.GetAllowUnverified() {
		t.Errorf("the tool sends %v; want the bound of 200 bps", d)
	}
}

// TestDryRunOfACall (docs/guarantees.md P15) checks that a dry run validates a call, counts against the rate limit, stores
// nothing, and does not use up its idempotency key.
func TestDryRunOfACall(t *testing.T) {
	t.Parallel()
	for path, body := range filings(6850, `,"dryRun":true`) {
		b := withPages(t)
		k := with("Idempotency-Key", "k1")
		first := b.send("POST", path, body, b.byKey(), k)
		want(t, first, 200, "")
		hasNumbers(t, decoded(t, first), "dryRun")
		second := b.send("POST", path, body, b.byKey())
		if a, z := remaining(t, first), remaining(t, second); z != a-1 {
			t.Errorf("%s: %d requests left, then %d", path, a, z)
		}
		if b.ledger.Count("File") != 0 || b.calls() != 0 || b.number(`SELECT count(*) FROM hub.attestations_due`) != 0 {
			t.Errorf("%s: the dry run changed the database", path)
		}
		for _, bad := range []string{`"true"`, "1", "{}"} {
			want(t, b.send("POST", path, strings.Replace(body, "true", bad, 1), b.byKey()), 400, invalid(path, "invalid_dry_run"), "field=dryRun")
		}
		for _, bad := range []string{`"dryRun":null`, `"dryrun":true`, `"DryRun":false`, `"dry_run":true`, `"dry-run":null`, `"DRY_RUN":"yes"`, `"dryRun":true,"dryrun":true`} {
			w := b.send("POST", path, strings.Replace(body, `"dryRun":true`, bad, 1), b.byKey())
			want(t, w, 400, invalid(path, "invalid_dry_run"), "field=dryRun")
			equal(t, b.calls(), 0, path, bad)
		}
		for _, query := range []string{"?dryRun=true", "?dry_run=1", "?DRYRUN"} {
			want(t, b.send("POST", path+query, strings.Replace(body, `"dryRun":true`, `"dryRun":false`, 1), b.byKey()), 400, "")
			equal(t, b.calls(), 0, path, query)
		}
		want(t, b.send("POST", path, strings.Replace(body, marketID, "native-0000000404", 1), b.byKey()), 404, "market_not_found")
		want(t, b.send("POST", path, strings.Replace(body, marketID, "405", 1), b.byKey()), 200, "", `"rated":null`)
		stored := b.send("POST", path, strings.Replace(body, "true", "false", 1), b.byKey(), k)
		want(t, stored, 200, "", "!id=")
		if w := b.send("POST", path, body, b.byKey()); field(w, "id") != field(stored, "id") {
			t.Errorf("%s: %s", path, w.Body)
		} else {
			want(t, w, 409, "already_predicted")
		}
	}
	b := setup(t)
	want(t, b.send("POST", "/api/predictions", `{"marketId":"701122","direction":"NO","priceAtPrediction":6850,"dryRun":true}`), 401, "unauthenticated")
}

// TestDryRunOfAnEvent (docs/guarantees.md P15) checks that a dry run of an event answers 200 with the event, without an id.
func TestDryRunOfAnEvent(t *testing.T) {
	t.Parallel()
	b := setup(t)
	path := "/api/signals/" + b.file("YES", 3150, b.byKey()) + "/events"
	k := with("Idempotency-Key", "e1")
	w := b.send("POST", path, `{"type":"note","payload":{"text":"rain"},"dryRun":true}`, b.byKey(), k)
	want(t, w, 200, "")
	golden(t, "events/dry_run", w)
	equal(t, len(b.events(0)), 0)
	equal(t, b.ledger.Count("AppendEvent"), 0)
	want(t, b.send("POST", path, `{"type":"note","payload":{"text":"wind"},"dryRun":false}`, b.byKey(), k), 201, "")
	want(t, b.send("POST", path, `{"type":"note","payload":{"text":"wind"},"dryRun":"no"}`, b.byKey()), 400, "invalid_dry_run")
	for _, bad := range []string{`"dryRun":null`, `"dryrun":true`, `"dry_run":true`} {
		want(t, b.send("POST", path, `{"type":"note","payload":{"text":"hail"},`+bad+`}`, b.byKey()), 400, "invalid_dry_run")
	}
	want(t, b.send("POST", path, `{"type":"note","payload":{},"dryRun":true}`, b.byKey()), 400, "invalid_payload")
	other := with("Authorization", "Bearer "+b.ledger.AddKey(b.ledger.AddOperator("otto").GetId()))
	want(t, b.send("POST", path, `{"type":"reaffirm","dryRun":true}`, other), 403, "forbidden")
}

// TestTextsRejectControlCharacters (docs/guarantees.md P11) checks that texts with control or bidirectional characters are
// rejected, and names with format characters, too. CR LF is stored as LF.
func TestTextsRejectControlCharacters(t *testing.T) {
	t.Parallel()
	b := withPages(t)
	call := b.file("YES", 3150, b.byKey())
	events := "/api/signals/" + call + "/events"
	for _, bad := range []string{`\u0001`, `\u001b[2J`, `\u007f`, `\u0085`, `\u009f`, `\t`, `\r`, `\u202e`, `\u2066`, `\ue000`, `\udbff\udffd`, `\ufdd0`, `\uffff`} {
		for _, c := range [][3]string{
			{"/api/predictions", draft(`"priceAtPrediction":1,"textTake":"a` + bad + `b"`), "invalid_text_take"},
			{"/api/predictions", draft(`"priceAtPrediction":1,"marketTitle":"a` + bad + `b"`), "invalid_market_title"},
			{"/api/predictions", draft(`"priceAtPrediction":1,"channelId":"a` + bad + `b"`), "invalid_channel_id"},
			{createPath, `{"marketId":"701122","position":"YES","priceBps":1,"take":"a` + bad + `b"}`, "invalid_request"},
			{events, `{"type":"note","payload":{"text":"a` + bad + `b"}}`, "invalid_payload"},
			{events, `{"type":"take","payload":{"text":"a` + bad + `b"}}`, "invalid_payload"},
			{events, `{"type":"share","payload":{"channel":"a` + bad + `b"}}`, "invalid_payload"},
		} {
			b.clock.Advance(2e9)
			want(t, b.send("POST", c[0], c[1], b.byKey()), 400, c[2])
		}
		for member, code := range map[string]string{"displayName": "invalid_display_name", "bio": "invalid_bio"} {
			b.clock.Advance(2e9)
			want(t, b.send("POST", "/api/streamer/profile", `{"`+member+`":"a`+bad+`b"}`, b.byKey()), 400, code)
		}
		want(t, b.send("POST", "/api/dev/keys", `{"label":"a`+bad+`b"}`, byLogin("mara_k")), 400, "invalid_label")
	}
	want(t, b.send("POST", "/api/dev/keys", `{"label":"a\u200bb"}`, byLogin("mara_k")), 400, "invalid_label")
	want(t, b.send("POST", "/api/predictions", `{"marketId":"`+nativeID+`","direction":"YES","priceAtPrediction":5000,"marketTitle":"a\nb"}`, b.byKey()), 400, "invalid_market_title")
	want(t, b.send("POST", "/api/predictions", `{"marketId":"`+nativeID+`","direction":"YES","priceAtPrediction":5000,"textTake":"a\r\nb\u200d"}`, b.byKey()), 200, "")
	equal(t, b.draft().GetTextTake(), "a\nb\u200d")
	want(t, b.send("POST", events, `{"type":"note","payload":{"text":"a\r\nb"}}`, b.byKey()), 201, "")
	equal(t, b.events(0)[0].GetPayload(), `{"text":"a\nb"}`)
}

// slowBody is a body that sends nothing until the time of its request has ended.
type slowBody struct{ ctx context.Context }

func (s slowBody) Read([]byte) (int, error) {
	<-s.ctx.Done()
	return 0, s.ctx.Err()
}

// TestSlowAndBrokenBodies checks that a body that is too slow or incomplete is 400 for a valid key, and 401 for an invalid one. The key
// is checked although the body has used up the time of the request.
func TestSlowAndBrokenBodies(t *testing.T) {
	t.Parallel()
	b := setup(t)
	events := "/api/signals/" + b.file("YES", 3150, b.byKey()) + "/events"
	for _, path := range []string{"/api/predictions", events} {
		for name, body := range map[string]func(ctx context.Context) io.Reader{
			"slow": func(ctx context.Context) io.Reader { return slowBody{ctx} },
			"broken": func(context.Context) io.Reader {
				return io.MultiReader(strings.NewReader(`{"type":`), iotest.ErrReader(io.ErrUnexpectedEOF))
			},
		} {
			for key, status := range map[string]int{"Bearer " + b.key: 400, "Bearer dk_" + strings.Repeat("0", 64): 401} {
				ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
				r := httptest.NewRequestWithContext(ctx, http.MethodPost, path, body(ctx))
				r.Header.Set("Content-Type", "application/json")
				r.Header.Set("Authorization", key)
				w := httptest.NewRecorder()
				b.server.ServeHTTP(w, r)
				cancel()
				if w.Code != status {
					t.Errorf("%s, %s body: %d %s, want %d", path, name, w.Code, w.Body, status)
				}
			}
		}
	}
	equal(t, b.calls(), 1)
}
