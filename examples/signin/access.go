package main

import (
	"context"
	"errors"
	"net/http"
	"time"

	"golang.org/x/oauth2"
)

// act does something with the permission of a person. An access token that the hub does
// not take, though it should be good for a while, is renewed once: clocks differ.
func (a *app) act(ctx context.Context, s *session, do func(bearer string) error) error {
	bearer, err := a.access(ctx, s, "")
	if err != nil {
		return err
	}
	err = do(bearer)
	if no := (refusal{}); errors.As(err, &no) && no.Status == http.StatusUnauthorized {
		if bearer, err = a.access(ctx, s, bearer); err != nil {
			return err
		}
		err = do(bearer)
	}
	return err
}

// access gives an access token that is good for a while and not the one that was refused;
// it renews when it has to. A refresh token works once, so renewals wait for each other
// and the new one is kept.
func (a *app) access(ctx context.Context, s *session, refused string) (string, error) {
	if s == nil {
		return "", errNobody
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.token == nil:
		return "", errNobody
	case time.Until(s.token.Expiry) > a.RenewEarly && s.token.AccessToken != refused:
		return s.token.AccessToken, nil
	case s.token.RefreshToken == "":
		return "", errEnded
	}
	renewed, err := a.renew(ctx, s.token.RefreshToken)
	if err != nil {
		return "", err
	}
	s.token = renewed
	return renewed.AccessToken, nil
}

// renew spends a refresh token. It goes on when the browser has left, as the new token
// would be lost, and asks again when no answer came: within ten seconds the hub gives the
// same new token, later it takes the old one for stolen.
func (a *app) renew(ctx context.Context, refresh string) (*oauth2.Token, error) {
	source := a.oauth.TokenSource(withClient(context.WithoutCancel(ctx)), &oauth2.Token{RefreshToken: refresh})
	renewed, err := source.Token()
	if no := (*oauth2.RetrieveError)(nil); err != nil && !errors.As(err, &no) {
		renewed, err = source.Token()
	}
	return renewed, err
}
