package edge_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/signalcast/signalcast/services/hub/internal/audit"
	"github.com/signalcast/signalcast/services/hub/internal/moderation"
)

const (
	moderationURL = "/api/admin/moderation"
	reportsURL    = "/api/reports"
)

// moderatedApps has no applications, and keeps reports.
type moderatedApps struct{ reports []moderation.Report }

func (*moderatedApps) Decide(context.Context, moderation.Decision) (moderation.Decision, error) {
	return moderation.Decision{}, moderation.ErrNotFound
}
func (*moderatedApps) Find(context.Context, string) error { return moderation.ErrNotFound }
func (*moderatedApps) List(context.Context, int) ([]moderation.Decision, error) {
	return nil, nil
}

func (m *moderatedApps) AddReport(_ context.Context, r moderation.Report, since time.Time, most int) (bool, error) {
	n := 0
	for _, one := range m.reports {
		if one.Reporter == r.Reporter && one.At.After(since) {
			n++
		}
	}
	if n >= most {
		return false, nil
	}
	m.reports = append(m.reports, r)
	return true, nil
}

// Integrity P23: a decision has the name of its administrator in the list and in the audit log.
func TestModeration(t *testing.T) {
	t.Parallel()
	b := setup(t)
	hide := `{"kind":"profile","id":"MARA_K","action":"hide","reason":"abuse"}`
	named := with("X-Admin-Name", "desk-2")
	w := b.send("POST", moderationURL, hide, byAdmin(), named)
	want(t, w, 200, "")
	if got := w.Body.String(); !strings.Contains(got, `"kind":"profile","id":"mara_k","hidden":true,"reason":"abuse","by":"desk-2"`) {
		t.Errorf("%s", got)
	}
	b.clock.Advance(time.Minute)
	want(t, b.send("POST", moderationURL, strings.Replace(hide, `"hide"`, `"show"`, 1), byAdmin()), 200, "")
	if got := b.send("GET", moderationURL, "", byAdmin()).Body.String(); !strings.Contains(got, `{"moderation":[{"kind":"profile","id":"mara_k","hidden":false,"reason":"abuse","by":"admin"`) {
		t.Errorf("%s", got)
	}
	if e := b.audit.entries[0]; e.Stage != audit.Asked || e.Target != "profile mara_k" || !strings.Contains(string(e.Detail), `"by":"desk-2"`) {
		t.Errorf("audit entry %+v", e)
	}
	for sent, code := range map[string]string{
		`{}`: "missing_kind", strings.Replace(hide, "profile", "planet", 1): "invalid_kind", strings.Replace(hide, `"hide"`, `"burn"`, 1): "invalid_action",
		`{"kind":"profile","id":"mara_k","action":"hide"}`: "missing_reason", strings.Replace(hide, "MARA_K", "", 1): "missing_id",
	} {
		want(t, b.send("POST", moderationURL, sent, byAdmin()), 400, code)
	}
	for _, kind := range []string{"signal", "event", "profile", "market", "station", "app"} {
		want(t, b.send("POST", moderationURL, `{"kind":"`+kind+`","id":"nobody_here","action":"hide","reason":"x"}`, byAdmin()), 404, "not_found")
	}
	want(t, b.send("POST", moderationURL, hide, b.byKey()), 401, "unauthenticated")
	want(t, b.send("GET", moderationURL, ""), 401, "unauthenticated")
}

// Integrity P23: an operator reports ten times a day.
func TestReports(t *testing.T) {
	t.Parallel()
	b := setup(t)
	sent := `{"kind":"profile","id":"mara_k","reason":"abuse"}`
	want(t, b.send("POST", reportsURL, sent), 401, "unauthenticated")
	want(t, b.send("POST", reportsURL, `{"kind":"app","id":"x","reason":"abuse"}`, b.byKey()), 404, "not_found")
	want(t, b.send("POST", reportsURL, `{"kind":"profile","id":"mara_k"}`, b.byKey()), 400, "missing_reason")
	for range 5 {
		b.clock.Advance(time.Minute)
		want(t, b.send("POST", reportsURL, sent, b.byKey()), 201, "")
		want(t, b.send("POST", reportsURL, sent, b.bySession()), 201, "")
	}
	want(t, b.send("POST", reportsURL, sent, b.byKey()), 429, "rate_limited")
	b.clock.Advance(24 * time.Hour)
	want(t, b.send("POST", reportsURL, sent, b.byKey()), 201, "")
}

// Integrity P23: the streams, clips and overlay of a hidden profile are on no surface and its open
// session is not live, until the profile is shown. Ended sessions keep their figures.
func TestHiddenProfileIsOffTheAir(t *testing.T) {
	t.Parallel()
	store, admin := stored(t)
	b := setup(t, store)
	overlay := object("marketId", marketID, "name", "secret name", "slug", "secret-slug", "annotation", "secret note")
	want(t, b.send("POST", approveURL, `{"handle":"mara_k","status":"approved"}`, byAdmin()), 200, "")
	want(t, b.send("POST", streamsURL, `{"url":"https://secret.example/x.m3u8","label":"secret label"}`, b.byKey()), 200, "")
	want(t, b.send("POST", overlayURL, overlay, b.byKey()), 200, "")
	want(t, b.send("POST", beatURL, "", b.byKey()), 200, "")
	b.clock.Advance(time.Second)
	want(t, b.send("POST", beatURL, `{"state":"offline"}`, b.byKey()), 200, "")
	want(t, b.send("POST", beatURL, "", b.byKey()), 200, "")
	_, err := admin.Exec(t.Context(), `INSERT INTO hub.clips (id, handle, market_id, url, duration_s, status, created_by, created_at, ready_at)
		VALUES (gen_random_uuid(), 'mara_k', '701122', 'https://secret.example/c.m3u8', 30, 'ready', 'mara_k', now(), now())`)
	if err != nil {
		t.Fatal(err)
	}
	// published returns the types and data of the events since the last call.
	published := func() (out string) {
		t.Helper()
		err := admin.QueryRow(t.Context(), `WITH d AS (DELETE FROM hub.outbox RETURNING type, data) SELECT coalesce(string_agg(type || ' ' || data, E'\n'), '') FROM d`).Scan(&out)
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	check := func(action string) {
		t.Helper()
		shown := action == "show"
		published()
		b.clock.Advance(10 * time.Second)
		want(t, b.send("POST", beatURL, "", b.byKey()), 200, "")
		want(t, b.send("POST", moderationURL, object("kind", "profile", "id", "Mara_K", "action", action, "reason", "abuse"), byAdmin()), 200, "")
		for _, path := range []string{streamsURL, "/api/m/701122/clips", overlayURL + "?handle=mara_k", liveURL, stateURL, "/api/operator/mara_k"} {
			if w := b.send("GET", path, ""); w.Code != 200 || strings.Contains(w.Body.String(), "secret") != shown {
				t.Errorf("%s after %s: %d %s", path, action, w.Code, w.Body)
			}
		}
		if w := b.send("GET", liveURL, ""); strings.Count(w.Body.String(), `"durationS":1`) != 1 || strings.Contains(w.Body.String(), `"live":[]`) == shown {
			t.Errorf("the live list after %s: %s", action, w.Body)
		}
		// A stream that the operator binds while the profile is hidden is published when it is shown.
		want(t, b.send("POST", "/api/m/"+nativeID+"/streams", `{"url":"https://secret.example/`+action+`.m3u8"}`, b.byKey()), 200, "")
		said := published()
		if strings.Contains(said, "secret") != shown {
			t.Errorf("published after %s: %s", action, said)
		}
		for kind, present := range map[string]bool{
			"stream.unbound": !shown, "operator.offline": !shown, "stream.bound": shown, "operator.live": shown, "overlay.updated": true, "snapshot": true,
		} {
			if strings.Contains(said, kind+" ") != present {
				t.Errorf("%s published after %s is not %t: %s", kind, action, present, said)
			}
		}
	}
	check("hide")
	check("show")
	check("hide")
}
