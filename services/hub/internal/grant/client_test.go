package grant_test

import (
	"encoding/base64"
	"errors"
	"net/url"
	"testing"
	"time"

	"github.com/signalcast/signalcast/pkg/apperr"
	"github.com/signalcast/signalcast/services/hub/internal/caller"
	"github.com/signalcast/signalcast/services/hub/internal/grant"
)

func basic(id, secret string) []string {
	return []string{"Basic " + base64.StdEncoding.EncodeToString([]byte(url.QueryEscape(id)+":"+url.QueryEscape(secret)))}
}

// TestClientAuthentication (S12) checks that all three endpoints require the secret of a confidential client, sent in
// exactly one way.
func TestClientAuthentication(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	conf, other, public := r.app(grant.Confidential), r.app(grant.Confidential), r.app(grant.Public)
	refresh, publicRefresh := r.tokens(conf).RefreshToken, r.tokens(public).RefreshToken
	n := 0
	for name, c := range map[string]struct {
		header []string
		pairs  []string // change a good form with the secret in the body
		code   string
	}{
		"post":                  {nil, nil, ""},
		"basic":                 {basic(conf.ID, conf.secret), []string{"client_id", "", "client_secret", ""}, ""},
		"basic, client_id too":  {basic(conf.ID, conf.secret), []string{"client_secret", ""}, ""},
		"basic, lower case":     {[]string{"basic" + basic(conf.ID, conf.secret)[0][5:]}, []string{"client_secret", ""}, ""},
		"basic and post":        {basic(conf.ID, conf.secret), nil, "invalid_request"},
		"basic of another":      {basic(other.ID, other.secret), []string{"client_secret", ""}, "invalid_request"},
		"missing":               {nil, []string{"client_secret", ""}, "invalid_client"},
		"wrong":                 {nil, []string{"client_secret", other.secret}, "invalid_client"},
		"cut off":               {nil, []string{"client_secret", conf.secret[:46]}, "invalid_client"},
		"wrong in basic":        {basic(conf.ID, other.secret), []string{"client_secret", ""}, "invalid_client"},
		"no id":                 {nil, []string{"client_id", "", "client_secret", ""}, "invalid_client"},
		"unknown":               {nil, []string{"client_id", newUser()}, "invalid_client"},
		"malformed id":          {nil, []string{"client_id", "x\x00"}, "invalid_client"},
		"an operator key":       {nil, []string{"client_secret", "dk_" + conf.secret[4:]}, "invalid_client"},
		"an operator key as id": {nil, []string{"client_id", "dk_" + conf.secret[4:], "client_secret", ""}, "invalid_client"},
		"bearer":                {[]string{"Bearer dk_" + conf.secret[4:]}, []string{"client_secret", ""}, "invalid_client"},
		"two headers":           {append(basic(conf.ID, conf.secret), basic(conf.ID, conf.secret)...), []string{"client_secret", ""}, "invalid_client"},
		"no base64":             {[]string{"Basic !"}, []string{"client_secret", ""}, "invalid_client"},
		"no colon":              {[]string{"Basic " + base64.StdEncoding.EncodeToString([]byte(conf.ID))}, []string{"client_secret", ""}, "invalid_client"},
		"public with a secret":  {nil, []string{"client_id", public.ID}, "invalid_client"},
		"public, another's id":  {basic(public.ID, ""), []string{"client_secret", ""}, "invalid_request"},
	} {
		n++
		form := func(pairs ...string) grant.Form {
			f := conf.form(append(pairs, c.pairs...)...)
			f.Authorization, f.IP = c.header, "192.0.2."+string(rune('a'+n))
			return f
		}
		got, err := r.Token(t.Context(), form("grant_type", "refresh_token", "refresh_token", refresh))
		if want(t, name+": token", err, c.code); err == nil {
			refresh = got.RefreshToken
		}
		err = r.Revoke(t.Context(), form("token", "drt_unknown"))
		want(t, name+": revoke", err, c.code)
		_, err = r.Introspect(t.Context(), form("token", "drt_unknown"))
		want(t, name+": introspect", err, c.code)
	}
	f := public.refreshing(publicRefresh)
	f.Values.Del("client_secret")
	f.Authorization = basic(public.ID, "")
	r.token("a public client with its id in the header", f, "")
}

// TestSecretRenewal checks that the old secret of an app stays valid for one day. With immediate, it must become invalid at once.
func TestSecretRenewal(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	c, public := r.app(grant.Confidential), r.app(grant.Public)
	works := func(secret string) bool {
		err := r.Revoke(t.Context(), grant.Form{Values: url.Values{"client_id": {c.ID}, "client_secret": {secret}, "token": {"x"}}, IP: r.clock.Now().String()})
		if err != nil && !errors.Is(err, grant.ErrInvalidClient) {
			t.Fatal(err)
		}
		return err == nil
	}
	second, err := r.RenewSecret(t.Context(), r.owner, c.ID, false)
	if err != nil || !works(c.secret) || !works(second) {
		t.Errorf("one of the two secrets is refused: %v", err)
	}
	r.clock.Advance(24*time.Hour - time.Millisecond)
	if !works(c.secret) {
		t.Error("the old secret expired too early")
	}
	r.clock.Advance(time.Millisecond)
	if works(c.secret) || !works(second) {
		t.Error("after a day the old secret is valid or the new one is not")
	}
	third, err := r.RenewSecret(t.Context(), r.owner, c.ID, false)
	if err != nil {
		t.Fatal(err)
	}
	fourth, err := r.RenewSecret(t.Context(), r.owner, c.ID, true)
	if err != nil || works(second) || works(third) || !works(fourth) {
		t.Errorf("immediate renewal: %v", err)
	}
	_, err = r.RenewSecret(t.Context(), r.owner, public.ID, false)
	want(t, "public", err, "public_client")
	for _, id := range []string{"x", newUser()} {
		_, err = r.RenewSecret(t.Context(), r.owner, id, false)
		want(t, id, err, "not_found")
	}
	_, err = r.RenewSecret(t.Context(), newUser(), c.ID, true)
	if want(t, "not the owner", err, "not_found"); !works(fourth) {
		t.Error("a user who does not own the app changed the secret")
	}
}

// TestFailedAuthenticationsAreCounted (S21) checks that ten failures within a minute block a client from one IP address only.
func TestFailedAuthenticationsAreCounted(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	c, other := r.app(grant.Confidential), r.app(grant.Confidential)
	try := func(c client, ip, secret string) error {
		f := c.form("token", "x", "client_secret", secret)
		f.IP = ip
		_, err := r.Introspect(t.Context(), f)
		return err
	}
	for i := range grant.MaxFailures {
		want(t, "failure", try(c, "192.0.2.1", "wrong"), "invalid_client")
		r.clock.Advance(time.Second)
		if i == 0 {
			want(t, "a success after failures", try(c, "192.0.2.1", c.secret), "")
		}
	}
	err := try(c, "192.0.2.1", c.secret)
	if want(t, "the right secret", err, "rate_limited"); !errors.Is(err, caller.ErrLimited) {
		t.Error(err)
	}
	if got := apperr.Of(err).Extra; got["retryAfterMs"] != int64(50_000) || got["limit"] != 10 {
		t.Errorf("%v", got)
	}
	want(t, "another address", try(c, "192.0.2.2", c.secret), "")
	want(t, "another client", try(other, "192.0.2.1", other.secret), "")
	r.clock.Advance(50*time.Second - time.Millisecond)
	want(t, "a moment too early", try(c, "192.0.2.1", c.secret), "rate_limited")
	r.clock.Advance(time.Millisecond)
	want(t, "a minute after the first", try(c, "192.0.2.1", c.secret), "")
	want(t, "one more failure", try(c, "192.0.2.1", "wrong"), "invalid_client")
	want(t, "again", try(c, "192.0.2.1", c.secret), "rate_limited")
	for range grant.MaxFailures {
		want(t, "unknown clients", try(client{App: grant.App{ID: "unknown-id"}}, "192.0.2.3", "x"), "invalid_client")
	}
	want(t, "unknown clients", try(client{App: grant.App{ID: "unknown-id"}}, "192.0.2.3", "x"), "rate_limited")
}
