package postgres

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/signalcast/signalcast/services/api/internal/feed"
	"github.com/signalcast/signalcast/services/api/internal/operator"
	"github.com/signalcast/signalcast/services/api/internal/postgres/db"
	"github.com/signalcast/signalcast/services/api/internal/webhook"
)

// mint creates an API key of an operator.
func (b *bundle) mint(operatorID string) operator.Key {
	b.t.Helper()
	_, k, err := b.service().Mint(b.t.Context(), operatorID, "bot", operator.PrefixKey, nil, true)
	if err != nil {
		b.t.Fatal(err)
	}
	return k
}

// webhook stores a webhook that was created with the given API key, and returns its id.
func (b *bundle) webhook(ownerID, keyID string) (string, error) {
	h := webhook.Hook{
		ID: uuid.Must(uuid.NewV7()).String(), OwnerID: ownerID, KeyID: keyID, URL: "https://bot.example/x",
		Channels: []feed.Channel{feed.Signals}, Types: []feed.Type{}, CreatedAt: noon, Secret: []byte("sealed"),
	}
	return h.ID, b.CreateWebhook(b.t.Context(), h)
}

func TestRevokingAKeyDeactivatesItsWebhooks(t *testing.T) {
	t.Parallel()
	b := setup(t)
	owner, _ := b.operator("mara")
	stolen, other := b.mint(owner), b.mint(owner)
	made, err1 := b.webhook(owner, stolen.ID)
	moved, err2 := b.webhook(owner, stolen.ID)
	kept, err3 := b.webhook(owner, other.ID)
	if err := errors.Join(err1, err2, err3); err != nil {
		t.Fatal(err)
	}
	if _, err := b.ChangeWebhook(t.Context(), owner, moved, webhook.Change{KeyID: other.ID}); err != nil {
		t.Fatal(err)
	}
	for range 2 { // repeated revocation returns the same answer
		k, webhooks, err := b.service().Revoke(t.Context(), owner, stolen.ID)
		if err != nil || k.Active || !slices.Equal(webhooks, []string{made}) {
			t.Errorf("%+v %v %v, want %s", k, webhooks, err, made)
		}
	}
	for id, active := range map[string]bool{made: false, moved: true, kept: true} {
		h, err := b.GetWebhook(t.Context(), owner, id)
		if err != nil || h.Active != active || !active && h.Reason != "key_revoked" {
			t.Errorf("webhook %s: %+v, %v", id, h, err)
		}
	}
	if _, err := b.webhook(owner, stolen.ID); !errors.Is(err, operator.ErrUnauthenticated) {
		t.Errorf("a webhook was created with a revoked key: %v", err)
	}
	on := true
	if _, err := b.ChangeWebhook(t.Context(), owner, made, webhook.Change{Active: &on, KeyID: stolen.ID}); !errors.Is(err, operator.ErrUnauthenticated) {
		t.Errorf("a webhook was activated with a revoked key: %v", err)
	}
	h, err := b.ChangeWebhook(t.Context(), owner, made, webhook.Change{Active: &on, KeyID: other.ID})
	if err != nil || !h.Active {
		t.Errorf("activation with another key: %+v, %v", h, err)
	}
	unknown := uuid.NewString()
	revoked, err := b.RevokedKeys(t.Context(), []string{stolen.ID, other.ID, unknown})
	if err != nil || len(revoked) != 2 || !slices.Contains(revoked, stolen.ID) || !slices.Contains(revoked, unknown) {
		t.Errorf("revoked keys: %v, %v", revoked, err)
	}
}

func TestWebhookOfAConcurrentRevocationIsDeactivated(t *testing.T) {
	t.Parallel()
	b := setup(t)
	owner, _ := b.operator("mara")
	k := b.mint(owner)
	tx := must(b.rw.Begin(t.Context()))(t)
	if err := lockActiveKey(t.Context(), db.New(tx), k.ID, owner); err != nil {
		t.Fatal(err)
	}
	done := make(chan []string)
	go func() {
		_, webhooks, err := b.service().Revoke(context.WithoutCancel(t.Context()), owner, k.ID)
		if err != nil {
			t.Error(err)
		}
		done <- webhooks
	}()
	for b.count(`SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`) == 0 {
		if t.Context().Err() != nil {
			t.Fatal("the revocation does not wait for the webhook")
		}
	}
	id := uuid.Must(uuid.NewV7()).String()
	if _, err := tx.Exec(t.Context(), `INSERT INTO webhooks (id, user_id, url, channels, types, created_at, taken, secret, key_id)
		VALUES ($1, $2, 'https://bot.example/x', '{signals}', '{}', $3, 0, 'x', $4)`, id, owner, noon, k.ID); err != nil {
		t.Fatal(err)
	}
	if err := tx.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	if webhooks := <-done; !slices.Equal(webhooks, []string{id}) {
		t.Errorf("deactivated webhooks: %v, want %s", webhooks, id)
	}
}

func TestEndSessionsRaisesTheVersion(t *testing.T) {
	t.Parallel()
	b := setup(t)
	owner, _ := b.operator("mara")
	for want := int64(1); want <= 2; want++ {
		version, err := b.service().EndSessions(t.Context(), owner)
		if err != nil || version != want {
			t.Errorf("version %d, want %d: %v", version, want, err)
		}
	}
	o, err := b.service().Operator(t.Context(), "mara", "")
	if err != nil || o.SessionVersion != 2 {
		t.Errorf("operator after two session ends: %+v, %v", o, err)
	}
	if n := b.count(`SELECT count(*) FROM api.audit_log WHERE action = 'operator.sessions_ended' AND subject = $1`, owner); n != 2 {
		t.Errorf("%d audit entries", n)
	}
	if _, err := b.service().EndSessions(t.Context(), uuid.NewString()); !errors.Is(err, operator.ErrNotFound) {
		t.Errorf("unknown operator: %v", err)
	}
}

func TestProfileDeclaresABotAndRecordsPayoutChanges(t *testing.T) {
	t.Parallel()
	b := setup(t)
	owner, _ := b.operator("mara")
	s, messages := b.service(), 0
	update := func(p operator.Profile) {
		t.Helper()
		messages++
		if err := s.UpdateProfile(t.Context(), owner, fmt.Sprintf("msg_%064x", messages), p); err != nil {
			t.Fatal(err)
		}
	}
	is := func(kind string) {
		t.Helper()
		if o, err := s.Operator(t.Context(), "mara", ""); err != nil || string(o.Type) != kind {
			t.Errorf("type %s, want %s: %v", o.Type, kind, err)
		}
	}
	address := "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed"
	update(operator.Profile{PayoutAddress: operator.Change{Given: true, Text: &address}})
	is("human")
	update(operator.Profile{PayoutAddress: operator.Change{Given: true, Text: &address}}) // the same address again
	update(operator.Profile{Automated: true})
	is("ai_agent")
	update(operator.Profile{Automated: true})
	update(operator.Profile{})
	is("ai_agent")
	for action, want := range map[string]int{"operator.payout_changed": 1, "operator.declared_automated": 1} {
		if n := b.count(`SELECT count(*) FROM api.audit_log WHERE action = $1 AND subject = $2`, action, owner); n != want {
			t.Errorf("%d audit entries %s, want %d", n, action, want)
		}
	}
	b.exec(`UPDATE api.users SET operator_type = 'system_bot' WHERE id = $1`, owner)
	update(operator.Profile{Automated: true})
	is("system_bot")
	b.clock.Advance(time.Second)
}
