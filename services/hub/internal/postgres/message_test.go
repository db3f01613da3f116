package postgres_test

import (
	"bytes"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/signalcast/signalcast/services/hub/internal/message"
)

func TestSubmit(t *testing.T) {
	t.Parallel()
	d, p := newSignedDesk(t)
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
	// Repeat the message, also with other whitespace, long after its time window.
	d.clock.Advance(time.Hour)
	for _, again := range [][]byte{raw, bytes.Replace(raw, []byte(`"version":1`), []byte(` "version" : 1.0 `), 1)} {
		got, err := d.Submit(t.Context(), again, nil)
		if err != nil || !got.Replayed || string(got.Result) != `{"signalId":"s1"}` {
			t.Errorf("%+v, %v", got, err)
		}
	}
	if d.ledger.asked != 1 {
		t.Errorf("the effect was applied %d times", d.ledger.asked)
	}
	for _, id := range []string{"", "msg_", "msg_" + strings.Repeat("0", 64), strings.ToUpper(string(got.ID))} {
		refuses(t, "not_found")(d.Get(t.Context(), id))
	}
}

// TestSubmitRefuses checks the error of invalid messages, and that they are not stored.
func TestSubmitRefuses(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	p, narrow, stranger := newClient("alice", alice), newClient("narrow", alice), newClient("stranger", alice)
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
		t.Errorf("%d messages are stored, the effect was applied %d times", d.count(t, "messages"), d.ledger.asked)
	}
	for _, edge := range []time.Time{midday.Add(-5 * time.Minute), midday.Add(time.Minute)} {
		if _, err := d.Submit(t.Context(), at(edge), nil); err != nil {
			t.Errorf("%v: %v", edge, err)
		}
	}
}

// TestOnce (S43) checks that of 50 concurrent copies of a message one is stored, and that the message is applied once.
func TestOnce(t *testing.T) {
	t.Parallel()
	d, p := newSignedDesk(t)
	raw := p.call(t, midday, func(m map[string]any) { m["nonce"] = "nonce-of-fifty-copies" })
	results := make([]message.Submitted, 50)
	var doubt atomic.Bool // an answer was lost, perhaps the first one
	var wg sync.WaitGroup
	for i := range results {
		wg.Go(func() {
			asks, err := retryBusy(func() (err error) {
				results[i], err = d.Submit(t.Context(), raw, nil)
				return err
			})
			if err != nil {
				t.Error(err)
			}
			if asks > 1 {
				doubt.Store(true)
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
	if first > 1 || first == 0 && !doubt.Load() || d.ledger.acts() != 1 || d.count(t, "messages") != 1 {
		t.Errorf("%d answers are the first, %d effects, %d rows", first, d.ledger.acts(), d.count(t, "messages"))
	}
	other := p.call(t, midday, func(m map[string]any) {
		m["nonce"], m["payload"] = "nonce-of-fifty-copies", map[string]any{"marketId": "1", "position": "YES"}
	})
	d.clock.Advance(time.Minute)
	refuses(t, "nonce_reused nonce_reused")(d.Submit(t.Context(), other, nil))
	if d.ledger.acts() != 1 {
		t.Error("a reused nonce had an effect")
	}
	// Another key can use the same nonce.
	q := newClient("bob", bob)
	q.register(t, d)
	if _, err := d.Submit(t.Context(), q.call(t, midday, func(m map[string]any) { m["nonce"] = "nonce-of-fifty-copies" }), nil); err != nil {
		t.Error(err)
	}
}

// TestOneNonce checks that one of several concurrent messages with the same nonce is accepted.
func TestOneNonce(t *testing.T) {
	t.Parallel()
	d, p := newSignedDesk(t)
	errs := make([]error, 20)
	var wg sync.WaitGroup
	for i := range errs {
		raw := p.call(t, midday, func(m map[string]any) {
			m["nonce"], m["timestamp"] = "nonce-of-all-copies", midday.UnixMilli()+int64(i)
		})
		wg.Go(func() {
			_, errs[i] = retryBusy(func() error {
				_, err := d.Submit(t.Context(), raw, nil)
				return err
			})
		})
	}
	wg.Wait()
	taken := 0
	for _, err := range errs {
		if err == nil {
			taken++
		} else {
			must(t, err, "nonce_reused nonce_reused")
		}
	}
	if taken != 1 || d.ledger.acts() != 1 {
		t.Errorf("%d messages accepted, %d effects", taken, d.ledger.acts())
	}
}

// TestMessagesStay checks that the database permits no change or deletion of an accepted message, and no change of the signed
// content of a pending message.
func TestMessagesStay(t *testing.T) {
	t.Parallel()
	d, p := newSignedDesk(t)
	if _, err := d.Submit(t.Context(), p.call(t, midday, nil), nil); err != nil {
		t.Fatal(err)
	}
	d.ledger.set(nil, errUnavailable, false)
	refuses(t, "signal_service_unavailable")(d.Submit(t.Context(), p.call(t, midday, nil), nil))
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
		t.Error("a message was deleted")
	}
}
