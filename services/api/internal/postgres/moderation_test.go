package postgres

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/signalcast/signalcast/pkg/protocol"
	"github.com/signalcast/signalcast/services/api/internal/feed"
	"github.com/signalcast/signalcast/services/api/internal/market"
	"github.com/signalcast/signalcast/services/api/internal/moderation"
	"github.com/signalcast/signalcast/services/api/internal/signal"
)

const removed = "Removed by an administrator"

func (b *bundle) moderate(kind, id string, hidden bool) {
	b.t.Helper()
	d := moderation.Decision{Kind: kind, ID: id, Hidden: hidden, Reason: "abuse", By: "Ada", At: b.clock.Now()}
	if err := b.Moderate(b.t.Context(), d); err != nil {
		b.t.Fatal(err)
	}
}

// TestHiddenTextIsNotServed checks that reads, lists and the feed omit the hidden text of a call, its events and its market.
// Numbers remain visible, and restored text is served again.
func TestHiddenTextIsNotServed(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.venueMarket("7", 3000)
	_, hash := b.operator("mara_k")
	d := newDraft("7", protocol.Yes, 3000)
	take := "secret take"
	d.TextTake = &take
	b.requireVerdict(hash, d, signal.VerdictFiled)
	event := signal.Event{ID: newUUID(), Type: "take", Payload: `{"text":"secret event"}`, CreatedAt: b.clock.Now()}
	if _, err := b.AppendEvent(t.Context(), signal.Caller{KeyHash: hash}, d.ID, event); err != nil {
		t.Fatal(err)
	}
	b.exec(`UPDATE api.markets SET title = 'secret title', description = 'secret description' WHERE market_id = '7'`)
	b.number()
	// all returns the data of all reads that contain the call.
	all := func() string {
		t.Helper()
		var out strings.Builder
		r := must(b.GetSignal(t.Context(), d.ID))(t)
		if r.TextTake != nil {
			out.WriteString(*r.TextTake)
		}
		out.WriteString(r.MarketTitle)
		events := must(b.ListEvents(t.Context(), d.ID))(t)
		for _, e := range events {
			out.WriteString(e.Payload)
		}
		l, err := b.ListLedger(t.Context(), "7", 10, protocol.Cursor{})
		if err != nil || len(l.Signals) != 1 || l.Yes != 1 {
			t.Fatal(l, err)
		}
		if l.Signals[0].TextTake != nil {
			out.WriteString(*l.Signals[0].TextTake)
		}
		list, _, err := b.ListFeedChannel(t.Context(), "market:7", 0, 100, 10)
		if err != nil || len(list) == 0 {
			t.Fatal(list, err)
		}
		for _, e := range list {
			out.Write(e.Data)
		}
		m := b.market("7")
		return out.String() + m.Title + m.Description
	}
	for _, secret := range []string{"secret take", "secret event", "secret title", "secret description"} {
		if !strings.Contains(all(), secret) {
			t.Fatalf("%s is not served", secret)
		}
	}
	b.moderate("event", event.ID, true)
	if got := all(); strings.Contains(got, "secret event") || !strings.Contains(got, "secret take") {
		t.Errorf("with a hidden event: %s", got)
	}
	b.moderate("event", event.ID, false)
	b.moderate("signal", d.ID, true)
	if got := all(); strings.Contains(got, "secret take") || strings.Contains(got, "secret event") {
		t.Errorf("with a hidden call: %s", got)
	}
	b.moderate("signal", d.ID, false)
	b.moderate("market", "7", true)
	b.clock.Advance(time.Minute)
	b.apply(true, b.answer("7", 3100, func(r *market.Record) { r.Title, r.Description = "secret title", "secret description" }))
	if m := b.market("7"); m.Title != removed || m.Description != "" || *m.Yes != 3100 {
		t.Errorf("hidden market: %+v", m)
	}
	if r, err := b.GetSignal(t.Context(), d.ID); err != nil || r.MarketTitle != removed {
		t.Errorf("call on a hidden market: %q, %v", r.MarketTitle, err)
	}
	b.moderate("market", "7", false)
	if m := b.market("7"); m.Title != "secret title" || m.Description != "secret description" {
		t.Errorf("restored market: %+v", m)
	}
	b.compareCounters()
}

// TestAreHidden checks that AreHidden answers in the order of its argument. A profile is identified by the id of
// its operator.
func TestHiddenObjects(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.venueMarket("7", 3000)
	id, hash := b.operator("mara_k")
	d := newDraft("7", protocol.Yes, 3000)
	b.requireVerdict(hash, d, signal.VerdictFiled)
	things := []moderation.Thing{
		{Kind: "market", ID: "7"},
		{Kind: "signal", ID: d.ID},
		{Kind: "profile", ID: id},
		{Kind: "profile", ID: newUUID()},
		{Kind: "station", ID: d.ID},
		{Kind: "event", ID: d.ID},
	}
	check := func(want ...bool) {
		t.Helper()
		if got, err := b.AreHidden(t.Context(), things); err != nil || !slices.Equal(got, want) {
			t.Errorf("hidden: %v, %v; want %v", got, err, want)
		}
	}
	check(false, false, false, false, false, false)
	b.moderate("signal", d.ID, true)
	check(false, true, false, false, false, false)
	b.moderate("profile", "mara_k", true)
	b.moderate("market", "7", true)
	check(true, true, true, false, false, false)
	b.moderate("signal", d.ID, false)
	check(true, false, true, false, false, false)
	things = nil
	check()
}

// TestHiddenProfile checks that a hidden profile shows only its handle, also after its owner changed it. A restored profile
// shows the newest text.
func TestHiddenProfile(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.operator("mara_k")
	read := func() string {
		return b.text(`SELECT concat_ws(' ', display_name, coalesce(bio, '-'), coalesce(avatar_url, '-'), cardinality(links)) FROM api.users WHERE handle = 'mara_k'`)
	}
	b.exec(`UPDATE api.users SET display_name = 'Abuse', bio = 'abuse', avatar_url = 'https://a.example/a.png', links = '{https://a.example}' WHERE handle = 'mara_k'`)
	b.moderate("profile", "mara_k", true)
	if got := read(); got != "mara_k - - 0" {
		t.Errorf("hidden: %s", got)
	}
	b.exec(`UPDATE api.users SET bio = 'newer' WHERE handle = 'mara_k'`)
	if got := read(); got != "mara_k - - 0" {
		t.Errorf("hidden after a change: %s", got)
	}
	b.moderate("profile", "mara_k", true) // a repetition
	b.moderate("profile", "mara_k", false)
	if got := read(); got != "Abuse newer https://a.example/a.png 1" {
		t.Errorf("restored: %s", got)
	}
	list, err := b.ListModerated(t.Context(), 10)
	if err != nil || len(list) != 1 || list[0].Hidden || list[0].By != "Ada" || list[0].Reason != "abuse" {
		t.Errorf("moderation decisions: %+v, %v", list, err)
	}
	for kind, id := range map[string]string{"profile": "nobody_here", "signal": newUUID(), "event": newUUID(), "market": "none", "station": "none"} {
		if err := b.Moderate(t.Context(), moderation.Decision{Kind: kind, ID: id, Hidden: true, At: b.clock.Now()}); !errors.Is(err, moderation.ErrNotFound) {
			t.Errorf("unknown %s: %v", kind, err)
		}
		if err := b.FindModerated(t.Context(), kind, id); !errors.Is(err, moderation.ErrNotFound) {
			t.Errorf("find unknown %s: %v", kind, err)
		}
	}
	if err := b.FindModerated(t.Context(), "profile", "mara_k"); err != nil {
		t.Error(err)
	}
}

// TestEventsOfHiddenProfiles checks that feed events of streams, sessions and clips of a hidden profile contain no texts and
// no media addresses. Numbers remain visible.
func TestEventsOfHiddenProfiles(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.venueMarket("7", 3000)
	mara, _ := b.operator("mara_k")
	b.operator("otto")
	var facts []feed.Fact
	for _, handle := range []string{"mara_k", "otto"} {
		for kind, data := range map[feed.Type]string{
			feed.StreamBound:     `"url":"https://secret.example/x.m3u8","label":"secret"`,
			feed.OperatorLive:    `"hlsUrl":"https://secret.example/x.m3u8","signal":{"marketId":"7","name":"secret"}`,
			feed.OperatorOffline: `"signal":{"marketId":"7","name":"secret"}`,
			feed.ClipReady:       `"url":"https://secret.example/c.m3u8","thumbnailUrl":"https://secret.example/c.jpg","title":"secret"`,
		} {
			facts = append(facts, feed.Fact{ID: newUUID(), Type: kind, At: noon, MarketID: "7", Handle: handle, Data: []byte(`{"handle":"` + handle + `","viewers":7,` + data + `}`)})
		}
	}
	if err := b.StoreFacts(t.Context(), facts, nil); err != nil {
		t.Fatal(err)
	}
	b.number()
	for _, hidden := range []bool{false, true, false} {
		b.moderate("profile", "mara_k", hidden)
		events := b.events()
		if len(events) != len(facts) {
			t.Fatalf("%d events, want %d", len(events), len(facts))
		}
		for _, e := range events {
			data := string(e.Data)
			if strings.Contains(data, "secret") == (hidden && e.Handle == "mara_k") || !strings.Contains(data, `"viewers":7`) {
				t.Errorf("%s of %s with the profile of mara_k hidden %t: %s", e.Type, e.Handle, hidden, data)
			}
		}
	}
	if err := b.CloseAccount(t.Context(), mara, false, noon); err != nil {
		t.Fatal(err)
	}
	if err := b.EraseAccount(t.Context(), mara, noon); err != nil {
		t.Fatal(err)
	}
	deleted := 0
	for _, e := range b.events() {
		data := string(e.Data)
		if strings.Contains(data, "secret") != strings.Contains(data, "otto") || strings.Contains(data, "mara_k") {
			t.Errorf("%s after the account of mara_k was deleted: %s", e.Type, data)
		}
		if strings.Contains(data, `"handle":"deleted-`) {
			deleted++
		}
	}
	if deleted != 4 {
		t.Errorf("%d events have the handle of the deleted account; want 4", deleted)
	}
}

// TestEventsOfHiddenMarkets checks feed events that are numbered while their market is hidden, and events of the programme.
// The stored data contains the title of the market; reads omit it while the market is hidden.
func TestEventsOfHiddenMarkets(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.venueMarket("7", 3000)
	b.moderate("market", "7", true)
	b.exec(`INSERT INTO api.outbox (type, market_id, data, at) VALUES ('market.status', '7', '{"from":"open","to":"closed"}', $1)`, noon)
	b.exec(`INSERT INTO api.outbox (type, market_id, data, at) VALUES ('segment.started', '7', '{"id":"7","title":"Will it hold?"}', $1),
		('segment.preempted', '8', '{"id":"8","title":"Will it rain?","replaces":{"id":"7","title":"Will it hold?"}}', $1),
		('segment.preempted', '8', '{"id":"8","title":"Will it rain?","replaces":null}', $1)`, noon)
	b.number()
	for _, hidden := range []bool{true, false, true} {
		b.moderate("market", "7", hidden)
		var all string
		for _, e := range b.events() {
			all += string(e.Data)
		}
		shown, masked := strings.Count(all, "Will it hold?"), strings.Count(all, removed)
		if want := map[bool]int{true: 0, false: 3}[hidden]; shown != want || masked != 3-want || strings.Count(all, "Will it rain?") != 2 || !strings.Contains(all, `"replaces":null`) {
			t.Errorf("hidden %v: %s", hidden, all)
		}
	}
}
