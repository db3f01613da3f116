package postgres

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/signalcast/signalcast/pkg/testkit"
	"github.com/signalcast/signalcast/services/api/internal/board"
	"github.com/signalcast/signalcast/services/api/internal/feed"
	"github.com/signalcast/signalcast/services/api/internal/operator"
	"github.com/signalcast/signalcast/services/api/internal/postgres/db"
	"github.com/signalcast/signalcast/services/api/internal/webhook"
)

// kindsOf returns the kinds of the notices after an id, and the id of the last one.
func (b *bundle) kindsOf(after int64) (kinds []string, last int64) {
	b.t.Helper()
	last = after
	for _, n := range must(b.ListNotices(b.t.Context(), after, 100))(b.t) {
		kinds, last = append(kinds, n.Kind), n.ID
	}
	return kinds, last
}

// addRecord stores the board row of an operator with resolved calls at 50 cents, and marks its edge as due.
func (b *bundle) addRecord(user string, calls, wins int) {
	b.t.Helper()
	b.exec(`INSERT INTO api.board_rows (user_id, lane, tier, handle, score, won, lost, void, total, calls, takes, month_score, month_done, cast_all, cast_month, counted, viewer_minutes)
		SELECT id, '', tier, handle, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0 FROM api.users WHERE id = $1 ON CONFLICT DO NOTHING`, user)
	b.exec(`INSERT INTO api.operator_tallies (user_id, lane, price_bps, confidence, calls, wins) VALUES ($1, 'SCIENCE', 5000, 0, $2, $3)
		ON CONFLICT (user_id, lane, price_bps, confidence) DO UPDATE SET calls = excluded.calls, wins = excluded.wins`, user, calls, wins)
	b.exec(`INSERT INTO api.board_due (user_id, lane) VALUES ($1, ''), ($1, 'SCIENCE') ON CONFLICT DO NOTHING`, user)
	if done, err := b.FoldEdges(b.t.Context(), 10, board.MeasureEdge); err != nil || !done {
		b.t.Fatalf("fold of edges: done %v, %v", done, err)
	}
}

// TestSkillIsNoticedOnce checks that an operator gets a notice when the calls show skill for the first time, and not again after
// the notice was deleted, and that a closed account gets none.
func TestSkillIsNoticedOnce(t *testing.T) {
	t.Parallel()
	b := setup(t)
	mara, _ := b.operator("mara")
	ines, _ := b.operator("ines")
	b.addRecord(mara, 20, 12)
	if kinds, _ := b.kindsOf(0); len(kinds) > 0 {
		t.Fatalf("12 wins of 20 have notices: %q", kinds)
	}
	b.addRecord(mara, 20, 19)
	list := must(b.ListNotices(t.Context(), 0, 100))(t)
	if len(list) != 1 || list[0].Kind != "skill_confirmed" || list[0].OperatorID != mara || !list[0].At.Equal(noon) {
		t.Fatalf("notices: %+v", list)
	}
	b.addRecord(mara, 40, 20)
	b.addRecord(mara, 60, 58)
	b.clock.Advance(operator.NoticeLife + time.Second)
	if err := b.SweepKeys(t.Context()); err != nil {
		t.Fatal(err)
	}
	b.addRecord(mara, 80, 78)
	b.addRecord(ines, 20, 11)
	if err := b.CloseAccount(t.Context(), ines, false, b.clock.Now()); err != nil {
		t.Fatal(err)
	}
	b.addRecord(ines, 20, 20)
	if kinds, _ := b.kindsOf(0); len(kinds) > 0 {
		t.Errorf("notices: %q", kinds)
	}
	if err := b.CloseAccount(t.Context(), ines, true, b.clock.Now()); err != nil {
		t.Fatal(err)
	}
	b.addRecord(ines, 21, 21)
	if kinds, _ := b.kindsOf(0); !slices.Equal(kinds, []string{"skill_confirmed"}) {
		t.Errorf("notices of an open account: %q", kinds)
	}
	if err := b.CloseAccount(t.Context(), ines, false, b.clock.Now()); err != nil {
		t.Fatal(err)
	}
	if err := b.EraseAccount(t.Context(), ines, b.clock.Now()); err != nil {
		t.Fatal(err)
	}
	if kinds, _ := b.kindsOf(0); len(kinds) > 0 {
		t.Errorf("notices of a deleted account: %q", kinds)
	}
}

// TestDeactivationIsNoticed checks that each deactivation of a failing webhook is one notice, with the host of its URL, and that
// a failed attempt does not activate a webhook that was deactivated in the meantime.
func TestDeactivationIsNoticed(t *testing.T) {
	t.Parallel()
	b := setup(t)
	mara, _ := b.operator("mara")
	key := must(b.ListKeys(t.Context(), mara))(t)[0].ID
	h := webhook.Hook{
		ID: uuid.NewString(), OwnerID: mara, KeyID: key, URL: "https://bot.example:8443?secret=x", Active: true, Revision: 1,
		CreatedAt: noon, Channels: []feed.Channel{"signals"}, Types: []feed.Type{}, Secret: []byte("sealed"),
	}
	if err := b.CreateWebhook(t.Context(), h); err != nil {
		t.Fatal(err)
	}
	attempt := 0
	fail := func(active bool) {
		t.Helper()
		attempt++
		h := must(b.GetWebhook(t.Context(), mara, h.ID))(t)
		if h.DeliveryID == "" {
			h.DeliveryID, attempt = uuid.NewString(), 1
		}
		h.Attempt, h.Through = attempt, 1
		if _, begun, err := b.BeginDelivery(t.Context(), h, 0); err != nil || !begun {
			t.Fatalf("attempt %d: begun %v, %v", attempt, begun, err)
		}
		d := webhook.Delivery{HookID: h.ID, ID: h.DeliveryID, Attempt: attempt, At: b.clock.Now(), Outcome: webhook.Outcome{Error: webhook.FailedTime}}
		for range 2 { // the second one changes nothing
			if err := b.FailDelivery(t.Context(), d, noon, noon, active, webhook.FailedTime); err != nil {
				t.Fatal(err)
			}
		}
	}
	activate := func(active bool) {
		t.Helper()
		if _, err := b.ChangeWebhook(t.Context(), mara, h.ID, webhook.Change{Active: &active, KeyID: key}); err != nil {
			t.Fatal(err)
		}
	}
	fail(true)
	if kinds, _ := b.kindsOf(0); len(kinds) > 0 {
		t.Fatalf("notices of an active webhook: %q", kinds)
	}
	fail(false)
	list := must(b.ListNotices(t.Context(), 0, 100))(t)
	if len(list) != 1 || list[0].Kind != "webhook_deactivated" || list[0].OperatorID != mara || list[0].Text != "bot.example:8443" {
		t.Fatalf("notices: %+v", list)
	}
	activate(true)
	fail(false)
	kinds, last := b.kindsOf(list[0].ID)
	if !slices.Equal(kinds, []string{"webhook_deactivated"}) {
		t.Errorf("notices of the second deactivation: %q", kinds)
	}

	activate(true)
	now := must(b.GetWebhook(t.Context(), mara, h.ID))(t)
	now.DeliveryID, now.Attempt, now.Through = uuid.NewString(), 1, 1
	if _, begun, err := b.BeginDelivery(t.Context(), now, 0); err != nil || !begun {
		t.Fatal(begun, err)
	}
	activate(false)
	d := webhook.Delivery{HookID: h.ID, ID: now.DeliveryID, Attempt: 1, At: noon, Outcome: webhook.Outcome{Error: webhook.FailedTime}}
	for _, active := range []bool{true, false} {
		if err := b.FailDelivery(t.Context(), d, noon, noon, active, webhook.FailedTime); err != nil {
			t.Fatal(err)
		}
	}
	if h := must(b.GetWebhook(t.Context(), mara, h.ID))(t); h.Active {
		t.Error("a failed attempt activated the webhook")
	}
	if kinds, _ := b.kindsOf(last); len(kinds) > 0 {
		t.Errorf("notices of a deactivation by the owner: %q", kinds)
	}
}

// TestNoticesAreNotSkipped checks that a reader that continues after the last id misses no notice of a transaction that commits
// late: the next writer waits for it.
func TestNoticesAreNotSkipped(t *testing.T) {
	t.Parallel()
	b := setup(t)
	mara, _ := b.operator("mara")
	ines, _ := b.operator("ines")
	insert := func(ctx context.Context, tx db.DBTX, user string) error {
		return db.New(tx).InsertSkillNotices(ctx, db.InsertSkillNoticesParams{UserIDs: []string{user}, Now: noon})
	}
	slow, err := b.rw.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = slow.Rollback(context.WithoutCancel(t.Context())) }()
	if err := insert(t.Context(), slow, mara); err != nil {
		t.Fatal(err)
	}
	second := make(chan error, 1)
	go func() {
		second <- pgx.BeginFunc(t.Context(), b.rw, func(tx pgx.Tx) error { return insert(t.Context(), tx, ines) })
	}()
	testkit.Eventually(t, 20*time.Second, func() bool {
		return b.count(`SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND objid = 7201018 AND NOT granted
			AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`) == 1
	})
	kinds, last := b.kindsOf(0)
	if err := slow.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := <-second; err != nil {
		t.Fatal(err)
	}
	if later, _ := b.kindsOf(last); len(kinds)+len(later) != 2 {
		t.Errorf("%d notices before and %d after the commits, want 2 in all", len(kinds), len(later))
	}
}
