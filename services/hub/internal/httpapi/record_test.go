package httpapi_test

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/csv"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"

	boardv1 "github.com/signalcast/signalcast/proto/board/v1"
	exportv1 "github.com/signalcast/signalcast/proto/export/v1"
	recordv1 "github.com/signalcast/signalcast/proto/record/v1"
	signalv1 "github.com/signalcast/signalcast/proto/signal/v1"

	"github.com/signalcast/signalcast/pkg/apperr"
	"github.com/signalcast/signalcast/pkg/ledgerclient"
	"github.com/signalcast/signalcast/pkg/testkit"
	"github.com/signalcast/signalcast/services/api/apitest"
	"github.com/signalcast/signalcast/services/hub/internal/httpapi"
	"github.com/signalcast/signalcast/services/hub/internal/record"
)

const (
	atomPath  = "/api/operator/mara_k"
	fieldPath = "/api/network/field-record/mara_k"
	pulsePath = "/api/network/pulse"
)

// withRecords returns a fixture in which mara_k has a record and the operator quiet has no calls.
func withRecords(t *testing.T) *fixture {
	b := setup(t)
	b.ledger.AddOperator("quiet")
	call := func(id, status string, score *int32) *signalv1.Signal {
		return &signalv1.Signal{
			Id: "0199f0a4-0000-7000-8000-00000000000" + id, MarketId: marketID, MarketTitle: "Will it rise?", Direction: "NO", PriceBps: 6850,
			Status: status, Score: score, CreatedAt: at("2026-09-18T10:00:00Z"),
		}
	}
	b.ledger.Lock()
	defer b.ledger.Unlock()
	b.ledger.Exec(`UPDATE users SET avatar_url = 'https://img.example/m.png', bio = 'Rivers do not read polls.' WHERE handle = 'mara_k'`)
	b.ledger.Records = map[string]*recordv1.GetOperatorRecordResponse{"mara_k": {
		Stats: &recordv1.Stats{Total: 24, Won: 12, Lost: 6, Void: 1, Score: 48, Accuracy: 67, Streak: 2, AvgClvBps: proto.Int32(115)},
		Rank:  proto.Int64(4), Field: 41, BroadcastScore: 515,
		Best:   &recordv1.Best{SignalId: "0199f0a4-0000-7000-8000-0000000000aa", MarketId: "655000", MarketTitle: "Will the dam hold?", OddsBps: 1200},
		Recent: []*signalv1.Signal{call("6", "pending", nil), call("5", "won", proto.Int32(31)), call("4", "lost", proto.Int32(-69)), call("3", "void", proto.Int32(0)), call("2", "won", proto.Int32(31)), call("1", "won", proto.Int32(31))},
		Moments: []*recordv1.Moment{{
			Id: "0199f0d0-0000-7000-8000-000000000001", Tier: "RARE", SignalId: "0199f0a4-0000-7000-8000-0000000000aa", MarketId: "655000",
			MarketTitle: "Will the dam hold?", Direction: "YES", OddsBps: 1200, Score: 88, MintedAt: at("2026-09-01T08:00:00Z"),
		}},
	}}
	report := &recordv1.Report{
		Calls: 18, Wins: 12, PriceBps: 6400, EdgeBps: 267, LowBps: -2263, HighBps: 2198, Above: 0.52, Below: 0.7, TwoSided: 1,
		Needed: proto.Int64(1200), NeededSure: proto.Int64(2460),
		Calibration: &recordv1.Calibration{
			Calls: 4, BrierBps: 1980, MarketBrierBps: 2070, ReliabilityBps: 100, ResolutionBps: 20, UncertaintyBps: 1875, WithinBps: 25,
			Bins: []*recordv1.Bin{{From: 71, To: 80, Calls: 4, Wins: 3, ConfidenceBps: 7500, HitBps: 7500, LowBps: 1941, HighBps: 9937}},
		},
	}
	b.ledger.Skills = map[string]*recordv1.GetSkillResponse{
		"mara_k  all":        {Report: report, Lanes: []*recordv1.LaneReport{{Lane: "SCIENCE", Report: report}}},
		"mara_k SCIENCE 28d": {Report: &recordv1.Report{Calls: 1, Wins: 1, PriceBps: 3100, EdgeBps: 6900, LowBps: -3100, HighBps: 6900, Above: 0.31, Below: 1, TwoSided: 0.62, Needed: proto.Int64(0)}},
	}
	b.ledger.Pulse = pulseOf()
	return b
}

// pulseOf returns network statistics with three weeks of calls.
func pulseOf() *recordv1.GetPulseResponse {
	return &recordv1.GetPulseResponse{
		Weeks: []*recordv1.Week{
			{Start: "2026-08-31", House: 4, Automated: 61},
			{Start: "2026-09-07", Independent: 14, House: 2, Automated: 18, ActiveIndependent: 5},
			{Start: "2026-09-14", Independent: 7, House: 2, Automated: 18, ActiveIndependent: 3},
		},
		Signals: 1840, IndependentSignals: 212, HouseSignals: 131, AutomatedSignals: 1497, Last7: 9, Prev7: 14, IndependentOperators: 41,
		IndependentActive28: 12, HouseOperators: 3, Registered: 390, Markets: 655, Won: 655, Lost: 549, Open: 611, ClvCount: 990, BeatLine: 512,
		LastIndependentWeek: "2026-09-14", Resolutions28: 88, GeneratedAt: at("2026-09-18T12:00:00Z"),
	}
}

// TestRecords compares the operator, field record, skill and pulse answers with golden files, for operators with and without
// calls.
func TestRecords(t *testing.T) {
	t.Parallel()
	b := withRecords(t)
	b.followed(11, b.mara.GetId())
	for name, target := range map[string]string{
		"atom": "/api/operator/MARA_K", "atom_none": "/api/operator/quiet", "field": fieldPath, "field_none": "/api/network/field-record/quiet",
		"skill": atomPath + "/skill", "skill_lane": atomPath + "/skill?lane=science&window=28d", "skill_none": "/api/operator/quiet/skill?lane=moon&window=year",
		"pulse": pulsePath,
	} {
		w := b.send("GET", target, "")
		golden(t, "record/"+name, w)
		b.unchanged(target, w)
	}
}

// TestOwnFieldRecord checks that a key reads the field record of its owner. The content is that of the public record, and the
// answer is not cached.
func TestOwnFieldRecord(t *testing.T) {
	t.Parallel()
	b := withRecords(t)
	const path = "/api/network/field-record/me"
	open := b.send("GET", fieldPath, "")
	w := b.send("GET", path, "", b.byKey())
	want(t, w, 200, "", "="+open.Body.String(), "Cache-Control: no-store", "Access-Control-Allow-Origin: *", "Access-Control-Allow-Credentials: ")
	has(t, b.send("OPTIONS", path, ""), "Access-Control-Allow-Headers: authorization", "Access-Control-Allow-Methods: GET, OPTIONS")
	want(t, b.send("GET", path, "", b.bySession()), 401, "unauthenticated", "reason=missing", "Access-Control-Allow-Origin: *")
}

// TestRecordsWithoutSources checks that without the ledger, reads of records answer 503. Without the database of followers, the
// record of an operator has no followers, is degraded, and is not cacheable.
func TestRecordsWithoutSources(t *testing.T) {
	t.Parallel()
	b := withRecords(t)
	b.setDown(true)
	want(t, b.send("GET", atomPath, ""), 200, "", "X-Degraded: follows", "Cache-Control: no-store", `"followers":0`)
	b.ledger.Fail(apitest.ErrDB)
	b.clock.Advance(time.Hour)
	want(t, b.send("GET", atomPath, ""), 503, "db_unavailable")
	want(t, b.send("GET", fieldPath, ""), 503, "db_unavailable")
	want(t, b.send("GET", atomPath+"/skill", ""), 503, "db_unavailable")
	want(t, b.send("GET", pulsePath, ""), 503, "pulse_unavailable", "Cache-Control: no-store", "Access-Control-Allow-Origin: *")
}

// TestPulseIsCached checks that the pulse is cached for 300 seconds. It also checks the pulse of a network without calls.
func TestPulseIsCached(t *testing.T) {
	t.Parallel()
	b := setup(t)
	want(t, b.send("GET", pulsePath, ""), 200, "", `"northStar":null`, "Cache-Control: public, s-maxage=300")
	asked := b.ledger.Count("GetPulse")
	for range 3 {
		b.clock.Advance(90 * time.Second)
		b.send("GET", pulsePath, "")
	}
	equal(t, b.ledger.Count("GetPulse"), asked)
	b.clock.Advance(31 * time.Second)
	b.send("GET", pulsePath, "")
	if b.ledger.Count("GetPulse") == asked {
		t.Error("the pulse is served for longer than 300 s")
	}
}

// TestBoardByEdge checks that the leaderboard is ordered by score or by edge, and that the order by edge always covers all time.
func TestBoardByEdge(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.ledger.Lock()
	b.ledger.Board = []*boardv1.Row{{Rank: 1, Operator: b.mara, EdgeCalls: 200, EdgeBps: 510, EdgeLowBps: 20, EdgeHighBps: 990}, {Rank: 2, Operator: b.mara}}
	b.ledger.Unlock()
	for query, said := range map[string][2]string{
		"?order=edge&window=28d&operators=all": {"edge", "all"}, "?order=EDGE&window=28d": {"score", "28d"}, "?order=score": {"score", "all"},
	} {
		w := b.send("GET", "/api/operator/leaderboard"+query, "")
		b.ledger.Lock()
		asked := [2]string{apitest.Last[*boardv1.ListBroadcastRequest](b.ledger).GetOrder(), apitest.Last[*boardv1.ListBroadcastRequest](b.ledger).GetWindow()}
		b.ledger.Unlock()
		if asked != said || field(w, "order") != said[0] || field(w, "window") != said[1] ||
			!strings.Contains(w.Body.String(), `"edge":{"calls":200,"edgeBps":510,"lowBps":20,"highBps":990}`) || !strings.Contains(w.Body.String(), `"edge":null`) {
			t.Errorf("%s: asked %v: %s", query, asked, w.Body)
		}
	}
}

func TestTitles(t *testing.T) {
	t.Parallel()
	for n, title := range map[int64]string{
		0: "RECRUIT", 4: "RECRUIT", 5: "OPERATOR", 14: "OPERATOR", 15: "FIELD OPERATOR", 49: "FIELD OPERATOR",
		50: "SENIOR OPERATOR", 199: "SENIOR OPERATOR", 200: "STATION CHIEF", 1_000_000: "STATION CHIEF",
	} {
		equal(t, record.Title(n), title, n)
	}
}

// exportOf returns the messages of a record with n calls, at most seven in each message. The results of the calls repeat: won,
// won, lost, void, pending.
func exportOf(n int) []*exportv1.RecordResponse {
	out := []*exportv1.RecordResponse{{Head: &exportv1.RecordHead{
		PublicId: "op_0123456789abcdef", Handle: "mara_k", DisplayName: "Mara K", OperatorType: "human", Tier: "independent",
		AsOf: at("2026-09-18T12:00:00Z"),
	}}}
	var part []*exportv1.Call
	for i := range n {
		s := &signalv1.Signal{
			Id: fmt.Sprintf("0199f0a4-0000-7000-8000-%012d", i), PublicId: "op_0123456789abcdef", Handle: "mara_k", MarketId: fmt.Sprint(7000 + i),
			MarketTitle: "Will it hold?", Direction: "YES", PriceBps: 2000, Status: "pending", CreatedAt: at("2026-09-18T10:00:00Z"), Lane: "SCIENCE",
			ScoreBasisBps: 2000, PriceVerified: true, Rated: true, QuoteAt: at("2026-09-18T09:59:58Z"),
			Source: proto.String("web"), TextTake: proto.String(`=HYPERLINK("https://evil.example")`),
		}
		quote := &exportv1.Quote{YesPriceBps: 2000, NoPriceBps: 8100, At: s.QuoteAt, Rule: "polymarket.book", Sha256: []byte{1, 2}}
		c := &exportv1.Call{Signal: s, BasisBps: 2000, FilingBasisBps: 2000, PriceVerified: true, Quote: quote}
		if kind := i % 5; kind < 4 {
			s.Status, s.Score = []string{"won", "won", "lost", "void"}[kind], proto.Int32([]int32{80, 80, -20, 0}[kind])
			s.ResolvedAt = at(fmt.Sprintf("2026-09-18T11:%02d:%02dZ", i/60%60, i%60))
			s.Counted, s.ConfirmedAt = proto.Bool(kind < 3), at("2026-09-18T10:00:06Z")
			c.SecondQuote = &exportv1.Quote{YesPriceBps: 1900, NoPriceBps: 8200, At: s.ConfirmedAt, Rule: "polymarket.stream"}
			c.ScoringVersion, c.ScoringVertical = "1.1", "SCIENCE"
			c.Resolution = &exportv1.Resolution{Outcome: "YES", Resolver: "oracle", Source: "polymarket", CloseAt: s.ResolvedAt, ResolvedAt: s.ResolvedAt, Rated: true}
			c.Events = []*signalv1.Event{{Id: s.Id, Type: "resolved", Payload: `{}`, CreatedAt: s.ResolvedAt}}
		}
		if part = append(part, c); len(part) == 7 || i == n-1 {
			out, part = append(out, &exportv1.RecordResponse{Calls: part}), nil
		}
	}
	return append(out, &exportv1.RecordResponse{End: &exportv1.RecordEnd{Calls: int64(n), Events: int64(n - n/5)}})
}

// records is a fake export service. It streams parts as the record of mara_k, and an empty stream for the handle empty. If cut is
// set, the stream fails with it before the last part.
type records struct {
	exportv1.UnimplementedExportServiceServer
	parts []*exportv1.RecordResponse
	cut   error
}

func (e *records) Record(r *exportv1.RecordRequest, stream grpc.ServerStreamingServer[exportv1.RecordResponse]) error {
	switch r.GetHandle() {
	case "mara_k":
	case "empty":
		return nil
	default:
		return apperr.New(apperr.NotFound, "not_found", "")
	}
	for _, part := range e.parts {
		if part.GetEnd() != nil && e.cut != nil {
			return e.cut
		}
		if err := stream.Send(part); err != nil {
			return err
		}
	}
	return nil
}

// withRecord returns a fixture whose ledger exports records with the fake service e.
func withRecord(t *testing.T, e *records) *fixture {
	t.Helper()
	conn := testkit.Link(t, func(r grpc.ServiceRegistrar) { exportv1.RegisterExportServiceServer(r, e) })
	return setup(t, func(_ *httpapi.Config, d *httpapi.Deps) { d.Ledger = ledgerclient.New(conn) })
}

func TestRecordLines(t *testing.T) {
	t.Parallel()
	b := withRecord(t, &records{parts: exportOf(25)})
	w := b.send("GET", "/api/operator/MARA_K/record", "")
	if w.Code != 200 || w.Header().Get("Content-Type") != "application/jsonl; charset=utf-8" || w.Header().Get("Cache-Control") != "no-store" {
		t.Fatalf("%d %v", w.Code, w.Header())
	}
	body := w.Body.String()
	lines := strings.Split(strings.TrimSuffix(body, "\n"), "\n")
	var end struct {
		Type                 string
		Complete             bool
		Calls, Events        int64
		SHA256               string
		Numbers              map[string]any
		Edge                 map[string]any
		Moments, AvgClvBps   any
		Resolved, Checkpoint any
	}
	last := lines[len(lines)-1]
	must(t, json.Unmarshal([]byte(last), &end))
	sum := sha256.Sum256([]byte(strings.TrimSuffix(body, last+"\n")))
	if len(lines) != 27 || !end.Complete || end.Calls != 25 || end.Events != 20 || end.SHA256 != hex.EncodeToString(sum[:]) {
		t.Errorf("%d lines, %s", len(lines), last)
	}
	// Results are in the order of filing: the newest result is void, and the one before it is a loss. The streak is therefore 0.
	for name, want := range map[string]float64{"total": 25, "won": 10, "lost": 5, "void": 5, "pending": 5, "resolved": 15, "accuracy": 67, "score": 700, "streak": 0} {
		equal(t, end.Numbers[name], any(want), name)
	}
	if m, _ := end.Numbers["moments"].(map[string]any); m["RARE"] != 10.0 || m["EPIC"] != 0.0 || end.Numbers["avgClvBps"] != nil || end.Edge["edgeBps"] != 4667.0 {
		t.Errorf("%s", last)
	}
	golden(t, "record_call", &answer{&httptest.ResponseRecorder{Code: 200, Body: bytes.NewBufferString(lines[1])}, ""})
	want(t, b.send("GET", "/api/operator/no_such_user/record", ""), 404, "not_found")
	want(t, b.send("GET", "/api/operator/no-handle/record", ""), 404, "not_found")
	if w := b.send("HEAD", "/api/operator/mara_k/record?format=csv", ""); w.Code != 200 || w.Body.Len() != 0 || !strings.HasPrefix(w.Header().Get("Content-Type"), "text/csv") {
		t.Errorf("HEAD: %d %v", w.Code, w.Header())
	}
}

func TestRecordTable(t *testing.T) {
	t.Parallel()
	b := withRecord(t, &records{parts: exportOf(25)})
	w := b.send("GET", "/api/operator/mara_k/record?format=csv", "")
	table, _, _ := strings.Cut(w.Body.String(), "\r\ncall,7,") // the header row and six calls
	testkit.Golden(t, "record.csv", []byte(strings.ReplaceAll(table, "\r\n", "\n")))
	rows, err := csv.NewReader(w.Body).ReadAll() // checks that all rows have the same number of cells
	if err != nil || len(rows) != 27 {
		t.Fatalf("%d rows, %v", len(rows), err)
	}
	at := map[string]int{}
	for i, name := range rows[0] {
		at[name] = i
	}
	equal(t, rows[1][at["textTake"]], `'=HYPERLINK("https://evil.example")`)
	if got := rows[3][at["score"]]; got != "-20" { // a negative number must not be escaped as a formula
		t.Errorf("score %q", got)
	}
	if last := rows[26]; last[0] != "end" || last[1] != "25" || last[len(last)-1] != "20" {
		t.Errorf("%q", last)
	}
}

// TestIncompleteRecordIsAborted checks a record whose source fails in the middle. The record has no last line, and the hub aborts
// the connection, so that a reader cannot take the record for a complete one.
func TestIncompleteRecordIsAborted(t *testing.T) {
	t.Parallel()
	b := withRecord(t, &records{parts: exportOf(25), cut: errors.New("the ledger failed")})
	server := httptest.NewServer(b.server)
	defer server.Close()
	r, err := http.Get(server.URL + "/api/operator/mara_k/record")
	must(t, err)
	defer r.Body.Close()
	text, err := io.ReadAll(r.Body)
	if err == nil || strings.Contains(string(text), `"type":"end"`) {
		t.Errorf("read to the end: %v, %d bytes", err, len(text))
	}
	// A source that fails before the first line is answered with 503.
	want(t, b.send("GET", "/api/operator/empty/record", ""), 503, "signal_service_unavailable")
}

// TestDisconnectedExportsFreeTheirPlaces checks that exports of disconnected clients no longer count against the limit of
// concurrent exports.
func TestDisconnectedExportsFreeTheirPlaces(t *testing.T) {
	t.Parallel()
	const calls = 15_000
	b := withRecord(t, &records{parts: exportOf(calls)})
	server := httptest.NewServer(b.server)
	defer server.Close()
	for range 12 { // three times the limit of concurrent exports; each reader disconnects before the next
		r, err := http.Get(server.URL + "/api/operator/mara_k/record")
		must(t, err)
		if r.StatusCode == http.StatusTooManyRequests { // the hub has not yet noticed a disconnect
			_ = r.Body.Close()
			continue
		}
		if line, err := bufio.NewReader(r.Body).ReadString('\n'); err != nil || !strings.Contains(line, `"type":"record"`) {
			t.Fatalf("%q %v", line, err)
		}
		_ = r.Body.Close() // most of the record is unread
	}
	var all int64
	var err error
	for deadline := time.Now().Add(20 * time.Second); ; { // the hub notices the last disconnects after a moment
		var r *http.Response
		if r, err = http.Get(server.URL + "/api/operator/mara_k/record?format=csv"); err != nil {
			t.Fatal(err)
		}
		all, err = io.Copy(io.Discard, r.Body)
		_ = r.Body.Close()
		if r.StatusCode == 200 || time.Now().After(deadline) {
			break
		}
	}
	if err != nil || all < calls*100 {
		t.Errorf("%d bytes, %v", all, err)
	}
}

// TestRecordThatIsBeingScored checks that a call without a result on a resolved market has scoring true. It also checks that the
// first line has the price tolerances of the ledger.
func TestRecordThatIsBeingScored(t *testing.T) {
	t.Parallel()
	list := exportOf(5)
	list[0].Head.PriceTolerances = []*exportv1.PriceTolerance{{Since: at("1970-01-01T00:00:00Z"), Bps: 1000}, {Since: at("2026-09-01T00:00:00Z"), Bps: 250}}
	calls := list[1].GetCalls()
	calls[4].Resolution = calls[0].GetResolution()
	b := withRecord(t, &records{parts: list})
	lines := strings.Split(b.send("GET", "/api/operator/mara_k/record", "").Body.String(), "\n")
	if !strings.Contains(lines[0], `"priceTolerances":[{"since":"1970-01-01T00:00:00.000Z","bps":1000},{"since":"2026-09-01T00:00:00.000Z","bps":250}]`) {
		t.Error(lines[0])
	}
	if !strings.Contains(lines[1], `"scoring":false`) || !strings.Contains(lines[5], `"status":"pending"`) ||
		!strings.Contains(lines[5], `"scoring":true`) {
		t.Errorf("%s\n%s", lines[1], lines[5])
	}
}
