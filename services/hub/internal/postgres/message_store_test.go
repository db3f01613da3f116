package postgres_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/signalcast/signalcast/pkg/fault"
	"github.com/signalcast/signalcast/pkg/syntax"
	"github.com/signalcast/signalcast/services/hub/internal/message"
)

var errClosed = fault.New(fault.Conflict, "market_closed", "closed")

func TestSubmit(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	p := newPen("alice", alice)
	p.register(t, d)
	raw := p.call(t, midday, nil)
	got, err := d.Submit(t.Context(), raw, &message.Bearer{DenpaID: alice})
	if err != nil || got.Replayed || string(got.Result) != `{"signalId":"s1"}` || got.URI() != "denpa:"+alice+"/signal.create/"+string(got.ID) {
		t.Fatalf("%+v, %v", got, err)
	}
	kept, err := d.Get(t.Context(), string(got.ID))
	canonical, _ := message.Canonical(raw)
	if err != nil || !bytes.Equal(kept.Body, canonical) || string(kept.Result) != `{"signalId":"s1"}` || !kept.ReceivedAt.Equal(midday) || kept.Attested || kept.Pending {
		t.Errorf("%+v, %v", kept, err)
	}
	// The same again, in another spelling, and long after its window.
	d.clock.Advance(time.Hour)
	for _, again := range [][]byte{raw, bytes.Replace(raw, []byte(`"version":1`), []byte(` "version" : 1.0 `), 1)} {
		got, err := d.Submit(t.Context(), again, nil)
		if err != nil || !got.Replayed || string(got.Result) != `{"signalId":"s1"}` {
			t.Errorf("%+v, %v", got, err)
		}
	}
	if d.ledger.asked != 1 {
		t.Errorf("the effect was asked for %d times", d.ledger.asked)
	}
	for _, id := range []string{"", "msg_", "msg_" + strings.Repeat("0", 64), strings.ToUpper(string(got.ID))} {
		_, err := d.Get(t.Context(), id)
		must(t, err, "not_found")
	}
}

// TestSubmitRefuses: what is refused leaves nothing behind.
func TestSubmitRefuses(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	p, narrow, stranger := newPen("alice", alice), newPen("narrow", alice), newPen("stranger", alice)
	p.register(t, d)
	narrow.owner.Scopes = []string{"profile:update"}
	narrow.register(t, d)
	at := func(when time.Time) []byte { return p.call(t, when, nil) }
	good := at(midday)
	for name, c := range map[string]struct {
		raw  []byte
		by   *message.Bearer
		want string
	}{
		"no JSON":          {[]byte("{"), nil, "invalid_request not_canonicalizable"},
		"stranger":         {stranger.call(t, midday, nil), nil, "unauthenticated unknown_signer"},
		"other passport":   {p.call(t, midday, func(m map[string]any) { m["denpaId"] = bob }), nil, "unauthenticated unknown_signer"},
		"other app":        {p.call(t, midday, func(m map[string]any) { m["appId"] = "app" }), nil, "unauthenticated unknown_signer"},
		"changed":          {bytes.Replace(good, []byte("701122"), []byte("701123"), 1), nil, "unauthenticated bad_signature"},
		"bearer of bob":    {good, &message.Bearer{DenpaID: bob}, "forbidden"},
		"bearer of an app": {good, &message.Bearer{DenpaID: alice, AppID: "app"}, "forbidden"},
		"old":              {at(midday.Add(-5*time.Minute - time.Millisecond)), nil, "invalid_request timestamp_out_of_window"},
		"ahead":            {at(midday.Add(time.Minute + time.Millisecond)), nil, "invalid_request timestamp_out_of_window"},
		"scope":            {narrow.call(t, midday, nil), nil, "insufficient_scope"},
		"payload":          {p.call(t, midday, func(m map[string]any) { m["payload"] = map[string]any{"marketId": "1"} }), nil, "invalid_request payload"},
	} {
		if _, err := d.Submit(t.Context(), c.raw, c.by); why(err) != c.want {
			t.Errorf("%s: %q, want %q", name, why(err), c.want)
		}
	}
	if d.count(t, "messages") != 0 || d.ledger.asked != 0 {
		t.Errorf("%d messages are kept, the effect was asked for %d times", d.count(t, "messages"), d.ledger.asked)
	}
	for _, edge := range []time.Time{midday.Add(-5 * time.Minute), midday.Add(time.Minute)} {
		if _, err := d.Submit(t.Context(), at(edge), nil); err != nil {
			t.Errorf("%v: %v", edge, err)
		}
	}
}

// TestOnce is S43: 50 copies at once are one message with one effect.
func TestOnce(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	p := newPen("alice", alice)
	p.register(t, d)
	raw := p.call(t, midday, func(m map[string]any) { m["nonce"] = "nonce-of-fifty-copies" })
	results := make([]message.Submitted, 50)
	var wg sync.WaitGroup
	for i := range results {
		wg.Go(func() {
			var err error
			if results[i], err = d.Submit(t.Context(), raw, nil); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	first := 0
	for _, r := range results {
		if !r.Replayed {
			first++
		}
		if string(r.Result) != `{"signalId":"s1"}` || r.ID != results[0].ID {
			t.Errorf("%+v", r)
		}
	}
	if first != 1 || d.ledger.acts() != 1 || d.count(t, "messages") != 1 {
		t.Errorf("%d first, %d acts, %d rows", first, d.ledger.acts(), d.count(t, "messages"))
	}
	other := p.call(t, midday, func(m map[string]any) {
		m["nonce"], m["payload"] = "nonce-of-fifty-copies", map[string]any{"marketId": "1", "position": "YES"}
	})
	d.clock.Advance(time.Minute)
	_, err := d.Submit(t.Context(), other, nil)
	must(t, err, "nonce_reused")
	if d.ledger.acts() != 1 {
		t.Error("a reused nonce had an effect")
	}
	// Another key may use the same nonce.
	q := newPen("bob", bob)
	q.register(t, d)
	if _, err := d.Submit(t.Context(), q.call(t, midday, func(m map[string]any) { m["nonce"] = "nonce-of-fifty-copies" }), nil); err != nil {
		t.Error(err)
	}
}

// TestOneNonce: of many messages with one nonce, one is taken.
func TestOneNonce(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	p := newPen("alice", alice)
	p.register(t, d)
	errs := make([]error, 20)
	var wg sync.WaitGroup
	for i := range errs {
		raw := p.call(t, midday, func(m map[string]any) { m["nonce"], m["timestamp"] = "nonce-of-all-of-us", midday.UnixMilli()+int64(i) })
		wg.Go(func() { _, errs[i] = d.Submit(t.Context(), raw, nil) })
	}
	wg.Wait()
	taken := 0
	for _, err := range errs {
		if err == nil {
			taken++
		} else {
			must(t, err, "nonce_reused")
		}
	}
	if taken != 1 || d.ledger.acts() != 1 {
		t.Errorf("%d taken, %d acts", taken, d.ledger.acts())
	}
}

// TestRefusedEffect is S45: nothing is stored, and the nonce is free again.
func TestRefusedEffect(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	p := newPen("alice", alice)
	p.register(t, d)
	d.ledger.set(errClosed, nil, false)
	raw := p.call(t, midday, func(m map[string]any) { m["nonce"] = "nonce-that-is-freed" })
	for range 2 {
		_, err := d.Submit(t.Context(), raw, nil)
		must(t, err, "market_closed")
	}
	if d.count(t, "messages") != 0 {
		t.Error("a refused message is kept")
	}
	d.ledger.set(nil, nil, false)
	other := p.call(t, midday, func(m map[string]any) { m["nonce"], m["type"] = "nonce-that-is-freed", "prediction.create" })
	if _, err := d.Submit(t.Context(), other, nil); err != nil {
		t.Error(err)
	}
}

// TestLeftPending: what an outage left open is settled by the same message or by
// the sweep, once, and nobody reads it before.
func TestLeftPending(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		reach  bool // the effect happened, only its answer was lost
		refuse error
		by     string // who settles
		rows   int
	}{
		{"resent", false, nil, "resend", 1},
		{"resent, effect there", true, nil, "resend", 1},
		{"resent, refused", false, errClosed, "resend", 0},
		{"swept", false, nil, "sweep", 1},
		{"swept, effect there", true, nil, "sweep", 1},
		{"swept, effect there, closed since", true, errClosed, "sweep", 1},
		{"swept, refused", false, errClosed, "sweep", 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			d := newDesk(t)
			p := newPen("alice", alice)
			p.register(t, d)
			raw := p.call(t, midday, nil)
			d.ledger.set(nil, errAway, c.reach)
			_, err := d.Submit(t.Context(), raw, nil)
			must(t, err, "signal_service_unavailable")
			m, err := message.Read(issuer, raw)
			if err != nil {
				t.Fatal(err)
			}
			_, err = d.Get(t.Context(), string(m.ID))
			must(t, err, "not_found")
			if page, err := d.List(t.Context(), message.Query{}); err != nil || len(page.Messages) != 0 || d.count(t, "messages") != 1 {
				t.Errorf("%+v, %v", page, err)
			}
			if n, err := d.Sweep(t.Context()); n != 0 || err != nil {
				t.Errorf("swept %d under its sender's eyes, %v", n, err)
			}
			d.clock.Advance(time.Minute)
			if n, err := d.Sweep(t.Context()); n != 0 || !errors.Is(err, errAway) {
				t.Errorf("swept %d while the effect is away, %v", n, err)
			}
			d.ledger.set(c.refuse, nil, false)
			d.clock.Advance(10 * time.Minute)
			settle(t, d, c.by, raw)
			if n := d.count(t, "messages WHERE status = 'accepted'"); n != c.rows || d.count(t, "messages") != c.rows || d.ledger.acts() != c.rows {
				t.Errorf("%d accepted, %d rows, %d acts", n, d.count(t, "messages"), d.ledger.acts())
			}
			if n, err := d.Sweep(t.Context()); n != 0 || err != nil {
				t.Errorf("swept %d twice, %v", n, err)
			}
		})
	}
}

func settle(t *testing.T, d *desk, by string, raw []byte) {
	t.Helper()
	if by == "sweep" {
		if n, err := d.Sweep(t.Context()); n != 1 || err != nil {
			t.Errorf("swept %d, %v", n, err)
		}
		return
	}
	got, err := d.Submit(t.Context(), raw, nil)
	if w := why(err); w == "" && got.Replayed || w != "" && w != "market_closed" {
		t.Errorf("%+v, %v", got, err)
	}
}

// TestSweepShares: two sweeps at once do not hand out the same message, and one
// that cannot be settled does not hold the others up.
func TestSweepShares(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	p := newPen("alice", alice)
	p.register(t, d)
	d.ledger.set(nil, errAway, false)
	for range 20 {
		_, err := d.Submit(t.Context(), p.call(t, midday, nil), nil)
		must(t, err, "signal_service_unavailable")
	}
	d.ledger.set(nil, nil, false)
	d.clock.Advance(time.Minute)
	asked := d.ledger.asked
	counts := make([]int, 4)
	var wg sync.WaitGroup
	for i := range counts {
		wg.Go(func() {
			var err error
			if counts[i], err = d.Sweep(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if n := counts[0] + counts[1] + counts[2] + counts[3]; n != 20 || d.ledger.asked-asked != 20 || d.ledger.acts() != 20 {
		t.Errorf("%v swept, asked %d times", counts, d.ledger.asked-asked)
	}
}

// TestDropAndAccept: a request drops only what it took itself, and a message
// whose effect is done is kept though its row is gone.
func TestDropAndAccept(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	p := newPen("alice", alice)
	p.register(t, d)
	store := d.store.Messages()
	m, err := message.Read(issuer, p.call(t, midday, nil))
	if err != nil {
		t.Fatal(err)
	}
	r := message.Record{
		ID: m.ID, Type: m.Type, DenpaID: m.DenpaID, Key: m.Key, Nonce: m.Nonce, Body: m.Body, ReceivedAt: midday, Pending: true, Attempt: uuid.NewString(),
	}
	if _, taken, err := store.Take(t.Context(), r); !taken || err != nil {
		t.Fatal(taken, err)
	}
	second := r
	second.Attempt = uuid.NewString()
	if kept, taken, err := store.Take(t.Context(), second); taken || err != nil || kept.Attempt != r.Attempt {
		t.Errorf("%+v, %v, %v", kept, taken, err)
	}
	must(t, store.Drop(t.Context(), r.ID, second.Attempt), "")
	if d.count(t, "messages") != 1 {
		t.Error("dropped by another request")
	}
	must(t, store.Drop(t.Context(), r.ID, r.Attempt), "")
	if d.count(t, "messages") != 0 {
		t.Error("not dropped")
	}
	r.Result = []byte(`{"a":1}`)
	for i, want := range []bool{true, false} {
		if first, err := store.Accept(t.Context(), r, midday); first != want || err != nil {
			t.Errorf("accept %d: %v, %v", i, first, err)
		}
	}
	must(t, store.Drop(t.Context(), r.ID, r.Attempt), "")
	if kept, found, err := store.Find(t.Context(), r.ID); !found || err != nil || kept.Pending || string(kept.Result) != `{"a":1}` {
		t.Errorf("%+v, %v, %v", kept, found, err)
	}
}

// TestMessagesStay: an accepted message is never changed or removed, a pending
// one keeps what was signed.
func TestMessagesStay(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	p := newPen("alice", alice)
	p.register(t, d)
	if _, err := d.Submit(t.Context(), p.call(t, midday, nil), nil); err != nil {
		t.Fatal(err)
	}
	d.ledger.set(nil, errAway, false)
	_, err := d.Submit(t.Context(), p.call(t, midday, nil), nil)
	must(t, err, "signal_service_unavailable")
	attempts := []string{
		"UPDATE messages SET result = NULL WHERE status = 'accepted'",
		"UPDATE messages SET status = 'pending', accepted_at = NULL WHERE status = 'accepted'",
		"UPDATE messages SET body = '{}' WHERE status = 'pending'",
		"UPDATE messages SET received_at = now() WHERE status = 'pending'",
		"DELETE FROM messages WHERE status = 'accepted'",
		"DELETE FROM messages",
		"TRUNCATE messages",
	}
	asWriter := append([]string{
		"ALTER TABLE messages DISABLE TRIGGER ALL", "SET session_replication_role = replica", "DROP TABLE messages",
	}, attempts...)
	for _, sql := range asWriter {
		refused(t, d.db.URL("hub_rw"), sql)
	}
	for _, sql := range attempts {
		refused(t, d.db.Admin, "SET ROLE hub_migrator; SET search_path = hub; "+sql)
	}
	if d.count(t, "messages") != 2 {
		t.Error("a message is gone")
	}
}

func TestListMessages(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	p, q := newPen("alice", alice), newPen("bob", bob)
	q.owner.AppID, q.owner.GrantID = "app", uuid.NewString()
	p.register(t, d)
	q.register(t, d)
	var want []message.ID // oldest first
	for i := range 12 {
		by := []pen{p, q}[i%2]
		got, err := d.Submit(t.Context(), by.call(t, d.clock.Now(), func(m map[string]any) {
			if i%3 == 0 {
				m["type"] = "prediction.create"
			}
		}), nil)
		if err != nil {
			t.Fatal(err)
		}
		want = append(want, got.ID)
		if i%4 != 0 { // several have the same time
			d.clock.Advance(time.Second)
		}
	}
	for name, c := range map[string]struct {
		q message.Query
		n int
	}{
		"all": {message.Query{}, 12}, "of alice": {message.Query{DenpaID: alice}, 6}, "of the app": {message.Query{AppID: "app"}, 6},
		"predictions": {message.Query{Type: "prediction.create"}, 4}, "of both": {message.Query{DenpaID: bob, Type: "prediction.create", AppID: "app"}, 2},
		"since": {message.Query{Since: midday.Add(6 * time.Second)}, 3}, "of nobody": {message.Query{DenpaID: uuid.NewString()}, 0},
	} {
		var got []message.ID
		c.q.Limit = 5
		for pages := 0; ; pages++ {
			page, err := d.List(t.Context(), c.q)
			if err != nil || len(page.Messages) > 5 || pages > 3 {
				t.Fatalf("%s: %d rows on page %d, %v", name, len(page.Messages), pages, err)
			}
			for _, r := range page.Messages {
				got = append(got, r.ID)
			}
			if page.Next.IsZero() {
				break
			}
			c.q.Cursor = page.Next.Encode()
		}
		if len(got) != c.n || slices.IndexFunc(got, func(id message.ID) bool { return !slices.Contains(want, id) }) >= 0 || len(slices.Compact(slices.Sorted(slices.Values(got)))) != c.n {
			t.Errorf("%s: %d messages, want %d", name, len(got), c.n)
		}
	}
	page, err := d.List(t.Context(), message.Query{Cursor: syntax.NewCursor("x", "y").Encode()})
	if err != nil || len(page.Messages) != 12 || page.Messages[0].ID != want[11] {
		t.Errorf("a cursor that is none: %d rows, %v", len(page.Messages), err)
	}
	for _, bad := range []message.Query{{Type: "x"}, {DenpaID: "x"}, {AppID: "a b"}} {
		_, err := d.List(t.Context(), bad)
		must(t, err, "invalid_request schema")
	}
}

// TestVerify: the dry run tells everything, in order, and keeps nothing.
func TestVerify(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	p, narrow := newPen("alice", alice), newPen("narrow", alice)
	p.register(t, d)
	narrow.owner.Scopes = []string{"profile:update"}
	narrow.register(t, d)
	if _, err := d.RevokeSigner(t.Context(), narrow.owner, narrow.key()); err != nil {
		t.Fatal(err)
	}
	good := p.call(t, midday, nil)
	awful := narrow.call(t, midday.Add(-time.Hour), func(m map[string]any) { m["payload"] = map[string]any{} })
	for name, c := range map[string]struct {
		raw  []byte
		want []string
	}{
		"good":     {good, nil},
		"changed":  {bytes.Replace(good, []byte("701122"), []byte("701123"), 1), []string{"bad_signature"}},
		"stranger": {newPen("stranger", alice).call(t, midday, nil), []string{"unknown_signer"}},
		"awful":    {awful, []string{"timestamp_out_of_window", "signer_revoked", "insufficient_scope", "payload"}},
	} {
		v, err := d.Verify(t.Context(), c.raw)
		if err != nil || v.Valid != (c.want == nil) || !slices.Equal(v.Reasons, c.want) || len(v.ID) != 68 {
			t.Errorf("%s: %+v, %v", name, v, err)
		}
	}
	_, err := d.Verify(t.Context(), []byte("{"))
	must(t, err, "invalid_request not_canonicalizable")
	if d.count(t, "messages") != 0 || d.ledger.asked != 0 {
		t.Error("a dry run left something")
	}
	if _, err := d.Submit(t.Context(), good, nil); err != nil {
		t.Fatal(err)
	}
	d.clock.Advance(time.Hour)
	if v, err := d.Verify(t.Context(), good); err != nil || !v.Valid {
		t.Errorf("a message that was taken: %+v, %v", v, err)
	}
}

func attested(signalID string) message.Attestation {
	return message.Attestation{
		Type: message.SignalCreate, DenpaID: alice, AppID: "app", Subject: signalID, Result: message.Result{"signalId": signalID},
		Payload: map[string]any{
			"marketId": "701122", "position": "NO", "signalId": signalID, "priceAtPrediction": 6850, "credential": "app_token", "filedAt": syntax.Stamp(midday),
		},
	}
}

// TestAttest is S47 on this side: the hub's messages verify after its key was
// replaced, are made once for what they are about, and nobody else makes them.
func TestAttest(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	a := attested(uuid.NewString())
	made := make([]message.Record, 10)
	var wg sync.WaitGroup
	for i := range made {
		wg.Go(func() {
			var err error
			if made[i], err = d.Attest(t.Context(), a); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	for _, r := range made {
		if r.ID != made[0].ID || !r.Attested || string(r.Body) != string(made[0].Body) {
			t.Errorf("%+v", r)
		}
	}
	got, err := d.Get(t.Context(), string(made[0].ID))
	if err != nil || d.count(t, "messages") != 1 || got.Subject != "signal.create:"+a.Subject || got.AppID != "app" {
		t.Fatalf("%+v, %v", got, err)
	}
	old := d.Keys.All()[0]
	d.keys = `[{"publicKey":"` + string(old.Key) + `","notBefore":"2026-01-01T00:00:00Z","notAfter":"2026-09-18T13:00:00Z"},
		{"seed":"` + strings.Repeat("02", 32) + `","notBefore":"2026-09-18T13:00:00Z"}]`
	d.serve(t)
	d.clock.Set(midday.Add(time.Hour))
	if v, err := d.Verify(t.Context(), got.Body); err != nil || !v.Valid || v.ID != got.ID {
		t.Errorf("%+v, %v", v, err)
	}
	next, err := d.Attest(t.Context(), attested(uuid.NewString()))
	if err != nil || next.Key == old.Key {
		t.Errorf("%+v, %v", next, err)
	}
	if again, err := d.Submit(t.Context(), got.Body, nil); err != nil || !again.Replayed {
		t.Errorf("%+v, %v", again, err)
	}
	// The hub's key cannot be borrowed: its messages are there, or were never made.
	unstored := bytes.Replace(got.Body, []byte(a.Subject), []byte(uuid.NewString()), 1)
	_, err = d.Submit(t.Context(), unstored, nil)
	must(t, err, "unauthenticated bad_signature")
	bad := a
	bad.Payload = map[string]any{"marketId": "701122", "position": "NO"}
	bad.Subject = "other"
	if _, err := d.Attest(t.Context(), bad); err == nil || strings.Contains(why(err), "invalid_request") && fault.Of(err).Kind != fault.Internal {
		t.Errorf("attested without a signal: %v", err)
	}
	var body map[string]any
	if err := json.Unmarshal(got.Body, &body); err != nil || body["timestamp"] != float64(midday.UnixMilli()) {
		t.Errorf("%v, %v", body, err)
	}
}
