package grant_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/signalcast/signalcast/services/hub/internal/grant"
)

func TestRegisteringAnApp(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	full := grant.AppDraft{
		Name: "Wetter <b>&</b> 🌦", Kind: grant.Confidential, RedirectURIs: []string{callback, "com.example.app:/cb"},
		Scopes: []string{"signal:create", "profile:read"}, Homepage: "https://example.com/", LogoURL: "https://example.com/logo.svg",
		AllowedResources: []string{mcp},
	}
	made, secret, err := r.Register(t.Context(), r.owner, full)
	if err != nil || !strings.HasPrefix(secret, "das_") || len(secret) != 47 {
		t.Fatalf("%q, %v", secret, err)
	}
	got, err := r.App(t.Context(), made.ID)
	if err != nil || got.Name != full.Name || got.Kind != grant.Confidential || len(got.RedirectURIs) != 2 || got.Scopes.String() != "profile:read signal:create" ||
		got.Homepage != full.Homepage || got.LogoURL != full.LogoURL || got.AllowedResources[0] != mcp || !got.CreatedAt.Equal(noon) || !got.Active() || got.OwnerID != r.owner {
		t.Errorf("%+v, %v", got, err)
	}
	if _, secret, err = r.Register(t.Context(), r.owner, draft(callback)); err != nil || secret != "" {
		t.Errorf("a public app has secret %q, %v", secret, err)
	}
	change := func(do func(*grant.AppDraft)) grant.AppDraft { d := full; do(&d); return d }
	for name, c := range map[string]struct {
		draft grant.AppDraft
		code  string
	}{
		"no name":          {change(func(d *grant.AppDraft) { d.Name = "" }), "invalid_request"},
		"name of 65":       {change(func(d *grant.AppDraft) { d.Name = strings.Repeat("ä", 65) }), "invalid_request"},
		"blank":            {change(func(d *grant.AppDraft) { d.Name = "   " }), "invalid_request"},
		"new line":         {change(func(d *grant.AppDraft) { d.Name = "a\nb" }), "invalid_request"},
		"turned":           {change(func(d *grant.AppDraft) { d.Name = "a\u202eb" }), "invalid_request"},
		"a line separator": {change(func(d *grant.AppDraft) { d.Name = "a\u2028b" }), "invalid_request"},
		"blank to the eye": {change(func(d *grant.AppDraft) { d.Name = "\u200b" }), "invalid_request"},
		"NUL":              {change(func(d *grant.AppDraft) { d.Name = "a\x00b" }), "invalid_request"},
		"no UTF-8":         {change(func(d *grant.AppDraft) { d.Name = "a\xff" }), "invalid_request"},
		"kind":             {change(func(d *grant.AppDraft) { d.Kind = "native" }), "invalid_request"},
		"no scopes":        {change(func(d *grant.AppDraft) { d.Scopes = nil }), "invalid_scope"},
		"unknown scope":    {change(func(d *grant.AppDraft) { d.Scopes = []string{"profile:read", "admin"} }), "invalid_scope"},
		"http homepage":    {change(func(d *grant.AppDraft) { d.Homepage = "http://example.com" }), "invalid_request"},
		"script homepage":  {change(func(d *grant.AppDraft) { d.Homepage = "javascript:alert(1)" }), "invalid_request"},
		"long logo":        {change(func(d *grant.AppDraft) { d.LogoURL = "https://example.com/" + strings.Repeat("a", 490) }), "invalid_request"},
		"unknown resource": {change(func(d *grant.AppDraft) { d.AllowedResources = []string{"https://example.com"} }), "invalid_request"},
		"resource twice":   {change(func(d *grant.AppDraft) { d.AllowedResources = []string{mcp, mcp} }), "invalid_request"},
	} {
		_, _, err := r.Register(t.Context(), r.owner, c.draft)
		want(t, name, err, c.code)
	}
	if n := r.count("SELECT count(*) FROM hub.apps"); n != 2 {
		t.Errorf("%d apps stored, want 2", n)
	}
}

// TestTwentyApps checks that an owner has at most twenty active apps, even after concurrent registrations.
func TestTwentyApps(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	got := codes(atOnce(t.Context(), 50, func(ctx context.Context, _ int) error {
		_, _, err := r.Register(ctx, r.owner, draft(callback))
		return err
	}))
	if got["ok"] != grant.MaxApps || got["limit_reached"] != 30 {
		t.Errorf("%v", got)
	}
	if _, _, err := r.Register(t.Context(), newUser(), draft(callback)); err != nil {
		t.Errorf("another owner: %v", err)
	}
	apps, err := r.ListApps(t.Context(), r.owner)
	if err != nil || len(apps) != grant.MaxApps {
		t.Fatalf("%d apps, %v", len(apps), err)
	}
	want(t, "disable", r.DisableApp(t.Context(), r.owner, apps[3].ID), "")
	r.clock.Advance(time.Second)
	made, _, err := r.Register(t.Context(), r.owner, draft(callback))
	if err != nil {
		t.Fatalf("after one was disabled: %v", err)
	}
	if apps, err = r.ListApps(t.Context(), r.owner); err != nil || len(apps) != 21 || apps[0].ID != made.ID || apps[20].Active() {
		t.Errorf("list of %d apps: the newest is not the first: %v", len(apps), err)
	}
}

func TestChangingAnApp(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	c := r.app(grant.Confidential)
	name, bad, uris, badURIs := "Other", "", []string{callback + "2"}, []string{"http://localhost/"}
	got, err := r.ChangeApp(t.Context(), r.owner, c.ID, grant.AppChange{Name: &name, RedirectURIs: &uris})
	if err != nil || got.Name != name || got.RedirectURIs[0] != uris[0] || got.Scopes.String() != c.Scopes.String() {
		t.Errorf("%+v, %v", got, err)
	}
	_, err = r.ChangeApp(t.Context(), r.owner, c.ID, grant.AppChange{Name: &bad})
	want(t, "name", err, "invalid_request")
	_, err = r.ChangeApp(t.Context(), r.owner, c.ID, grant.AppChange{Name: &c.Name, RedirectURIs: &badURIs})
	want(t, "redirect URI", err, "invalid_redirect_uri")
	_, err = r.ChangeApp(t.Context(), r.owner, c.ID, grant.AppChange{Scopes: &badURIs})
	want(t, "scope", err, "invalid_scope")
	_, err = r.ChangeApp(t.Context(), newUser(), c.ID, grant.AppChange{Name: &name})
	want(t, "not the owner", err, "not_found")
	for _, id := range []string{"", "x", newUser(), strings.ToUpper(c.ID)} {
		_, err = r.ChangeApp(t.Context(), r.owner, id, grant.AppChange{Name: &name})
		want(t, "change "+id, err, "not_found")
		_, err = r.App(t.Context(), id)
		want(t, "read "+id, err, "not_found")
		want(t, "disable "+id, r.DisableApp(t.Context(), r.owner, id), "not_found")
	}
	if now, err := r.App(t.Context(), c.ID); err != nil || now.Name != name || now.RedirectURIs[0] != uris[0] {
		t.Errorf("a refused change modified the app: %+v, %v", now, err)
	}
	if err := r.Revoke(t.Context(), c.form("token", "x")); err != nil {
		t.Errorf("a change lost the secret: %v", err)
	}
}

// TestDisablingAnApp checks that disabling an app revokes its grants and their signers, and that the app stays
// disabled.
func TestDisablingAnApp(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	c, other := r.app(grant.Confidential), r.app(grant.Confidential)
	mine, also, others := r.tokens(c), r.tokens(c), r.tokens(other)
	r.signer("aa", c, mine.GrantID)
	r.signer("bb", c, also.GrantID)
	r.signer("cc", other, others.GrantID)
	want(t, "not the owner", r.DisableApp(t.Context(), newUser(), c.ID), "not_found")
	if !r.lives(mine.AccessToken) {
		t.Fatal("a user who does not own the app disabled it")
	}
	want(t, "disable", r.DisableApp(t.Context(), r.owner, c.ID), "")
	for _, i := range []grant.Issued{mine, also} {
		if r.lives(i.AccessToken) || r.revokedBy(i.GrantID) != grant.ByAppDisabled {
			t.Errorf("revoked by %q", r.revokedBy(i.GrantID))
		}
		r.token("refresh", c.refreshing(i.RefreshToken), "invalid_client")
	}
	if n := r.count("SELECT count(*) FROM hub.signers WHERE revoked_by = 'grant' AND app_id = $1", c.ID); n != 2 {
		t.Errorf("%d signers were revoked, want 2", n)
	}
	if !r.lives(others.AccessToken) || r.count("SELECT count(*) FROM hub.signers WHERE revoked_at IS NULL") != 1 {
		t.Error("the grant of another app was revoked")
	}
	at := r.listed(mine.GrantID).RevokedAt
	r.clock.Advance(time.Minute)
	if err := r.DisableApp(t.Context(), r.owner, c.ID); err != nil {
		t.Errorf("second disabling: %v", err)
	}
	if l := r.listed(mine.GrantID); !l.RevokedAt.Equal(at) {
		t.Error("the second disabling changed the time")
	}
	got, err := r.App(t.Context(), c.ID)
	if err != nil || got.Active() || !got.DisabledAt.Equal(noon) {
		t.Errorf("%+v, %v", got, err)
	}
	name := "Back again"
	_, err = r.ChangeApp(t.Context(), r.owner, c.ID, grant.AppChange{Name: &name})
	want(t, "change", err, "not_found")
	_, err = r.RenewSecret(t.Context(), r.owner, c.ID, true)
	want(t, "new secret", err, "not_found")
}

// TestDisablingRacesRedemption checks that no token of an app is active after the app was disabled during concurrent redemptions
// of its codes.
func TestDisablingRacesRedemption(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	for range 3 {
		c := r.app(grant.Public)
		all := make([]string, 49)
		for i := range all {
			all[i] = r.code(c.query())
		}
		got := make([]grant.Issued, 50)
		errs := atOnce(t.Context(), 50, func(ctx context.Context, i int) (err error) {
			if i == 25 {
				return r.DisableApp(ctx, r.owner, c.ID)
			}
			got[i], err = r.Token(ctx, c.redemption(all[min(i, 48)]))
			return err
		})
		if errs[25] != nil {
			t.Fatal(errs[25])
		}
		for _, i := range got {
			if i.AccessToken != "" && r.lives(i.AccessToken) {
				t.Error("a token of a disabled app is active")
			}
		}
		if n := r.count("SELECT count(*) FROM hub.grants WHERE app_id = $1 AND revoked_at IS NULL", c.ID); n != 0 {
			t.Errorf("%d active grants of a disabled app, want 0", n)
		}
	}
}
