package edge_test

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

	"google.golang.org/protobuf/proto"

	exportv1 "github.com/signalcast/signalcast/proto/export/v1"
	signalv1 "github.com/signalcast/signalcast/proto/signal/v1"
)

// recordOf is a record of n calls in messages of some calls each: two won, one lost,
// one pending, one void, over and over.
func recordOf(n int) []*exportv1.RecordResponse {
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

func (b *bench) recordOf(n int) {
	b.ledger.Lock()
	defer b.ledger.Unlock()
	b.ledger.Exports = map[string][]*exportv1.RecordResponse{"mara_k": recordOf(n)}
}

func TestRecordLines(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.recordOf(25)
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
	if err := json.Unmarshal([]byte(last), &end); err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256([]byte(strings.TrimSuffix(body, last+"\n")))
	if len(lines) != 27 || !end.Complete || end.Calls != 25 || end.Events != 20 || end.SHA256 != hex.EncodeToString(sum[:]) {
		t.Errorf("%d lines, %s", len(lines), last)
	}
	// Results come in order, so the newest one is the void of the fifth five, before it
	// a loss; nothing is won behind it.
	for name, want := range map[string]float64{"total": 25, "won": 10, "lost": 5, "void": 5, "pending": 5, "resolved": 15, "accuracy": 67, "score": 700, "streak": 0} {
		if end.Numbers[name] != want {
			t.Errorf("%s: %v, want %v", name, end.Numbers[name], want)
		}
	}
	if m, _ := end.Numbers["moments"].(map[string]any); m["RARE"] != 10.0 || m["EPIC"] != 0.0 || end.Numbers["avgClvBps"] != nil || end.Edge["edgeBps"] != 4667.0 {
		t.Errorf("%s", last)
	}
	golden(t, "record_call", &httptest.ResponseRecorder{Code: 200, Body: bytes.NewBufferString(lines[1])})
	want(t, b.send("GET", "/api/operator/nobody/record", ""), 404, "not_found")
	want(t, b.send("GET", "/api/operator/no-handle/record", ""), 404, "not_found")
	if w := b.send("HEAD", "/api/operator/mara_k/record?format=csv", ""); w.Code != 200 || w.Body.Len() != 0 || !strings.HasPrefix(w.Header().Get("Content-Type"), "text/csv") {
		t.Errorf("HEAD: %d %v", w.Code, w.Header())
	}
}

func TestRecordTable(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.recordOf(25)
	w := b.send("GET", "/api/operator/mara_k/record?format=csv", "")
	rows, err := csv.NewReader(w.Body).ReadAll() // wants as many cells in each
	if err != nil || len(rows) != 27 {
		t.Fatalf("%d rows, %v", len(rows), err)
	}
	at := map[string]int{}
	for i, name := range rows[0] {
		at[name] = i
	}
	if got := rows[1][at["textTake"]]; got != `'=HYPERLINK("https://evil.example")` {
		t.Errorf("take %q", got)
	}
	if got := rows[3][at["score"]]; got != "-20" { // a number of ours stays one
		t.Errorf("score %q", got)
	}
	if last := rows[26]; last[0] != "end" || last[1] != "25" || last[len(last)-1] != "20" {
		t.Errorf("%q", last)
	}
}

// A record that was cut has no end, and the connection is cut, too.
func TestRecordThatIsCut(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.recordOf(25)
	b.ledger.Lock()
	b.ledger.Cut = errors.New("the ledger fell over")
	b.ledger.Unlock()
	server := httptest.NewServer(b.server)
	defer server.Close()
	r, err := http.Get(server.URL + "/api/operator/mara_k/record")
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	text, err := io.ReadAll(r.Body)
	if err == nil || strings.Contains(string(text), `"type":"end"`) {
		t.Errorf("read to the end: %v, %d bytes", err, len(text))
	}
	// A source that fails before anything was written is a plain fault.
	b.ledger.Lock()
	b.ledger.Exports["empty"] = nil
	b.ledger.Unlock()
	want(t, b.send("GET", "/api/operator/empty/record", ""), 503, "signal_service_unavailable")
}

// A reader that stops reading holds its place and nothing else; leaving frees it.
func TestRecordWaitsForItsReader(t *testing.T) {
	t.Parallel()
	b := setup(t)
	const calls = 40_000
	b.recordOf(calls)
	server := httptest.NewServer(b.server)
	defer server.Close()
	for range 12 { // three times as many as may read at once, each gone when the next comes
		r, err := http.Get(server.URL + "/api/operator/mara_k/record")
		if err != nil {
			t.Fatal(err)
		}
		if r.StatusCode == http.StatusTooManyRequests { // the one before is on its way out
			_ = r.Body.Close()
			continue
		}
		if line, err := bufio.NewReader(r.Body).ReadString('\n'); err != nil || !strings.Contains(line, `"type":"record"`) {
			t.Fatalf("%q %v", line, err)
		}
		_ = r.Body.Close() // most of it was never read
	}
	var all int64
	var err error
	for deadline := time.Now().Add(20 * time.Second); ; { // the last places are given back soon
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

// TestRecordThatIsBeingScored: a call whose market is claimed and that has no result yet
// says so, and the tolerances of the ledger stand on the first line.
func TestRecordThatIsBeingScored(t *testing.T) {
	t.Parallel()
	b := setup(t)
	list := recordOf(5)
	list[0].Head.PriceTolerances = []*exportv1.PriceTolerance{{Since: at("1970-01-01T00:00:00Z"), Bps: 1000}, {Since: at("2026-09-01T00:00:00Z"), Bps: 250}}
	calls := list[1].GetCalls()
	calls[4].Resolution = calls[0].GetResolution()
	b.ledger.Lock()
	b.ledger.Exports = map[string][]*exportv1.RecordResponse{"mara_k": list}
	b.ledger.Unlock()
	lines := strings.Split(b.send("GET", "/api/operator/mara_k/record", "").Body.String(), "\n")
	if !strings.Contains(lines[0], `"priceTolerances":[{"since":"1970-01-01T00:00:00.000Z","bps":1000},{"since":"2026-09-01T00:00:00.000Z","bps":250}]`) {
		t.Error(lines[0])
	}
	if !strings.Contains(lines[1], `"scoring":false`) || !strings.Contains(lines[5], `"status":"pending","scoring":true`) {
		t.Errorf("%s\n%s", lines[1], lines[5])
	}
}
