package caller

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/signalcast/signalcast/pkg/apperr"
)

// grants is a fake of the authentication of app tokens.
type grants struct {
	asked []string // bearer and resource
	away  error
}

func (g *grants) Authenticate(_ context.Context, bearer, resource string) (Delegate, error) {
	g.asked = append(g.asked, bearer+" "+resource)
	switch {
	case g.away != nil:
		return Delegate{}, g.away
	case strings.HasSuffix(bearer, "B"):
		return Delegate{}, ErrUnauthenticated
	}
	return Delegate{UserID: "u1", AppID: "a", GrantID: "g", Scopes: []string{"profile:read"}}, nil
}

// TestAppTokens checks that app tokens are accepted only on routes that accept them, and are looked up for each request. A
// request must count against the grant of its token, but only after the token was verified.
func TestAppTokens(t *testing.T) {
	t.Parallel()
	w, s, _ := newWorld(t)
	g := &grants{}
	s.Tokens = g.Authenticate
	good, bad := "dat_"+strings.Repeat("A", 43), "dat_"+strings.Repeat("A", 42)+"B"
	ask := func(accept Accepted, token string) (Caller, error) {
		c, _, err := s.Resolve(t.Context(), Request{Accept: accept, Resource: "r", Authorization: []string{"Bearer " + token}})
		return c, err
	}
	for _, accept := range []Accepted{AcceptNone, AcceptKey, AcceptSession, AcceptLogin, AcceptNone | AcceptKey | AcceptSession | AcceptLogin, AcceptAdmin, AcceptCron} {
		if _, err := ask(accept, good); !errors.Is(err, ErrUnauthenticated) {
			t.Errorf("accept %b: %v", accept, err)
		}
	}
	if len(g.asked) > 0 || len(w.counted) > 0 {
		t.Errorf("a route that accepts no app tokens looked up %v and counted %v", g.asked, w.counted)
	}
	for _, token := range []string{bad, "drt_" + good[4:], "dat_abc"} {
		if _, err := ask(AcceptToken|AcceptNone, token); !errors.Is(err, ErrUnauthenticated) {
			t.Errorf("%s: %v", token, err)
		}
	}
	if len(w.counted) > 0 {
		t.Errorf("bad tokens were counted: %v", w.counted)
	}
	for range 2 {
		c, err := ask(AcceptToken, good)
		if err != nil || c.Kind != Token || c.Delegate.GrantID != "g" || c.Actor().ID != "u1" {
			t.Errorf("%+v %v", c, err)
		}
	}
	if !slices.Equal(w.counted, []string{"hub-token", "hub-token"}) || g.asked[len(g.asked)-1] != good+" r" || len(g.asked) != 3 {
		t.Errorf("looked up %v, counted %v", g.asked, w.counted)
	}
	for range TokenLimit - 2 {
		if _, err := ask(AcceptToken, good); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := ask(AcceptToken, good); apperr.Of(err).Kind != apperr.Limited {
		t.Errorf("over the limit: %v", err)
	}
	g.away = apperr.New(apperr.Unavailable, "db_unavailable", "")
	if _, err := ask(AcceptToken|AcceptNone, good); apperr.Of(err).Code != "db_unavailable" {
		t.Errorf("the store is unavailable: %v", err)
	}
}

// TestClientsAreCounted checks that requests of an app are counted by IP address, and requests of the consent page by session.
func TestClientsAreCounted(t *testing.T) {
	t.Parallel()
	_, s, _ := newWorld(t)
	for range ClientLimit {
		if _, err := s.CountClient(t.Context(), "a", "1.1.1.1"); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := s.CountClient(t.Context(), "a", "1.1.1.1"); apperr.Of(err).Kind != apperr.Limited {
		t.Errorf("%v", err)
	}
	for _, other := range [][2]string{{"b", "1.1.1.1"}, {"a", "1.1.1.2"}} {
		if _, err := s.CountClient(t.Context(), other[0], other[1]); err != nil {
			t.Errorf("%v: %v", other, err)
		}
	}
	for range ConsentLimit {
		if _, err := s.CountConsent(t.Context(), "session"); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := s.CountConsent(t.Context(), "session"); apperr.Of(err).Kind != apperr.Limited {
		t.Errorf("%v", err)
	}
	c, _, err := s.Resolve(t.Context(), Request{Accept: AcceptClient, Authorization: []string{"Basic YTpi"}})
	if err != nil || c.Kind != Client {
		t.Errorf("%+v %v", c, err)
	}
}
