package grant_test

import (
	"testing"

	"github.com/signalcast/signalcast/services/hub/internal/grant"
)

func TestScopes(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"":             "",
		"profile:read": "profile:read",
		"signal:create profile:read signal:create": "profile:read signal:create",
		"offline_access broadcast:goLive":          "offline_access broadcast:goLive",
	} {
		if got, err := grant.ParseScopes(text); err != nil || got.String() != want {
			t.Errorf("%q: %q, %v", text, got, err)
		}
	}
	for _, text := range []string{" ", "profile:read ", " profile:read", "openid", "Profile:read", "profile:read,signal:create", "profile:read\tsignal:create", "profile:read\x00"} {
		if got, err := grant.ParseScopes(text); err == nil {
			t.Errorf("%q: %q", text, got)
		}
	}
	all, err := grant.NewScopes(grant.AllScopes().Words())
	if err != nil || all.String() != grant.AllScopes().String() || len(all) != 12 {
		t.Errorf("%q, %v", all, err)
	}
	if words := grant.Scopes(nil).Words(); words == nil || len(words) != 0 {
		t.Errorf("no scopes are %#v", words)
	}
}

func TestScopesOfPermissions(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		permissions []string
		want        string
	}{
		{nil, ""},
		{[]string{"admin"}, ""},
		{[]string{"read"}, "profile:read"},
		{[]string{"signal"}, "signer:create signal:create prediction:create"},
		{[]string{"broadcast", "read"}, "profile:read station:create station:update broadcast:create broadcast:goLive"},
	} {
		if got := grant.ScopesOfPermissions(c.permissions); got.String() != c.want {
			t.Errorf("%q: %q", c.permissions, got)
		}
	}
	every := grant.ScopesOfPermissions([]string{"read", "signal", "broadcast"})
	for _, scope := range []grant.Scope{grant.ProfileUpdate, grant.MarketCreate, grant.ResolutionCreate, grant.OfflineAccess} {
		if every.Has(scope) {
			t.Errorf("a permission of operator keys includes %s", scope)
		}
	}
}
