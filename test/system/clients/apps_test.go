package clients

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"golang.org/x/oauth2"

	"github.com/signalcast/signalcast/test/system/stack"
)

// TestOAuthLibrary checks that the client of golang.org/x/oauth2 exchanges an authorization code and refreshes tokens
// automatically. It must receive invalid_grant for a refresh token that was used twice.
func TestOAuthLibrary(t *testing.T) {
	t.Parallel()
	s := system(t)
	p := s.NewOperator(t)
	cookies := p.Session(t)
	registered := p.NewApp(t, "public", "profile:read", "offline_access")
	app := &oauth2.Config{
		ClientID: registered.ID, RedirectURL: stack.AppRedirect, Scopes: []string{"profile:read", "offline_access"},
		Endpoint: oauth2.Endpoint{TokenURL: s.Issuer() + "/oauth/token", AuthStyle: oauth2.AuthStyleInParams},
	}
	verifier := oauth2.GenerateVerifier()
	request, err := url.ParseQuery(strings.TrimPrefix(app.AuthCodeURL("s", oauth2.S256ChallengeOption(verifier)), "?"))
	if err != nil {
		t.Fatal(err)
	}
	code := registered.Code(t, cookies, request)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	token, err := app.Exchange(ctx, code, oauth2.VerifierOption(verifier))
	if err != nil {
		t.Fatal(err)
	}
	if token.Type() != "Bearer" || token.RefreshToken == "" || time.Until(token.Expiry) > 15*time.Minute ||
		time.Until(token.Expiry) < 10*time.Minute {
		t.Errorf("the token expires at %v; want a time in the future", token.Expiry)
	}
	me := s.Hub + "/api/protocol/v1/me"
	stale := *token
	stale.Expiry = time.Now().Add(-time.Minute)
	client := app.Client(ctx, &stale) // refreshes the token before the request
	res, err := client.Get(me)
	if err != nil {
		t.Fatal(err)
	}
	_ = res.Body.Close()
	if res.StatusCode != http.StatusOK {
		t.Errorf("a request with the refreshed token was answered %d; want 200", res.StatusCode)
	}
	renewed, err := app.TokenSource(ctx, &stale).Token() // a second use within the retry window
	if err != nil || renewed.RefreshToken == token.RefreshToken {
		t.Fatalf("refresh the same token again within the retry window: %v", err)
	}
	third, err := app.TokenSource(ctx, &oauth2.Token{RefreshToken: renewed.RefreshToken}).Token()
	if err != nil {
		t.Fatal(err)
	}
	_, err = app.TokenSource(ctx, &stale).Token() // the token that replaced it has been used
	var refused *oauth2.RetrieveError
	if !errors.As(err, &refused) || refused.ErrorCode != "invalid_grant" {
		t.Errorf("refresh with a token that was used twice: %v; want invalid_grant", err)
	}
	get(t, me, stack.Bearer(third.AccessToken)).RequireError(http.StatusUnauthorized, "unauthenticated")
}
