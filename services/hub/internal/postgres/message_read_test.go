package postgres_test

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/signalcast/signalcast/pkg/apperr"
	"github.com/signalcast/signalcast/pkg/protocol"
	"github.com/signalcast/signalcast/services/hub/internal/message"
)

func TestListMessages(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	p, q := newClient("alice", alice), newClient("bob", bob)
	q.owner.AppID, q.owner.GrantID = "app", uuid.NewString()
	p.register(t, d)
	q.register(t, d)
	var want []message.ID // oldest first
	for i := range 12 {
		by := []signingClient{p, q}[i%2]
		got, err := d.Submit(t.Context(), by.call(t, d.clock.Now(), func(m map[string]any) {
			if i%3 == 0 {
				m["type"] = "prediction.create"
			}
		}), nil)
		if err != nil {
			t.Fatal(err)
		}
		want = append(want, got.ID)
		if i%4 != 0 { // several messages have the same time
			d.clock.Advance(time.Second)
		}
	}
	for name, c := range map[string]struct {
		q message.Query
		n int
	}{
		"all": {message.Query{}, 12}, "of alice": {message.Query{DenpaID: alice}, 6}, "of the app": {message.Query{AppID: "app"}, 6},
		"predictions": {message.Query{Type: "prediction.create"}, 4}, "of both": {message.Query{DenpaID: bob, Type: "prediction.create", AppID: "app"}, 2},
		"since": {message.Query{Since: midday.Add(6 * time.Second)}, 4}, "unknown": {message.Query{DenpaID: uuid.NewString()}, 0},
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
	page, err := d.List(t.Context(), message.Query{Cursor: protocol.NewCursor("x", "y").Encode()})
	if err != nil || len(page.Messages) != 12 || page.Messages[0].ID != want[11] {
		t.Errorf("an invalid cursor: %d rows, %v", len(page.Messages), err)
	}
	for _, bad := range []message.Query{{Type: "x"}, {DenpaID: "x"}, {AppID: "a b"}} {
		refuses(t, "invalid_request schema")(d.List(t.Context(), bad))
	}
}

// TestVerify checks that Verify reports all errors of a message in a fixed order and stores nothing.
func TestVerify(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	p, narrow := newClient("alice", alice), newClient("narrow", alice)
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
		"stranger": {newClient("stranger", alice).call(t, midday, nil), []string{"unknown_signer"}},
		"both":     {bytes.Replace(newClient("stranger", alice).call(t, midday, nil), []byte("701122"), []byte("701123"), 1), []string{"unknown_signer", "bad_signature"}},
		"all":      {awful, []string{"timestamp_out_of_window", "signer_revoked", "insufficient_scope", "payload"}},
	} {
		v, err := d.Verify(t.Context(), c.raw)
		if err != nil || v.Valid != (c.want == nil) || !slices.Equal(v.Reasons, c.want) || len(v.ID) != 68 {
			t.Errorf("%s: %+v, %v", name, v, err)
		}
	}
	refuses(t, "invalid_request not_canonicalizable")(d.Verify(t.Context(), []byte("{")))
	if d.count(t, "messages") != 0 || d.ledger.asked != 0 {
		t.Error("a dry run stored something")
	}
	if _, err := d.Submit(t.Context(), good, nil); err != nil {
		t.Fatal(err)
	}
	m, err := message.Read(issuer, good)
	if err != nil {
		t.Fatal(err)
	}
	other := p.call(t, midday, func(body map[string]any) { body["nonce"], body["type"] = m.Nonce, "prediction.create" })
	if v, err := d.Verify(t.Context(), other); err != nil || !slices.Equal(v.Reasons, []string{"nonce_reused"}) {
		t.Errorf("another message with the same nonce: %+v, %v", v, err)
	}
	d.clock.Advance(time.Hour)
	if v, err := d.Verify(t.Context(), good); err != nil || !v.Valid {
		t.Errorf("an accepted message: %+v, %v", v, err)
	}
}

func attested(signalID string) message.Attestation {
	return message.Attestation{
		Type: message.SignalCreate, DenpaID: alice, AppID: "app", Subject: signalID, Result: message.Result{"signalId": signalID},
		Payload: map[string]any{
			"marketId": "701122", "position": "NO", "signalId": signalID, "priceAtPrediction": 6850, "credential": "app_token", "filedAt": protocol.Stamp(midday),
		},
	}
}

// TestAttest (S47) checks that attested messages can be verified after the hub's key was replaced. Concurrent attestations of one
// subject must create one message, and only the hub may attest.
func TestAttest(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	a := attested(uuid.NewString())
	made := make([]message.Record, 10)
	var wg sync.WaitGroup
	for i := range made {
		wg.Go(func() {
			_, err := retryBusy(func() (err error) {
				made[i], err = d.Attest(t.Context(), a)
				return err
			})
			if err != nil {
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
	// No client can sign with the hub's key: such messages are either stored or forged.
	unstored := bytes.Replace(got.Body, []byte(a.Subject), []byte(uuid.NewString()), 1)
	refuses(t, "unauthenticated bad_signature")(d.Submit(t.Context(), unstored, nil))
	bad := a
	bad.Payload = map[string]any{"marketId": "701122", "position": "NO"}
	bad.Subject = "other"
	if _, err := d.Attest(t.Context(), bad); err == nil || strings.Contains(why(err), "invalid_request") && apperr.Of(err).Kind != apperr.Internal {
		t.Errorf("attested without a signal: %v", err)
	}
	var body map[string]any
	if err := json.Unmarshal(got.Body, &body); err != nil || body["timestamp"] != float64(midday.UnixMilli()) {
		t.Errorf("%v, %v", body, err)
	}
}
