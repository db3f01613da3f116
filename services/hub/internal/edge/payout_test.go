package edge_test

import (
	"strings"
	"testing"
	"time"

	"github.com/signalcast/signalcast/services/hub/internal/message"
)

// A payout address that a hand has slipped on, or that nobody has, is refused at the
// door of signed messages as at the other one, and nothing of it is kept.
func TestPayoutAddressOfAMessage(t *testing.T) {
	t.Parallel()
	b, db := withMessages(t)
	p := b.keeper("of the app")
	for _, bad := range []string{"0x5AAeb6053F3E94C9b9A09f33669435E7Ef1BeAed", "0x" + strings.Repeat("0", 40)} {
		raw := p.write("profile.update", map[string]any{"payoutAddress": bad})
		w := b.submit(raw)
		if reason(t, w, 400, "invalid_request", message.ReasonPayload); field(w, "field") != "payoutAddress" {
			t.Errorf("%s", w.Body)
		}
		if v := b.send("POST", messagesPath+"/verify", raw); field(v, "valid") != "false" {
			t.Errorf("it would be taken: %s", v.Body)
		}
		want(t, b.send("POST", profilePath, object("payoutAddress", bad), b.bySession()), 400, "invalid_payout_address")
	}
	if n := count(t, db, `SELECT count(*) FROM hub.messages`); n != 0 || b.ledger.Count("UpdateProfile") != 0 {
		t.Errorf("%d messages are kept", n)
	}
}

// A signature proves no recent sign-in: a message never changes the payout address, and
// nothing of it is stored.
func TestMessageCannotChangeThePayoutAddress(t *testing.T) {
	t.Parallel()
	b, db := withMessages(t)
	p := b.keeper("of the app")
	for _, address := range []any{wallet, nil} {
		want(t, b.submit(p.write("profile.update", map[string]any{"bio": "stolen", "payoutAddress": address})), 403, "session_required")
	}
	if n := count(t, db, `SELECT count(*) FROM hub.messages`); n != 0 || b.ledger.Count("UpdateProfile") != 0 {
		t.Errorf("%d messages are stored", n)
	}
}

// Only a session with a recent sign-in changes the payout address, and a refused request
// stores nothing.
func TestPayoutAddressNeedsASessionWithARecentSignIn(t *testing.T) {
	t.Parallel()
	b := setup(t)
	body := object("bio", "stolen", "payoutAddress", wallet)
	want(t, b.send("POST", profilePath, body, b.byKey()), 403, "session_required")
	want(t, b.send("POST", profilePath, object("payoutAddress", nil), b.byKey()), 403, "session_required")
	b.clock.Advance(15*time.Minute + time.Second)
	want(t, b.send("POST", profilePath, body, b.bySession()), 403, "session_required")
	if b.ledger.Count("UpdateProfile") != 0 || b.mara.GetBio() != "" {
		t.Errorf("a refused request changed the profile: %v", b.mara)
	}
	want(t, b.send("POST", profilePath, `{"bio":"mine"}`, b.bySession()), 200, "") // the rest needs no recent one
	fresh := b.signIn(b.mara)
	want(t, b.send("POST", profilePath, body, with("Cookie", fresh), with("Origin", hubURL)), 200, "")
	if b.mara.GetPayoutAddress() != wallet {
		t.Errorf("the address is %q", b.mara.GetPayoutAddress())
	}
}

func TestBotDeclaresItself(t *testing.T) {
	t.Parallel()
	b := setup(t)
	want(t, b.send("POST", profilePath, `{"automated":false}`, b.byKey()), 200, "")
	want(t, b.send("POST", profilePath, `{"automated":true}`, b.byKey()), 200, "")
	if b.mara.GetOperatorType() != "ai_agent" || b.mara.GetTier() != "automated" {
		t.Errorf("%v", b.mara)
	}
	want(t, b.send("POST", profilePath, `{"automated":true}`, b.bySession()), 200, "")
	want(t, b.send("POST", profilePath, `{"automated":false,"bio":"a person"}`, b.bySession()), 403, "forbidden")
	want(t, b.send("POST", profilePath, `{"automated":"yes"}`, b.byKey()), 400, "invalid_automated")
	if b.mara.GetOperatorType() != "ai_agent" || b.mara.GetBio() != "" {
		t.Errorf("taken back: %v", b.mara)
	}
	want(t, b.send("POST", "/api/admin/operators", `{"handle":"mara_k","operatorType":"human"}`, byAdmin()), 200, "")
	if b.mara.GetOperatorType() != "human" {
		t.Errorf("an administrator cannot change it back: %v", b.mara)
	}
}
