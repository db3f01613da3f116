package client

import (
	"context"
	"net/http"
	"net/url"
)

// Credential is as whom a request is made.
type Credential interface{ sign(r *http.Request) }

// Key is an operator key.
type Key string

func (k Key) sign(r *http.Request) { r.Header.Set("Authorization", "Bearer "+string(k)) }

// Login is a token of the identity provider.
type Login string

func (l Login) sign(r *http.Request) { r.Header.Set("Authorization", "Bearer "+string(l)) }

// Admin is the administrators' secret.
type Admin string

func (a Admin) sign(r *http.Request) { r.Header.Set("X-Admin-Secret", string(a)) }

// Session is the cookie pair of a browser, which says that our own page asks.
type Session struct{ UID, Sig string }

func (s Session) sign(r *http.Request) {
	r.AddCookie(&http.Cookie{Name: "db_uid", Value: s.UID})
	r.AddCookie(&http.Cookie{Name: "db_sig", Value: s.Sig})
	r.Header.Set("Sec-Fetch-Site", "same-origin")
}

// Login makes a token for a person at the development issuer.
func (c *Client) Login(ctx context.Context, idp, person string) (Login, error) {
	var out struct {
		Token string `json:"token"`
	}
	err := c.Do(ctx, Request{URL: idp + "/mint", Body: map[string]any{"user": person}}).Into(http.StatusOK, &out)
	return Login(out.Token), err
}

// User is who signed in.
type User struct {
	ID     string `json:"denpaId"`
	Handle string `json:"handle"`
}

// SignIn opens a session at a hub.
func (c *Client) SignIn(ctx context.Context, hub string, as Login) (Session, User, error) {
	a := c.Do(ctx, Request{Method: http.MethodPost, URL: hub + "/api/auth/privy", As: as})
	var out struct {
		User User `json:"user"`
	}
	if err := a.Into(http.StatusOK, &out); err != nil {
		return Session{}, User{}, err
	}
	var s Session
	for _, cookie := range (&http.Response{Header: a.Header}).Cookies() {
		switch cookie.Name {
		case "db_uid":
			s.UID = cookie.Value
		case "db_sig":
			s.Sig = cookie.Value
		}
	}
	return s, out.User, nil
}

// MintedKey is a key that was just made.
type MintedKey struct {
	Key Key    `json:"key"`
	ID  string `json:"id"`
}

// Mint makes an operator key.
func (c *Client) Mint(ctx context.Context, hub string, as Login, label string) (MintedKey, error) {
	var out MintedKey
	err := c.Do(ctx, Request{URL: hub + "/api/dev/keys", As: as, Body: map[string]any{"label": label}}).Into(http.StatusCreated, &out)
	return out, err
}

// Revoke ends a key.
func (c *Client) Revoke(ctx context.Context, hub string, as Login, id string) Answer {
	return c.Do(ctx, Request{Method: http.MethodDelete, URL: hub + "/api/dev/keys?id=" + url.QueryEscape(id), As: as})
}

// By is a credential of any form: it writes what it has into the request.
type By func(r *http.Request)

func (b By) sign(r *http.Request) { b(r) }

// All brings several credentials in one request.
func All(list ...Credential) Credential {
	return By(func(r *http.Request) {
		for _, c := range list {
			c.sign(r)
		}
	})
}
