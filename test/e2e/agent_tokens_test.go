package e2e

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
)

// TestAgentTokensOverHubs: a token is good at every hub of the service, ends at all of them
// at once, and is nothing at the hub of another address.
func TestAgentTokensOverHubs(t *testing.T) {
	t.Parallel()
	s := up(t)
	second, other := s.sideHub(t), s.sideHub(t, "HUB_URL=https://other.example")
	p := s.person(t)
	app := p.app(t, "http://127.0.0.1:8424/cb", "profile:read", "offline_access")
	record := usage("my_record", obj{})
	refused := func(hub, token string) {
		t.Helper()
		for _, what := range []any{record, message("tools/list", obj{})} {
			a := say(t, hub+tokenDoor, what, bearer(token))
			a.fails(http.StatusUnauthorized, "unauthenticated")
			if got := a.header.Get("WWW-Authenticate"); !strings.HasPrefix(got, `Bearer error="invalid_token", resource_metadata="`) {
				t.Errorf("%s: %s", a.what, got)
			}
		}
	}
	for _, ends := range []func(access, refresh string){
		func(access, _ string) {
			post(t, s.Hub+"/api/protocol/v1/oauth/revoke", formed(url.Values{"token": {access}, "client_id": {app.ClientID}}.Encode())).is(http.StatusOK)
		},
		func(_, refresh string) {
			post(t, second+"/api/protocol/v1/oauth/revoke", formed(url.Values{"token": {refresh}, "client_id": {app.ClientID}}.Encode())).is(http.StatusOK)
		},
	} {
		token := p.agentToken(t, app, "profile:read", "offline_access")
		for _, hub := range []string{s.Hub, second} {
			say(t, hub+tokenDoor, record, bearer(token.AccessToken)).is(http.StatusOK)
		}
		refused(other, token.AccessToken)
		ends(token.AccessToken, token.RefreshToken)
		for _, hub := range []string{second, s.Hub, other} {
			refused(hub, token.AccessToken)
		}
	}
	token := p.agentToken(t, app, "profile:read").AccessToken
	say(t, s.Hub+agentDoor, record, bearer(token)).fails(http.StatusUnauthorized, "unauthenticated")
	get(t, s.Hub+"/api/protocol/v1/me", bearer(token)).fails(http.StatusUnauthorized, "unauthenticated")
	for _, hub := range []string{s.Hub, second} { // however a hub is reached, the name that is asked for is one of this machine
		say(t, hub+tokenDoor, record, bearer(token), func(r *http.Request) { r.Host = "other.example" }).fails(http.StatusForbidden, "forbidden")
	}
	for hub, name := range map[string]string{s.Hub: s.Hub, second: s.Hub, other: "https://other.example"} {
		meta := get(t, hub+"/.well-known/oauth-protected-resource/api/protocol/v1/mcp").is(http.StatusOK)
		meta.has(obj{"resource": name + tokenDoor, "authorization_servers.0": name + "/api/protocol/v1"})
		get(t, hub+"/.well-known/oauth-protected-resource/api/mcp").is(http.StatusNotFound)
	}
}
