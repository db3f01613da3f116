package signalcast

import (
	"context"
	"errors"
	"net/http"
	"net/url"

	"github.com/signalcast/signalcast/sdk/go/client"
)

// session is what the hub gives who signs in: for the operations that take no key, such as
// following somebody.
type session struct{ uid, sig, bind *http.Cookie } // bind: in production only

// signed adds the cookies and reports whether there are any. The hub takes a write with
// cookies from its own pages alone, so the request names the hub as where it comes from.
func (c *Client) signed(r *http.Request) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.session == nil {
		return false
	}
	uid, sig, bind := c.session.uid, c.session.sig, c.session.bind
	cookies := uid.Name + "=" + uid.Value + "; " + sig.Name + "=" + sig.Value
	if bind != nil {
		cookies += "; " + bind.Name + "=" + bind.Value
	}
	r.Header.Set("Cookie", cookies)
	r.Header.Set("Origin", (&url.URL{Scheme: r.URL.Scheme, Host: r.URL.Host}).String())
	return true
}

// SignIn opens a session with the identity token of Options.Token; the client keeps it. It
// lasts 30 days.
func (p People) SignIn(ctx context.Context) (client.SignedIn, error) {
	a, err := p.c.Hub.SignIn(ctx, nil, client.SignInJSONRequestBody{})
	in, err := read[client.SignedIn](a, err)
	if err != nil {
		return in, err
	}
	s := &session{}
	for _, cookie := range a.Cookies() {
		switch cookie.Name {
		case "db_uid":
			s.uid = cookie
		case "db_sig":
			s.sig = cookie
		case "__Host-db_bind":
			s.bind = cookie
		}
	}
	if s.uid == nil || s.sig == nil {
		return in, errors.New("signalcast: the hub gave no session")
	}
	p.c.mu.Lock()
	defer p.c.mu.Unlock()
	p.c.session = s
	return in, nil
}
