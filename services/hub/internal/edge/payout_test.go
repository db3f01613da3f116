package edge_test

import (
	"strings"
	"testing"

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
		want(t, b.send("POST", profilePath, object("payoutAddress", bad), b.byKey()), 400, "invalid_payout_address")
	}
	if n := count(t, db, `SELECT count(*) FROM hub.messages`); n != 0 || b.ledger.Count("UpdateProfile") != 0 {
		t.Errorf("%d messages are kept", n)
	}
	want(t, b.submit(p.write("profile.update", map[string]any{"payoutAddress": wallet})), 201, "")
	want(t, b.submit(p.write("profile.update", map[string]any{"payoutAddress": nil})), 201, "")
}
