package postgres

import (
	"fmt"
	"testing"
	"time"

	"github.com/signalcast/signalcast/pkg/protocol"
	"github.com/signalcast/signalcast/services/api/internal/market"
)

// TestShortAnswerKeepsOtherMembers checks that a short answer of a venue changes only the stored members that it contains.
func TestShortAnswerKeepsOtherMembers(t *testing.T) {
	t.Parallel()
	b := setup(t)
	full := func(r *market.Record) {
		r.Title, r.Description, r.Lane, r.Category = "Guild winner – Ada Quill", "The rules.", protocol.LaneMusic, "music"
		r.Slug, r.EventKey, r.EventTitle, r.ConditionID, r.ClobTokenID = "ada", "guild", "Guild winner", "0x1", "77"
		r.ImageURL, r.URL = "https://venue.example/ada.png", "https://venue.example/ada"
	}
	short := func(r *market.Record) {
		r.Short, r.Guessed, r.Title, r.Lane, r.Category, r.URL = true, true, "Ada Quill", protocol.LaneSport, "sport", ""
	}
	b.stub("kalshi-STUB") // a stub, whose title every answer replaces
	b.exec(`UPDATE api.markets SET title = 'Surely: Ada Quill', lane = 'WORLD' WHERE market_id = 'kalshi-STUB'`)
	b.apply(false, b.answer("1", 3000, full), b.answer("kalshi-STUB", 3000, short), b.answer("kalshi-NEW", 3000, short))
	before := b.market("1")
	for id, want := range map[string]string{"1": "Guild winner – Ada Quill", "kalshi-STUB": "Ada Quill", "kalshi-NEW": "Ada Quill"} {
		if m := b.market(id); m.Title != want || m.Lane == protocol.LaneOther || m.Lane == protocol.LaneWorld {
			t.Errorf("market %s has the title %q in lane %s", id, m.Title, m.Lane)
		}
	}
	b.clock.Advance(time.Second)
	b.apply(false, b.answer("1", 4000, short))
	after := b.market("1")
	if *after.Yes != 4000 {
		t.Errorf("the price is %d", *after.Yes)
	}
	after.Yes, after.PricedAt = before.Yes, before.PricedAt
	if fmt.Sprintf("%+v", shown(after)) != fmt.Sprintf("%+v", shown(before)) {
		t.Errorf("a short answer changed the market: got\n%+v want\n%+v", shown(after), shown(before))
	}
	b.clock.Advance(time.Second)
	said := func(r *market.Record) {
		r.Short, r.Title, r.Description, r.Lane, r.Category, r.Status = true, "Ada", "New rules.", protocol.LaneWorld, "news", protocol.MarketClosed
	}
	b.apply(false, b.answer("1", 4000, said))
	if m := b.market("1"); m.Title != "Ada" || m.Description != "New rules." || m.Lane != protocol.LaneWorld || m.Category != "news" ||
		m.Status != protocol.MarketClosed || m.EventTitle != "Guild winner" {
		t.Errorf("members of a short answer are not stored: %+v", shown(m))
	}
	b.clock.Advance(time.Second)
	b.apply(false, b.answer("1", 4000, func(r *market.Record) { r.URL = "" }))
	if m := b.market("1"); m.Description != "" || m.EventTitle != "" || m.URL != "" {
		t.Errorf("empty members of a full answer do not replace stored ones: %+v", shown(m))
	}
}

// shown returns the members of a market that these tests compare.
func shown(m market.Market) []any {
	return []any{
		m.Title, m.Description, m.Status, m.Lane, m.Category, m.Slug, m.EventKey, m.EventTitle, m.ConditionID,
		m.ClobTokenID, m.ImageURL, m.URL, m.UpdatedAt,
	}
}
