package edge_test

import (
	"context"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	digestv1 "github.com/signalcast/signalcast/proto/digest/v1"
	wirev1 "github.com/signalcast/signalcast/proto/wire/v1"

	"github.com/signalcast/signalcast/services/hub/internal/memledger"
)

const digestPath = "/api/admin/daily-digest"

// eventful is a bench whose yesterday had something to tell.
func eventful(t *testing.T) *bench {
	t.Helper()
	b := setup(t)
	b.ledger.Lock()
	defer b.ledger.Unlock()
	b.ledger.Day = &digestv1.GetDayResponse{
		Signals: 27, Won: 11, Lost: 8, NewOperators: 2, Disputed: []string{"701122"},
		TopCalls: []*digestv1.TopCall{{
			SignalId: "0199f0a4-0000-7000-8000-000000000009", Handle: "mara_k", MarketTitle: "Will it\r\nrain?\u2028\x1b", Direction: "YES", OddsBps: 1200, Score: 88,
		}},
		Pulse: &digestv1.Pulse{Last7: 9, Prev7: 14, WeekSignals: 14, WeekOperators: 3},
	}
	b.ledger.Situations = map[string][]*wirev1.Situation{"24h": {{
		EventKey: "ostrava-flood", Provider: "polymarket", Headline: "Ostrava flood odds fall 14 points", Lane: "SCIENCE", MarketCount: 1, Volume: 182000,
		Score: 19, Criticality: "Elevated", DetectedAt: at("2026-09-18T09:00:00Z"),
		Markets: []*wirev1.Move{{MarketId: marketID, Provider: "polymarket", Title: "Will it?", Outcome: "Yes", FromBps: 4550, ToBps: 3150, Volume: 182000}},
	}}}
	return b
}

func TestDigestDry(t *testing.T) {
	t.Parallel()
	b := eventful(t)
	golden(t, "digest/dry", b.send("POST", digestPath+"?dry=1", "", byAdmin()))
	golden(t, "digest/dry", b.send("POST", digestPath+"?dry=1&secret="+cronSecret, ""))
	if from, to := b.ledger.LastDay.GetFrom().AsTime(), b.ledger.LastDay.GetTo().AsTime(); from.Format(time.RFC3339) != "2026-09-17T00:00:00Z" || to.Sub(from) != 24*time.Hour {
		t.Errorf("asked for %v to %v", from, to)
	}
	for _, query := range []string{"?dry=2", "?dry=", "?dry", "?dry=true", "?dry=01", "?dry=1&dry=0", "?dry=1&dry=1"} {
		w := b.send("POST", digestPath+query, "", byAdmin())
		if want(t, w, 400, "invalid_request"); field(w, "field") != "dry" {
			t.Errorf("%s: %s", query, w.Body)
		}
	}
	if len(b.people.letters) != 0 || len(b.people.days) != 0 {
		t.Error("a dry run was sent")
	}
}

func TestDigestIsSentOnceADay(t *testing.T) {
	t.Parallel()
	b := eventful(t)
	golden(t, "digest/sent", b.send("POST", digestPath+"?dry=0", "", byAdmin()))
	golden(t, "digest/already", b.send("POST", digestPath+"?secret="+cronSecret, ""))
	if len(b.people.letters) != 1 {
		t.Fatalf("%d letters", len(b.people.letters))
	}
	letter := b.people.letters[0]
	for _, part := range []string{
		"2026-09-17", "Calls filed: 27. Resolved: 19 (11 won, 8 lost), void: 0. New operators: 2.", "mara_k: YES at 12.00% on Will it  rain?", "+88.",
		"Ostrava flood odds fall 14 points", hubURL + "/m/701122", "Ending next",
	} {
		if !strings.Contains(letter.Text, part) {
			t.Errorf("no %q in\n%s", part, letter.Text)
		}
	}
	if strings.ContainsAny(letter.Text, "\r\x1b\u2028") || strings.ContainsAny(letter.Subject, "\r\n") {
		t.Errorf("%q", letter.Text)
	}
	b.clock.Advance(24 * time.Hour)
	if w := b.send("POST", digestPath, "", byAdmin()); field(w, "sent") != "2" || len(b.people.letters) != 2 {
		t.Errorf("the next day: %s", w.Body)
	}
}

func TestDigestAtOnce(t *testing.T) {
	t.Parallel()
	b := eventful(t)
	var group sync.WaitGroup
	var sent, already atomic.Int32
	for range 10 {
		group.Go(func() {
			switch w := b.send("POST", digestPath, "", byAdmin()); {
			case field(w, "sent") == "2":
				sent.Add(1)
			case field(w, "already") == "true":
				already.Add(1)
			default:
				t.Errorf("%d %s", w.Code, w.Body)
			}
		})
	}
	group.Wait()
	if sent.Load() != 1 || already.Load() != 9 || len(b.people.letters) != 1 {
		t.Errorf("%d sent, %d already, %d letters", sent.Load(), already.Load(), len(b.people.letters))
	}
}

// TestDigestThatFailed: a day whose letter could not be made or handed over can be
// tried again.
func TestDigestThatFailed(t *testing.T) {
	t.Parallel()
	b := eventful(t)
	b.people.unsent = errBroken
	want(t, b.send("POST", digestPath, "", byAdmin()), 503, "digest_unavailable")
	b.people.unsent = nil
	for _, method := range []string{"GetDay", "ListSituations", "ListAirable"} {
		b.setBefore(func(_ context.Context, m string) error {
			if m == method {
				return memledger.ErrDB
			}
			return nil
		})
		want(t, b.send("POST", digestPath, "", byAdmin()), 503, "db_unavailable")
		want(t, b.send("POST", digestPath+"?dry=1", "", byAdmin()), 503, "db_unavailable")
	}
	b.setBefore(nil)
	if w := b.send("POST", digestPath, "", byAdmin()); w.Code != 200 || field(w, "sent") != "2" {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	b.people.fail = memledger.ErrDB
	want(t, b.send("POST", digestPath, "", byAdmin()), 503, "db_unavailable")
}

func TestWhoMayDigest(t *testing.T) {
	t.Parallel()
	b := eventful(t)
	want(t, b.send("POST", digestPath, ""), 401, "unauthenticated")
	want(t, b.send("POST", digestPath, "", b.byKey()), 401, "unauthenticated")
	want(t, b.send("POST", digestPath, "", b.bySession()), 401, "unauthenticated")
	want(t, b.send("POST", digestPath+"?secret=guess", ""), 403, "forbidden")
	want(t, b.send("POST", digestPath+"?secret="+cronSecret, `{}`), 401, "unauthenticated") // a body takes the admin secret
	want(t, b.send("GET", digestPath+"?dry=1&secret="+cronSecret, ""), 405, "method_not_allowed")
	for range 9 {
		want(t, b.send("POST", digestPath, "", with("X-Admin-Secret", "guess")), 403, "forbidden")
	}
	want(t, b.send("POST", digestPath, "", byAdmin()), 429, "rate_limited") // ten failures in a minute, whichever route they were on
	if len(b.people.letters) != 0 || len(b.audit.entries) != 0 {
		t.Errorf("%d letters, %d entries", len(b.people.letters), len(b.audit.entries))
	}
	b.clock.Advance(time.Minute)
	want(t, b.send("POST", digestPath, "", byAdmin()), 200, "")
	if n := len(b.audit.entries); n != 2 || b.audit.entries[0].Target != "2026-09-17" || b.audit.entries[1].Code != "ok" || b.audit.entries[0].Actor != "admin" {
		t.Errorf("%+v", b.audit.entries)
	}
}
