package grant_test

import (
	"net/url"
	"strings"
	"testing"

	"github.com/signalcast/signalcast/services/hub/internal/grant"
)

// unreviewed registers an app that no administrator has reviewed.
func (r *rig) unreviewed() client {
	r.t.Helper()
	c := r.app(grant.Confidential)
	if _, err := r.Trust(r.t.Context(), c.ID, false); err != nil {
		r.t.Fatal(err)
	}
	return c
}

// TestUnreviewedAppGetsNoRedirectWithoutADecision checks that the authorization endpoint redirects to an unreviewed app only
// after a decision of the user, because anyone can register a redirect URI (RFC 9700 4.11.2).
func TestUnreviewedAppGetsNoRedirectWithoutADecision(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	c := r.unreviewed()
	r.tokens(c) // the user has a grant for it
	for code, pairs := range map[string][]string{
		"unsupported_response_type": {"response_type", "token"}, "invalid_scope": {"scope", "market:create"},
		"invalid_target": {"resource", "https://elsewhere.example"}, "invalid_request": {"code_challenge", ""},
		"consent_required": {"prompt", "none"},
	} {
		for name, visitor := range map[string]grant.Visitor{"signed in": r.user, "anonymous": {}} {
			expected := code
			if code == "consent_required" && visitor.UserID == "" {
				expected = "login_required"
			}
			a, err := r.Authorize(t.Context(), c.query(pairs...), visitor)
			if want(t, expected+", "+name, err, expected); a != (grant.Answer{}) || err != nil && !strings.Contains(err.Error(), expected) {
				t.Errorf("%s, %s: %+v %v", expected, name, a, err)
			}
		}
	}
	for approve, member := range map[bool]string{true: "code", false: "error"} {
		to, err := r.Decide(t.Context(), r.user, r.consent(c.query()).Token, approve)
		if err != nil || !answer(t, to).Has(member) {
			t.Errorf("decision %t: %s, %v", approve, to, err)
		}
	}
}

func TestReviewEndsWhenTheAppChanges(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	name, uris, logo := "Another desk", []string{callback + "2"}, "https://example.com/logo.svg"
	more, less := []string{"profile:read", "signal:create", "offline_access", "market:create"}, []string{"profile:read"}
	for what, c := range map[string]struct {
		change  grant.AppChange
		trusted bool
	}{
		"a name":       {grant.AppChange{Name: &name}, false},
		"an address":   {grant.AppChange{RedirectURIs: &uris}, false},
		"a homepage":   {grant.AppChange{Homepage: &logo}, false},
		"more scopes":  {grant.AppChange{Scopes: &more}, false},
		"fewer scopes": {grant.AppChange{Scopes: &less}, true},
		"a logo":       {grant.AppChange{LogoURL: &logo}, true},
	} {
		app := r.app(grant.Public)
		if !app.Trusted() {
			t.Fatal("the review is not stored")
		}
		got, err := r.ChangeApp(t.Context(), r.owner, app.ID, c.change)
		if err != nil || got.Trusted() != c.trusted {
			t.Errorf("%s: trusted %t, want %t: %v", what, got.Trusted(), c.trusted, err)
		}
	}
	for _, id := range []string{"", "x", newUser()} {
		_, err := r.Trust(t.Context(), id, true)
		want(t, "review of "+id, err, "not_found")
	}
}

func TestAppNamesThatDeceiveAreRefused(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	for _, name := range []string{
		"Signalcast", "SIGNALCAST", "Signal Cast", "signal-cast", "Sign\u200balcast", "Sign\u00adalcast", "Signalcast Official Support", "S\u0456gnalcast",
		"S1gna1cast", "\uff33ignalcast", "Sígnálcast", "Ѕіgnаlсаѕt", "My Signalcast app", "Weather\u200bdesk", "a\u202eb", "a\ue000b",
	} {
		d := draft(callback)
		d.Name = name
		_, _, err := r.Register(t.Context(), r.owner, d)
		want(t, name, err, "invalid_request")
	}
	for _, name := range []string{"Weather desk", "Signal desk", "Broadcast signals", "\U0001f469\u200d\U0001f680 crew", "東京"} {
		d := draft(callback)
		d.Name = name
		_, _, err := r.Register(t.Context(), r.owner, d)
		want(t, name, err, "")
	}
}

func TestEncodedControlCharactersAreRefusedInRedirectURIs(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	for _, path := range []string{"%0d%0aX", "%00", "%1f", "%7f", "%0A", "a%09b"} {
		_, _, err := r.Register(t.Context(), r.owner, draft("https://a.example/"+path))
		want(t, path, err, "invalid_redirect_uri")
	}
	if _, _, err := r.Register(t.Context(), r.owner, draft("https://a.example/"+url.PathEscape("ä b"))); err != nil {
		t.Errorf("an encoded letter: %v", err)
	}
}
