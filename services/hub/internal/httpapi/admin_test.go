package httpapi_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"

	programv1 "github.com/signalcast/signalcast/proto/program/v1"
	resolutionv1 "github.com/signalcast/signalcast/proto/resolution/v1"

	"github.com/signalcast/signalcast/pkg/apperr"
	"github.com/signalcast/signalcast/pkg/protocol"
	"github.com/signalcast/signalcast/services/api/apitest"
	"github.com/signalcast/signalcast/services/hub/internal/audit"
	"github.com/signalcast/signalcast/services/hub/internal/httpapi"
)

func TestFinalize(t *testing.T) {
	t.Parallel()
	b, _, _ := withCalls(t)
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

// tomorrow is a time one day after the start time of the tests.
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
	if at := apitest.Last[*resolutionv1.ForceRequest](b.ledger).GetDecidedAt(); protocol.Stamp(at.AsTime()) != "2026-09-18T11:00:00.000Z" {
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
	want(t, b.send("GET", "/api/admin/resolve-signals?secret=a&secret="+cronSecret, ""), 403, "forbidden")
	equal(t, b.ledger.Count("Force"), 0)
}

// TestWrongSecretsFromOneNetwork checks that the addresses of one IPv6 /64 network share a limit for wrong admin secrets.
func TestWrongSecretsFromOneNetwork(t *testing.T) {
	t.Parallel()
	b := setup(t)
	from := func(address string) header { return func(r *http.Request) { r.RemoteAddr = "[" + address + "]:4711" } }
	for i := range 10 {
		want(t, b.send("POST", "/api/admin/resolve-signals", "", with("X-Admin-Secret", "guess"), from(fmt.Sprintf("2001:db8::%x", i))), 403, "forbidden")
	}
	w := b.send("POST", "/api/admin/resolve-signals", "", byAdmin(), from("2001:db8::ffff"))
	want(t, w, 429, "rate_limited", "Retry-After: 60", "limit=10", "retryAfterMs=60000")
	want(t, b.send("POST", "/api/admin/resolve-signals", "", byAdmin(), from("2001:db8:0:1::1")), 200, "")
}

func TestCreateMarket(t *testing.T) {
	t.Parallel()
	b := setup(t)
	w := b.send("POST", "/api/admin/markets", `{"question":"Will the Ostrava gauge read above 6 m?",
		"cutoffAt":"2026-11-30T23:00:00Z","lane":"SCIENCE","description":"Read at noon.","resolvesBy":"2026-12-02T00:00:00Z",
		"resolutionSource":"https://records.example/gauge","initialYesBps":3000}`, byAdmin())
	id := field(w, "marketId")
	golden(t, "admin/market_created", renamed(w, id, "native-0000000003"))
	m := b.market(id)
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

// TestRateMarket (docs/guarantees.md P6) checks that an administrator sets whether calls on a market are counted, and that the
// change is audited.
func TestRateMarket(t *testing.T) {
	t.Parallel()
	b := setup(t)
	const path = "/api/admin/markets/701122"
	before := b.market("701122").GetRated()
	for body, code := range map[string]string{
		`{"reason":"x"}`: "missing_rated", `{"rated":"yes","reason":"x"}`: "invalid_rated", `{"rated":true}`: "missing_reason",
		`{"rated":true,"reason":"` + strings.Repeat("r", 501) + `"}`: "invalid_reason", `{"rated":true,"reason":"a\u0007"}`: "invalid_reason",
	} {
		want(t, b.send("POST", path, body, byAdmin()), 400, code)
	}
	want(t, b.send("POST", "/api/admin/markets/404", `{"rated":true,"reason":"x"}`, byAdmin()), 404, "market_not_found")
	for _, rated := range []bool{!before, before} {
		w := b.send("POST", path, fmt.Sprintf(`{"rated":%v,"reason":"thin book"}`, rated), byAdmin())
		want(t, w, 200, "", "rated="+fmt.Sprint(rated), "marketId=701122")
		equal(t, field(b.send("GET", "/api/m/701122", ""), "rated"), fmt.Sprint(rated))
	}
	want(t, b.send("POST", "/api/admin/resolve-signals", `{"marketId":"701122","outcome":"YES"}`, byAdmin()), 200, "")
	w := b.send("POST", path, fmt.Sprintf(`{"rated":%v,"reason":"too late"}`, !before), byAdmin())
	want(t, w, 409, "already_resolved", `"outcome":"YES"`)
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
	if op := b.operator("mara_k"); op.GetTier() != "automated" {
		t.Errorf("%v", op)
	}
	for body, code := range map[string]string{
		`{}`: "missing_handle", `{"handle":"x"}`: "invalid_handle", `{"handle":"a b"}`: "invalid_handle",
		`{"handle":"mara_k","operatorType":"robot"}`: "invalid_operator_type", `{"handle":"mara_k","house":"yes"}`: "invalid_house",
		`{"handle":"mara_k","keyTier":"gold"}`: "invalid_key_tier", `{"handle":"mara_k","seeded":1}`: "invalid_seeded",
		`{"handle":"desk","create":"yes"}`: "invalid_create", `{"handle":"desk","create":true,"seeded":false}`: "invalid_seeded",
		`{"handle":"mara_k","displayName":"Mara"}`:                  "invalid_display_name",
		`{"handle":"desk","create":true,"displayName":"a\u202eb"}`:  "invalid_display_name",
		`{"handle":"mara_k","seeded":true,"operatorType":"human"}`:  "invalid_operator_type",
		`{"handle":"desk","create":true,"operatorType":"ai_agent"}`: "invalid_operator_type",
	} {
		want(t, b.send("POST", "/api/admin/operators", body, byAdmin()), 400, code)
	}
	want(t, b.send("POST", "/api/admin/operators", `{"handle":"no_such_user"}`, byAdmin()), 404, "not_found")
	want(t, b.send("POST", "/api/admin/operators", `{"handle":"mara_k","create":true}`, byAdmin()), 409, "handle_taken")
	w := b.send("POST", "/api/admin/operators", `{"handle":"Desk_One","create":true,"displayName":"Desk one","keyTier":"pro"}`, byAdmin())
	golden(t, "admin/created", w)
	if op := b.operator("desk_one"); op.GetDisplayName() != "Desk one" || op.GetTier() != "automated" {
		t.Errorf("created operator: %v", op)
	}
}

func TestBoostClipErrors(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for body, code := range map[string]string{
		`{}`: "missing_id", `{"id":"7"}`: "invalid_id", `{"id":"0199f0a4-0000-7000-8000-00000000ffff"}`: "missing_boosted",
		`{"id":"0199f0a4-0000-7000-8000-00000000ffff","boosted":1}`: "invalid_boosted",
	} {
		want(t, b.send("POST", "/api/admin/clips", body, byAdmin()), 400, code)
	}
	want(t, b.send("POST", "/api/admin/clips", `{"id":"0199f0a4-0000-7000-8000-00000000ffff","boosted":true}`, byAdmin()), 404, "not_found")
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
	entries := []string{
		fmt.Sprint(audit.Asked, "admin", "POST /api/resolution/dispute", "701122", ""),
		fmt.Sprint(audit.Answered, "admin", "POST /api/resolution/dispute", "701122", "ok"),
		fmt.Sprint(audit.Asked, "cron", "GET /api/admin/resolve-signals", "", ""),
		fmt.Sprint(audit.Answered, "cron", "GET /api/admin/resolve-signals", "", "ok"),
		fmt.Sprint(audit.Asked, "admin", "POST /api/resolution/finalize", "native-0000000009", ""),
		fmt.Sprint(audit.Answered, "admin", "POST /api/resolution/finalize", "native-0000000009", "market_not_found"),
	}
	equal(t, strings.Join(got, "\n"), strings.Join(entries, "\n"))
	b.audit.fail = apitest.ErrDB
	before := b.ledger.Count("Dispute")
	w := b.send("POST", "/api/resolution/dispute", `{"marketId":"701122"}`, byAdmin())
	want(t, w, 503, "db_unavailable")
	equal(t, b.ledger.Count("Dispute"), before)
	b.audit.fail = errors.New("broken")
	want(t, b.send("POST", "/api/admin/markets", timed(`"description":"x"`), byAdmin()), 500, "")
}

const (
	moderationURL = "/api/admin/moderation"
	reportsURL    = "/api/reports"
)

// TestModeration (docs/guarantees.md P23) checks that the list and the audit log name the administrator of a decision.
func TestModeration(t *testing.T) {
	t.Parallel()
	b := setup(t)
	hide := `{"kind":"profile","id":"MARA_K","action":"hide","reason":"abuse"}`
	named := with("X-Admin-Name", "desk-2")
	w := b.send("POST", moderationURL, hide, byAdmin(), named)
	want(t, w, 200, "")
	has(t, w, `"kind":"profile","id":"mara_k","hidden":true,"reason":"abuse","by":"desk-2"`)
	b.clock.Advance(time.Minute)
	want(t, b.send("POST", moderationURL, strings.Replace(hide, `"hide"`, `"show"`, 1), byAdmin()), 200, "")
	has(t, b.send("GET", moderationURL, "", byAdmin()),
		`{"moderation":[{"kind":"profile","id":"mara_k","hidden":false,"reason":"abuse","by":"admin"`)
	if e := b.audit.entries[0]; e.Stage != audit.Asked || e.Target != "profile mara_k" || !strings.Contains(string(e.Detail), `"by":"desk-2"`) {
		t.Errorf("audit entry %+v", e)
	}
	for sent, code := range map[string]string{
		`{}`: "missing_kind", strings.Replace(hide, "profile", "planet", 1): "invalid_kind", strings.Replace(hide, `"hide"`, `"burn"`, 1): "invalid_action",
		`{"kind":"profile","id":"mara_k","action":"hide"}`: "missing_reason", strings.Replace(hide, "MARA_K", "", 1): "missing_id",
	} {
		want(t, b.send("POST", moderationURL, sent, byAdmin()), 400, code)
	}
	for _, kind := range []string{"signal", "event", "profile", "market", "station", "app"} {
		want(t, b.send("POST", moderationURL, `{"kind":"`+kind+`","id":"no_such_user","action":"hide","reason":"x"}`, byAdmin()), 404, "not_found")
	}
}

// TestReports (docs/guarantees.md P23) checks that an operator may send ten reports a day.
func TestReports(t *testing.T) {
	t.Parallel()
	b := setup(t)
	sent := `{"kind":"profile","id":"mara_k","reason":"abuse"}`
	want(t, b.send("POST", reportsURL, `{"kind":"app","id":"x","reason":"abuse"}`, b.byKey()), 404, "not_found")
	want(t, b.send("POST", reportsURL, `{"kind":"profile","id":"mara_k"}`, b.byKey()), 400, "missing_reason")
	for range 5 {
		b.clock.Advance(time.Minute)
		want(t, b.send("POST", reportsURL, sent, b.byKey()), 201, "")
		want(t, b.send("POST", reportsURL, sent, b.bySession()), 201, "")
	}
	want(t, b.send("POST", reportsURL, sent, b.byKey()), 429, "rate_limited")
	b.clock.Advance(24 * time.Hour)
	want(t, b.send("POST", reportsURL, sent, b.byKey()), 201, "")
}

// TestHiddenProfileIsOffTheAir (docs/guarantees.md P23) checks that no route shows the streams, clips and overlay of a hidden
// profile, and that its session is not live. Ended sessions keep their figures.
func TestHiddenProfileIsOffTheAir(t *testing.T) {
	t.Parallel()
	b := setup(t)
	overlay := object("marketId", marketID, "name", "secret name", "slug", "secret-slug", "annotation", "secret note")
	want(t, b.send("POST", approveURL, `{"handle":"mara_k","status":"approved"}`, byAdmin()), 200, "")
	want(t, b.send("POST", streamsURL, `{"url":"https://secret.example/x.m3u8","label":"secret label"}`, b.byKey()), 200, "")
	want(t, b.send("POST", overlayURL, overlay, b.byKey()), 200, "")
	want(t, b.send("POST", beatURL, "", b.byKey()), 200, "")
	b.clock.Advance(time.Second)
	want(t, b.send("POST", beatURL, `{"state":"offline"}`, b.byKey()), 200, "")
	want(t, b.send("POST", beatURL, "", b.byKey()), 200, "")
	b.ledger.Exec(`INSERT INTO hub.clips (id, handle, market_id, url, duration_s, status, created_by, created_at, ready_at)
		VALUES (gen_random_uuid(), 'mara_k', '701122', 'https://secret.example/c.m3u8', 30, 'ready', 'mara_k', now(), now())`)
	// published returns and deletes the types and data of the events in the outbox.
	published := func() string {
		t.Helper()
		return apitest.Get[string](b.ledger, `WITH d AS (DELETE FROM hub.outbox RETURNING type, data)
			SELECT coalesce(string_agg(type || ' ' || data, E'\n'), '') FROM d`)
	}
	check := func(action string) {
		t.Helper()
		shown := action == "show"
		published()
		b.clock.Advance(10 * time.Second)
		want(t, b.send("POST", beatURL, "", b.byKey()), 200, "")
		want(t, b.send("POST", moderationURL, object("kind", "profile", "id", "Mara_K", "action", action, "reason", "abuse"), byAdmin()), 200, "")
		for _, path := range []string{streamsURL, "/api/m/701122/clips", overlayURL + "?handle=mara_k", liveURL, stateURL, "/api/operator/mara_k"} {
			if w := b.send("GET", path, ""); w.Code != 200 || strings.Contains(w.Body.String(), "secret") != shown {
				t.Errorf("%s after %s: %d %s", path, action, w.Code, w.Body)
			}
		}
		if w := b.send("GET", liveURL, ""); strings.Count(w.Body.String(), `"durationS":1`) != 1 || strings.Contains(w.Body.String(), `"live":[]`) == shown {
			t.Errorf("the live list after %s: %s", action, w.Body)
		}
		// A stream that the operator binds while the profile is hidden is published when it is shown.
		want(t, b.send("POST", "/api/m/"+nativeID+"/streams", `{"url":"https://secret.example/`+action+`.m3u8"}`, b.byKey()), 200, "")
		said := published()
		equal(t, strings.Contains(said, "secret"), shown, action, said)
		for kind, present := range map[string]bool{
			"stream.unbound": !shown, "operator.offline": !shown, "stream.bound": shown, "operator.live": shown, "overlay.updated": true, "snapshot": true,
		} {
			equal(t, strings.Contains(said, kind+" "), present, kind, action, said)
		}
	}
	check("hide")
	check("show")
	check("hide")
}

const preempting = "/api/broadcast/preempt"

// director is a fake clock that stores programme entries in memory.
type director struct {
	programv1.UnimplementedProgramServiceServer
	programv1.UnimplementedProgramReadServiceServer
	mu    sync.Mutex
	items []*programv1.Preempt
}

func (d *director) CreatePreempt(_ context.Context, r *programv1.CreatePreemptRequest) (*programv1.CreatePreemptResponse, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	p := &programv1.Preempt{
		Id: fmt.Sprintf("0199f0d0-0000-7000-8000-%012d", len(d.items)+1), Lane: r.GetLane(), MarketId: r.GetMarketId(), StartsAt: r.GetStartsAt(),
		Slots: max(r.GetSlots(), 1), Reason: r.GetReason(), Status: "queued", CreatedAt: at("2026-09-18T12:00:00Z"),
	}
	if p.StartsAt == nil {
		p.StartsAt = p.CreatedAt
	}
	if slices.ContainsFunc(d.items, func(o *programv1.Preempt) bool { return proto.Equal(o.GetStartsAt(), p.GetStartsAt()) }) {
		return nil, apperr.New(apperr.Conflict, "slot_taken", "another entry has one of these slots")
	}
	d.items = append(d.items, p)
	return &programv1.CreatePreemptResponse{Item: proto.CloneOf(p)}, nil
}

func (d *director) CancelPreempt(_ context.Context, r *programv1.CancelPreemptRequest) (*programv1.CancelPreemptResponse, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, p := range d.items {
		if p.GetId() == r.GetId() {
			p.Status = "cancelled"
			return &programv1.CancelPreemptResponse{Item: proto.CloneOf(p)}, nil
		}
	}
	return nil, apperr.New(apperr.NotFound, "not_found", "no such entry")
}

func (d *director) ListPreempts(context.Context, *programv1.ListPreemptsRequest) (*programv1.ListPreemptsResponse, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	out := &programv1.ListPreemptsResponse{}
	for _, p := range d.items {
		out.Items = append(out.Items, proto.CloneOf(p))
	}
	return out, nil
}

func TestPreempt(t *testing.T) {
	t.Parallel()
	b := setup(t)
	golden(t, "preempt/none", b.send("GET", preempting, "", byAdmin()))
	golden(t, "preempt/kept", b.send("POST", preempting,
		`{"marketId":"701122","lane":"sports","startsAt":"2026-09-18T12:08:10Z","slots":2,"reason":"The gauge rises"}`, byAdmin()))
	golden(t, "preempt/kept_bare", b.send("POST", preempting, `{"marketId":"701122","lane":null,"slots":null,"reason":null,"action":null}`, byAdmin()))
	want(t, b.send("POST", preempting, `{"marketId":"701122","startsAt":"2026-09-18T12:08:10Z"}`, byAdmin()), 409, "slot_taken")
	golden(t, "preempt/cancelled", b.send("POST", preempting, `{"action":"cancel","id":"0199F0D0-0000-7000-8000-000000000001"}`, byAdmin()))
	golden(t, "preempt/all", b.send("GET", preempting, "", byAdmin()))
	w := b.send("GET", preempting, "", byAdmin(), with("Origin", "https://elsewhere.example"))
	has(t, w, "Access-Control-Allow-Origin: ", "Cache-Control: no-store")
}

func TestPreemptMistakes(t *testing.T) {
	t.Parallel()
	b := setup(t)
	entry := func(members string) string { return `{"marketId":"701122",` + members + `}` }
	for body, code := range map[string]string{
		`{}`: "missing_market_id", `{"marketId":"polymarket:7"}`: "invalid_market_id",
		entry(`"lane":7`): "invalid_lane", entry(`"lane":"` + strings.Repeat("x", 33) + `"`): "invalid_lane",
		entry(`"startsAt":"tonight"`): "invalid_starts_at", entry(`"slots":0`): "invalid_slots", entry(`"slots":7`): "invalid_slots", entry(`"slots":1.5`): "invalid_slots",
		entry(`"reason":"` + strings.Repeat("r", 181) + `"`): "invalid_reason", entry(`"reason":"a\nb"`): "invalid_reason", entry(`"reason":"\u202ea"`): "invalid_reason", entry(`"reason":" \u200b"`): "invalid_reason",
		entry(`"id":7`): "invalid_id", entry(`"id":"7"`): "invalid_id", `{"action":7}`: "invalid_action", `{"action":"","id":"7"}`: "invalid_action",
		`{"action":"cancel"}`: "missing_id", `{"action":"cancel","id":"7"}`: "invalid_id", `{"action":"stop","id":"0199f0d0-0000-7000-8000-000000000001"}`: "invalid_action",
	} {
		want(t, b.send("POST", preempting, body, byAdmin()), 400, code)
	}
	want(t, b.send("POST", preempting, `{"marketId":"999"}`, byAdmin()), 404, "market_not_found")
	want(t, b.send("POST", preempting, `{"action":"cancel","id":"0199f0d0-0000-7000-8000-00000000ffff"}`, byAdmin()), 404, "not_found")
}

// TestPreemptWithoutClock checks that the routes of the programme answer 503 if the hub has no clock or the clock is unavailable.
func TestPreemptWithoutClock(t *testing.T) {
	t.Parallel()
	none := setup(t, func(_ *httpapi.Config, d *httpapi.Deps) { d.Programs, d.Director = nil, nil })
	failing := setup(t)
	failing.ledger.Fail(errClock, "CreatePreempt", "CancelPreempt", "ListPreempts")
	for _, b := range []*fixture{none, failing} {
		want(t, b.send("GET", preempting, "", byAdmin()), 503, "signal_service_unavailable")
		want(t, b.send("POST", preempting, `{"marketId":"701122"}`, byAdmin()), 503, "signal_service_unavailable")
		want(t, b.send("POST", preempting, `{"action":"cancel","id":"0199f0d0-0000-7000-8000-000000000001"}`, byAdmin()), 503, "signal_service_unavailable")
	}
}
