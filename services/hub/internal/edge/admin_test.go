package edge_test

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	resolutionv1 "github.com/signalcast/signalcast/proto/resolution/v1"

	"github.com/signalcast/signalcast/pkg/syntax"
	"github.com/signalcast/signalcast/services/hub/internal/audit"
	"github.com/signalcast/signalcast/services/hub/internal/memledger"
)

func TestFinalize(t *testing.T) {
	t.Parallel()
	b, _, _ := published(t)
	again := b.send("POST", "/api/resolution/finalize", `{"marketId":"native-0000000001","verdict":"NO"}`, byAdmin())
	golden(t, "admin/already_resolved", again)
	for body, code := range map[string]string{
		`{}`:                               "missing_market_id",
		`{"marketId":"native-"}`:           "invalid_market_id",
		`{"marketId":"native-0000000001"}`: "missing_verdict",
		`{"marketId":"native-0000000001","verdict":"MAYBE"}`:                "invalid_verdict",
		`{"marketId":"701122","verdict":"YES"}`:                             "invalid_market_id",
		finalizing(`"reason":"` + strings.Repeat("r", 501) + `"`):           "invalid_reason",
		finalizing(`"finalizedBy":"` + strings.Repeat("f", 65) + `"`):       "invalid_finalized_by",
		finalizing(`"resolver":"me"`):                                       "invalid_resolver",
		finalizing(`"source":"` + strings.Repeat("s", 65) + `"`):            "invalid_source",
		finalizing(`"source":"two\nlines"`):                                 "invalid_source",
		finalizing(`"source":" "`):                                          "invalid_source",
		finalizing(`"proofUrl":"http://records.example/1"`):                 "invalid_proof_url",
		finalizing(`"decidedAt":"yesterday"`):                               "invalid_decided_at",
		finalizing(`"decidedAt":"` + tomorrow + `"`):                        "invalid_decided_at",
		finalizing(`"proofUrl":"https://` + strings.Repeat("p", 500) + `"`): "invalid_proof_url",
	} {
		want(t, b.send("POST", "/api/resolution/finalize", body, byAdmin()), 400, code)
	}
	want(t, b.send("POST", "/api/resolution/finalize", `{"marketId":"native-0000000009","verdict":"YES"}`, byAdmin()), 404, "market_not_found")
}

// tomorrow is in the future of the tests.
const tomorrow = "2026-09-19T12:00:00.000Z"

func finalizing(members string) string {
	return `{"marketId":"native-0000000001","verdict":"NO",` + members + `}`
}

func TestForceAndDispute(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.file("YES", 6190, b.byKey())
	golden(t, "admin/disputed", b.send("POST", "/api/resolution/dispute", `{"marketId":"701122","reason":"two gauges"}`, byAdmin()))
	golden(t, "admin/outcome_disputed", b.send("GET", "/api/resolution/outcome?market=701122", ""))
	want(t, b.send("POST", "/api/admin/resolve-signals", `{"marketId":"701122","outcome":"YES"}`, byAdmin()), 409, "market_disputed")
	golden(t, "admin/cleared", b.send("POST", "/api/resolution/dispute", `{"marketId":"701122","disputed":false}`, byAdmin()))
	golden(t, "admin/forced", b.send("POST", "/api/admin/resolve-signals", `{"marketId":"701122","outcome":"INVALID","decidedAt":"2026-09-18T11:00:00.000Z"}`, byAdmin()))
	if at := b.ledger.DecidedAt; len(at) != 1 || syntax.Stamp(at[0]) != "2026-09-18T11:00:00.000Z" {
		t.Errorf("decided at %v", at)
	}
	for body, code := range map[string]string{
		`{}`: "missing_market_id", `{"marketId":"701122"}`: "missing_outcome", `{"marketId":"701122","outcome":"yes"}`: "invalid_outcome",
		`{"marketId":"701122","outcome":"YES","decidedAt":1}`:                  "invalid_decided_at",
		`{"marketId":"701122","outcome":"YES","decidedAt":"` + tomorrow + `"}`: "invalid_decided_at",
	} {
		want(t, b.send("POST", "/api/admin/resolve-signals", body, byAdmin()), 400, code)
	}
	for body, code := range map[string]string{
		`{}`: "missing_market_id", `{"marketId":"701122","disputed":"no"}`: "invalid_disputed", `{"marketId":"701122","reason":7}`: "invalid_reason",
	} {
		want(t, b.send("POST", "/api/resolution/dispute", body, byAdmin()), 400, code)
	}
}

func TestScan(t *testing.T) {
	t.Parallel()
	b := setup(t)
	golden(t, "admin/scan_nothing", b.send("POST", "/api/admin/resolve-signals", "", byAdmin()))
	b.ledger.ScanReply = &resolutionv1.ScanResponse{
		Scanned: 180, Resolved: 6, Scored: 41, Skipped: map[string]int64{"disputed": 1, "undecided": 172}, TookMs: 2210,
		Errors: []*resolutionv1.ScanError{{MarketId: "701122", Error: "venue_unavailable"}},
	}
	golden(t, "admin/scan", b.send("GET", "/api/admin/resolve-signals?secret="+cronSecret, ""))
	b.ledger.ScanReply = &resolutionv1.ScanResponse{Busy: true}
	golden(t, "admin/scan_busy", b.send("POST", "/api/admin/resolve-signals?secret="+cronSecret, ""))
	// The header keeps the secret out of the logs of proxies.
	byCron := with("X-Cron-Secret", cronSecret)
	want(t, b.send("GET", "/api/admin/resolve-signals", "", byCron), 200, "")
	want(t, b.send("POST", digestPath+"?dry=1", "", byCron), 200, "")
	want(t, b.send("GET", "/api/admin/resolve-signals?secret="+cronSecret, "", with("X-Cron-Secret", "wrong")), 403, "forbidden")
	want(t, b.send("GET", "/api/admin/resolve-signals", "", byCron, byCron), 403, "forbidden")
	want(t, b.send("POST", "/api/admin/resolve-signals", `{}`, byCron), 401, "unauthenticated")
	// A body makes it a forced claim, which the scheduler may not ask for.
	body := `{"marketId":"701122","outcome":"YES"}`
	want(t, b.send("POST", "/api/admin/resolve-signals?secret="+cronSecret, body), 401, "unauthenticated")
	want(t, b.send("POST", "/api/admin/resolve-signals?secret="+cronSecret, `{}`), 401, "unauthenticated")
	want(t, b.send("POST", "/api/admin/resolve-signals?secret="+adminSecret, body), 401, "unauthenticated")
	want(t, b.send("GET", "/api/admin/resolve-signals?secret=a&secret="+cronSecret, ""), 403, "forbidden")
	want(t, b.send("POST", "/api/resolution/dispute?secret="+cronSecret, ""), 401, "unauthenticated")
	if n := b.ledger.Count("Force"); n != 0 {
		t.Errorf("%d forced claims", n)
	}
}

func TestTenWrongSecretsFromOneAddress(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for range 10 {
		want(t, b.send("POST", "/api/admin/resolve-signals", "", with("X-Admin-Secret", "guess")), 403, "forbidden")
	}
	w := b.send("POST", "/api/admin/resolve-signals", "", byAdmin())
	want(t, w, 429, "rate_limited")
	if w.Header().Get("Retry-After") != "60" || field(w, "limit") != "10" || field(w, "retryAfterMs") != "60000" {
		t.Errorf("%v %s", w.Header(), w.Body)
	}
	b.clock.Advance(time.Minute)
	want(t, b.send("POST", "/api/admin/resolve-signals", "", byAdmin()), 200, "")
	from := func(address string) header { return func(r *http.Request) { r.RemoteAddr = "[" + address + "]:4711" } }
	for i := range 10 { // a household has a network of 64 bits
		want(t, b.send("POST", "/api/admin/resolve-signals", "", with("X-Admin-Secret", "guess"), from(fmt.Sprintf("2001:db8::%x", i))), 403, "forbidden")
	}
	want(t, b.send("POST", "/api/admin/resolve-signals", "", byAdmin(), from("2001:db8::ffff")), 429, "rate_limited")
	want(t, b.send("POST", "/api/admin/resolve-signals", "", byAdmin(), from("2001:db8:0:1::1")), 200, "")
}

func TestCreateMarket(t *testing.T) {
	t.Parallel()
	b := setup(t)
	golden(t, "admin/market_created", b.send("POST", "/api/admin/markets", `{"question":"Will the Ostrava gauge read above 6 m?",
		"cutoffAt":"2026-11-30T23:00:00Z","lane":"SCIENCE","description":"Read at noon.","resolvesBy":"2026-12-02T00:00:00Z",
		"resolutionSource":"https://records.example/gauge","initialYesBps":3000}`, byAdmin()))
	m := b.ledger.Markets["native-0000000003"]
	if m.GetYesBps() != 3000 || m.GetLane() != "SCIENCE" || m.GetResolutionSource() != "https://records.example/gauge" || m.GetDescription() != "Read at noon." {
		t.Errorf("%v", m)
	}
	for body, code := range map[string]string{
		`{}`: "missing_question", `{"question":"too short"}`: "invalid_question",
		`{"question":"` + strings.Repeat("q", 201) + `"}`:           "invalid_question",
		`{"question":"Will it rain?"}`:                              "missing_cutoff_at",
		creating(`"cutoffAt":"tomorrow"`):                           "invalid_cutoff_at",
		creating(`"cutoffAt":"2026-11-30T23:00:00Z"`):               "missing_lane",
		creating(`"cutoffAt":"2026-09-18T12:04:59Z","lane":"TECH"`): "invalid_cutoff_at",
		creating(`"cutoffAt":"2028-09-18T12:00:01Z","lane":"TECH"`): "invalid_cutoff_at",
		creating(`"cutoffAt":"2026-11-30T23:00:00Z","lane":"tech"`): "invalid_lane",
		timed(`"description":"` + strings.Repeat("d", 4001) + `"`):  "invalid_description",
		timed(`"resolvesBy":"2026-11-30T22:59:59Z"`):                "invalid_resolves_by",
		timed(`"resolvesBy":7`):                                     "invalid_resolves_by",
		timed(`"resolutionSource":"ftp://records.example"`):         "invalid_resolution_source",
		timed(`"initialYesBps":99`):                                 "invalid_initial_yes_bps",
		timed(`"initialYesBps":9901`):                               "invalid_initial_yes_bps",
	} {
		want(t, b.send("POST", "/api/admin/markets", body, byAdmin()), 400, code)
	}
	want(t, b.send("POST", "/api/admin/markets", timed(`"description":null`), byAdmin()), 201, "")
}

// Integrity P6: an administrator sets whether calls on a market count, with an audit entry.
func TestRateMarket(t *testing.T) {
	t.Parallel()
	b := setup(t)
	const path = "/api/admin/markets/701122"
	before := b.ledger.Markets["701122"].GetRated()
	for body, code := range map[string]string{
		`{"reason":"x"}`: "missing_rated", `{"rated":"yes","reason":"x"}`: "invalid_rated", `{"rated":true}`: "missing_reason",
		`{"rated":true,"reason":"` + strings.Repeat("r", 501) + `"}`: "invalid_reason", `{"rated":true,"reason":"a\u0007"}`: "invalid_reason",
	} {
		want(t, b.send("POST", path, body, byAdmin()), 400, code)
	}
	want(t, b.send("POST", path, `{"rated":true,"reason":"x"}`), 401, "unauthenticated")
	want(t, b.send("POST", "/api/admin/markets/404", `{"rated":true,"reason":"x"}`, byAdmin()), 404, "market_not_found")
	for _, rated := range []bool{!before, before} {
		w := b.send("POST", path, fmt.Sprintf(`{"rated":%v,"reason":"thin book"}`, rated), byAdmin())
		want(t, w, 200, "")
		if field(w, "rated") != fmt.Sprint(rated) || field(w, "marketId") != "701122" {
			t.Errorf("%s", w.Body)
		}
		if got := field(b.send("GET", "/api/m/701122", ""), "rated"); got != fmt.Sprint(rated) {
			t.Errorf("the market shows rated %s", got)
		}
	}
	want(t, b.send("POST", "/api/admin/resolve-signals", `{"marketId":"701122","outcome":"YES"}`, byAdmin()), 200, "")
	w := b.send("POST", path, fmt.Sprintf(`{"rated":%v,"reason":"too late"}`, !before), byAdmin())
	if want(t, w, 409, "already_resolved"); !strings.Contains(w.Body.String(), `"outcome":"YES"`) {
		t.Errorf("%s", w.Body)
	}
}

func creating(members string) string { return `{"question":"Will it rain on Sunday?",` + members + `}` }

func timed(members string) string {
	return creating(`"cutoffAt":"2026-11-30T23:00:00Z","lane":"TECH",` + members)
}

func TestClassify(t *testing.T) {
	t.Parallel()
	b := setup(t)
	golden(t, "admin/classified", b.send("POST", "/api/admin/operators", `{"handle":"MARA_K","operatorType":"human","house":true}`, byAdmin()))
	want(t, b.send("POST", "/api/admin/operators", `{"handle":"mara_k","operatorType":"ai_agent"}`, byAdmin()), 200, "")
	if op := b.ledger.Operators[b.mara.GetId()]; op.GetTier() != "automated" {
		t.Errorf("%v", op)
	}
	for body, code := range map[string]string{
		`{}`: "missing_handle", `{"handle":"x"}`: "invalid_handle", `{"handle":"a b"}`: "invalid_handle",
		`{"handle":"mara_k","operatorType":"robot"}`: "invalid_operator_type", `{"handle":"mara_k","house":"yes"}`: "invalid_house",
	} {
		want(t, b.send("POST", "/api/admin/operators", body, byAdmin()), 400, code)
	}
	want(t, b.send("POST", "/api/admin/operators", `{"handle":"nobody"}`, byAdmin()), 404, "not_found")
}

func TestAudit(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.send("POST", "/api/resolution/dispute", `{"marketId":"701122","reason":"two gauges"}`, byAdmin())
	b.send("GET", "/api/admin/resolve-signals?secret="+cronSecret, "")
	b.send("POST", "/api/resolution/finalize", `{"marketId":"native-0000000009","verdict":"YES"}`, byAdmin())
	b.send("POST", "/api/resolution/finalize", `{"marketId":"native-0000000009"}`, byAdmin())
	b.send("POST", "/api/admin/resolve-signals", "", with("X-Admin-Secret", "guess"))
	var got []string
	for _, e := range b.audit.entries {
		got = append(got, fmt.Sprint(e.Stage, e.Actor, e.Action, e.Target, e.Code))
		if e.ID == "" || e.RequestID == "" || e.IP != "192.0.2.1" || e.At.IsZero() {
			t.Errorf("%+v", e)
		}
	}
	want := []string{
		fmt.Sprint(audit.Asked, "admin", "POST /api/resolution/dispute", "701122", ""),
		fmt.Sprint(audit.Answered, "admin", "POST /api/resolution/dispute", "701122", "ok"),
		fmt.Sprint(audit.Asked, "cron", "GET /api/admin/resolve-signals", "", ""),
		fmt.Sprint(audit.Answered, "cron", "GET /api/admin/resolve-signals", "", "ok"),
		fmt.Sprint(audit.Asked, "admin", "POST /api/resolution/finalize", "native-0000000009", ""),
		fmt.Sprint(audit.Answered, "admin", "POST /api/resolution/finalize", "native-0000000009", "market_not_found"),
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("entries:\n%s", strings.Join(got, "\n"))
	}
	b.audit.fail = memledger.ErrDB
	before := b.ledger.Count("Dispute")
	w := b.send("POST", "/api/resolution/dispute", `{"marketId":"701122"}`, byAdmin())
	if w.Code != 503 || field(w, "error") != "db_unavailable" || b.ledger.Count("Dispute") != before {
		t.Errorf("an act that could not be written down: %d %s", w.Code, w.Body)
	}
	b.audit.fail = errors.New("broken")
	if w := b.send("POST", "/api/admin/markets", timed(`"description":"x"`), byAdmin()); w.Code != 500 {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}
