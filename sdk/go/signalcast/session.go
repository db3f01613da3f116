package signalcast

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"slices"

	"github.com/signalcast/signalcast/sdk/go/client"
)

// session contains the cookies of a sign-in. Some operations accept no key and require these cookies, for example following an
// operator.
type session []*http.Cookie

func (s session) has(name string) bool {
	return slices.ContainsFunc(s, func(c *http.Cookie) bool { return c.Name == name })
}

// signed adds the session cookies to a request. It returns false if the client has no session. The hub accepts writes with
// cookies only from its own pages, so signed sets the header Origin to the address of the hub.
func (c *Client) signed(r *http.Request) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.session == nil {
		return false
	}
	r.Header.Del("Cookie") // of an earlier attempt
	for _, cookie := range c.session {
		r.AddCookie(&http.Cookie{Name: cookie.Name, Value: cookie.Value})
	}
	r.Header.Set("Origin", (&url.URL{Scheme: r.URL.Scheme, Host: r.URL.Host}).String())
	return true
}

// SignIn opens a session of 30 days with the identity token that Options.Token returns. Later requests of the client use the
// session.
func (p People) SignIn(ctx context.Context) (client.SignedIn, error) {
	a, err := p.c.Hub.SignIn(ctx, nil, client.SignInJSONRequestBody{})
	in, err := read[client.SignedIn](a, err)
	if err != nil {
		return in, err
	}
	var s session
	for _, cookie := range a.Cookies() {
		if cookie.Name == "db_uid" || cookie.Name == "db_sig" || cookie.Name == "__Host-db_bind" { // the third in production only
			s = append(s, cookie)
		}
	}
	if !s.has("db_uid") || !s.has("db_sig") {
		return in, errors.New("signalcast: the hub returned no session cookies")
	}
	p.c.mu.Lock()
	defer p.c.mu.Unlock()
	p.c.session = s
	return in, nil
}
