package edge_test

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/signalcast/signalcast/pkg/syntax"
	"github.com/signalcast/signalcast/services/hub/internal/message"
	"github.com/signalcast/signalcast/services/hub/internal/operator"
)

// minted is a key of mara's with its id.
func (b *bench) minted() (key, id string) {
	b.t.Helper()
	w := b.send("POST", "/api/dev/keys", `{"label":"bot"}`, byLogin("mara_k"))
	want(b.t, w, 201, "")
	return field(w, "key"), field(w, "id")
}

func TestRevokingAKeyRevokesItsSignersAndWebhooks(t *testing.T) {
	t.Parallel()
	b, _ := withMessages(t)
	key, id := b.minted()
	stolen, other := b.newPen("stolen"), b.signer("of another key", "signal:create")
	want(t, stolen.register(bearer(key), "signal:create"), 201, "")
	b.ledger.Webhooks = map[string][]string{id: {"0199f0a4-0000-7000-8000-000000000001"}}
	for range 2 { // repeating it has the same answer
		w := b.send("DELETE", "/api/dev/keys?id="+id, "", byLogin("mara_k"))
		want(t, w, 200, "")
		var answer struct {
			Active  bool
			Revoked struct{ Signers, Webhooks, Grants []string }
		}
		if err := json.Unmarshal(w.Body.Bytes(), &answer); err != nil || answer.Active ||
			!slices.Equal(answer.Revoked.Signers, []string{stolen.key()}) || len(answer.Revoked.Webhooks) != 1 || answer.Revoked.Grants == nil {
			t.Errorf("%s %v", w.Body, err)
		}
	}
	reason(t, b.submit(stolen.write("signal.create", call(marketID))), 401, "unauthenticated", message.ReasonRevoked)
	if w := b.send("GET", signersPath+"/"+stolen.key(), ""); field(w, "status") != "revoked" {
		t.Errorf("%s", w.Body)
	}
	want(t, b.submit(other.write("signal.create", call(marketID))), 201, "")
}

// The ledger revoked the key, and the hub crashed before it revoked the signers.
func TestSignerOfARevokedKeyIsRefusedEvenIfTheHubMissedIt(t *testing.T) {
	t.Parallel()
	b, _ := withMessages(t)
	key, id := b.minted()
	p, q := b.newPen("one"), b.newPen("two")
	want(t, p.register(bearer(key), "signal:create"), 201, "")
	want(t, q.register(bearer(key), "signal:create"), 201, "")
	if _, _, err := b.deps.Operators.RevokeKey(t.Context(), operator.ID(b.mara.GetId()), id); err != nil {
		t.Fatal(err)
	}
	reason(t, b.submit(p.write("signal.create", call(marketID))), 401, "unauthenticated", message.ReasonRevoked)
	for _, one := range []*pen{p, q} { // the refusal revoked them all
		if w := b.send("GET", signersPath+"/"+one.key(), ""); field(w, "status") != "revoked" {
			t.Errorf("%s", w.Body)
		}
	}
}

func TestSweepRevokesSignersOfRevokedKeys(t *testing.T) {
	t.Parallel()
	b, _ := withMessages(t)
	key, id := b.minted()
	p, other := b.newPen("one"), b.signer("of another key", "signal:create")
	want(t, p.register(bearer(key), "signal:create"), 201, "")
	if _, _, err := b.deps.Operators.RevokeKey(t.Context(), operator.ID(b.mara.GetId()), id); err != nil {
		t.Fatal(err)
	}
	for _, want := range []int{1, 0} {
		if n, err := b.deps.Messages.SweepKeys(context.WithoutCancel(t.Context())); n != want || err != nil {
			t.Errorf("%d keys swept, want %d: %v", n, want, err)
		}
	}
	for one, status := range map[*pen]string{p: "revoked", other: "active"} {
		if w := b.send("GET", signersPath+"/"+one.key(), ""); field(w, "status") != status {
			t.Errorf("want %s: %s", status, w.Body)
		}
	}
}

func TestSignerOfAKeyNeedsAnExpiryWithinNinetyDays(t *testing.T) {
	t.Parallel()
	b, _ := withMessages(t)
	p := b.newPen("one")
	good := p.registration(p.challenge(b.byKey()), "signal:create")
	expiry := member(good, "expiresAt")
	for name, body := range map[string]string{
		"none":        strings.Replace(good, `"expiresAt":"`+expiry+`",`, "", 1),
		"ninety-one":  strings.Replace(good, expiry, syntax.Stamp(b.clock.Now().Add(91*24*time.Hour)), 1),
		"a wrong one": strings.Replace(good, expiry, "soon", 1),
	} {
		if w := b.send("POST", signersPath, body, b.byKey()); w.Code != 400 || field(w, "error") != "invalid_request" || field(w, "field") != "expiresAt" {
			t.Errorf("%s: %d %s", name, w.Code, w.Body)
		}
	}
	want(t, b.send("POST", signersPath, good, b.byKey()), 201, "")
}
