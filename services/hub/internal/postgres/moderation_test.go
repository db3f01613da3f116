package postgres

import (
	"errors"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/signalcast/signalcast/pkg/testkit"
	"github.com/signalcast/signalcast/services/hub/internal/moderation"
)

// TestHiddenApp (P23) checks that a hidden app shows no name, homepage or logo, even if its owner changes them. After it is shown
// again, it must show the newest values.
func TestHiddenApp(t *testing.T) {
	t.Parallel()
	db := testkit.Postgres(t, Schema(""))
	admin, s, ctx := testkit.Pool(t, db.Admin), New(testkit.Pool(t, db.URL("hub_rw")), testkit.ReadTime).Moderation(), t.Context()
	id, now := uuid.NewString(), time.Now().UTC().Truncate(time.Millisecond)
	exec := func(sql string, args ...any) {
		t.Helper()
		if _, err := admin.Exec(ctx, sql, args...); err != nil {
			t.Fatal(err)
		}
	}
	exec(`INSERT INTO hub.apps (id, owner_id, kind, name, redirect_uris, scopes, homepage, logo_url, allowed_resources, created_at)
		VALUES ($1, gen_random_uuid(), 'public', 'Abuse', '{https://a.example}', '{profile:read}', 'https://a.example', 'https://a.example/a.png', '{}', now())`, id)
	read := func(want string) {
		t.Helper()
		var got string
		if err := admin.QueryRow(ctx, `SELECT concat_ws('|', name, homepage, logo_url) FROM hub.apps WHERE id = $1`, id).Scan(&got); err != nil || got != want {
			t.Errorf("%s, want %s, %v", got, want, err)
		}
	}
	decide := func(hidden bool) {
		t.Helper()
		if _, err := s.Decide(ctx, moderation.Decision{Kind: moderation.App, ID: id, Hidden: hidden, Reason: "abuse", By: "Ada", At: now}); err != nil {
			t.Fatal(err)
		}
	}
	decide(true)
	read("Removed by an administrator||")
	exec(`UPDATE hub.apps SET name = 'Newer' WHERE id = $1`, id)
	decide(true)
	read("Removed by an administrator||")
	decide(false)
	read("Newer|https://a.example|https://a.example/a.png")
	if list, err := s.List(ctx, 10); err != nil || len(list) != 1 || list[0].ID != id || list[0].Hidden || list[0].By != "Ada" {
		t.Errorf("%+v, %v", list, err)
	}
	for _, unknown := range []string{uuid.NewString(), "x"} {
		if _, err := s.Decide(ctx, moderation.Decision{Kind: moderation.App, ID: unknown, At: now}); !errors.Is(err, moderation.ErrNotFound) {
			t.Errorf("decide %s: %v", unknown, err)
		}
		if err := s.Find(ctx, unknown); !errors.Is(err, moderation.ErrNotFound) {
			t.Errorf("find %s: %v", unknown, err)
		}
	}
	if err := s.Find(ctx, id); err != nil {
		t.Error(err)
	}
}

// TestReportsAreBounded (P23) checks the limit of reports of one operator.
func TestReportsAreBounded(t *testing.T) {
	t.Parallel()
	s := New(testkit.Pool(t, testkit.Postgres(t, Schema("")).URL("hub_rw")), testkit.ReadTime).Moderation()
	now := time.Now().UTC()
	r := moderation.Report{Reporter: "7b5a1d5e-0000-4000-8000-000000000001", Kind: "profile", Thing: "mara_k", Reason: "abuse", At: now}
	for n := range 3 {
		r.ID = uuid.NewString()
		if ok, err := s.AddReport(t.Context(), r, now.Add(-time.Hour), 2); err != nil || ok != (n < 2) {
			t.Errorf("report %d: %v, %v", n+1, ok, err)
		}
	}
}
