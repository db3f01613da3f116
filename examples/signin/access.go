package main

import (
	"context"
	"errors"
	"net/http"
	"time"

	"golang.org/x/oauth2"
)

// withToken calls the function do with an access token of the session. If the hub rejects the token, withToken renews it once
// and calls do again, because the clocks of the app and the hub can differ.
func (a *app) withToken(ctx context.Context, s *session, do func(bearer string) error) error {
	bearer, err := a.accessToken(ctx, s, "")
	if err != nil {
		return err
	}
	err = do(bearer)
	if failure := (hubError{}); errors.As(err, &failure) && failure.Status == http.StatusUnauthorized {
		if bearer, err = a.accessToken(ctx, s, bearer); err != nil {
			return err
		}
		err = do(bearer)
	}
	return err
}

// accessToken returns an access token of s that is valid for more than RenewEarly. It renews a token that expires earlier or
// that equals rejected, the token that the hub has rejected. Renewals of a session run one at a time, because a refresh token
// works only once. Errors: errNotSignedIn if s is nil or has ended, errGrantEnded if s has no refresh token, and the errors of
// renew.
func (a *app) accessToken(ctx context.Context, s *session, rejected string) (string, error) {
	if s == nil {
		return "", errNotSignedIn
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.token == nil:
		return "", errNotSignedIn
	case time.Until(s.token.Expiry) > a.RenewEarly && s.token.AccessToken != rejected:
		return s.token.AccessToken, nil
	case s.token.RefreshToken == "":
		return "", errGrantEnded
	}
	renewed, err := a.renew(ctx, s.token.RefreshToken)
	if err != nil {
		return "", err
	}
	s.token = renewed
	return renewed.AccessToken, nil
}

// renew exchanges a refresh token for new tokens. It continues if the browser disconnects, because the new tokens would
// otherwise be lost. If a request gets no response, renew repeats it once without delay: for ten seconds, the hub answers a
// repeated request with the same new tokens. If the old token is used later, the hub treats it as stolen and revokes the
// grant.
func (a *app) renew(ctx context.Context, refresh string) (*oauth2.Token, error) {
	source := a.oauth.TokenSource(withClient(context.WithoutCancel(ctx)), &oauth2.Token{RefreshToken: refresh})
	renewed, err := source.Token()
	if failure := (*oauth2.RetrieveError)(nil); err != nil && !errors.As(err, &failure) {
		renewed, err = source.Token()
	}
	return renewed, err
}
