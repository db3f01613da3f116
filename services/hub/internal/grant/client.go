package grant

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"net/url"
	"strings"
	"time"

	"github.com/signalcast/signalcast/services/hub/internal/caller"
)

// MaxFailures is how many failed client authentications in any minute are taken
// from one address for one client. Both count together: who knows a client's id
// cannot lock that client out from elsewhere.
const MaxFailures = caller.MaxFailures

// Form is a request to the token, revocation or introspection endpoint, with the
// names of RFC 6749 whatever the body was written in.
type Form struct {
	Values        url.Values
	Authorization []string // values of that header
	IP            string   // whose failures are counted
}

// get gives a parameter; read has refused the ones that come twice.
func (f Form) get(name string) string { return f.Values.Get(name) }

// resource gives the one resource that is named, if any.
func (f Form) resource() (string, error) {
	var one string
	for _, r := range f.Values["resource"] {
		if r != "" && one != "" && r != one {
			return "", ErrInvalidTarget
		}
		if r != "" {
			one = r
		}
	}
	return one, nil
}

type credentials struct{ id, secret string }

// credentials finds how the client says who it is: in one way, or the request is wrong.
func (f Form) credentials() (credentials, error) {
	for name, values := range f.Values {
		if len(values) > 1 && name != "resource" {
			return credentials{}, ErrInvalidRequest.Say("a parameter is given twice")
		}
	}
	body := credentials{f.get("client_id"), f.get("client_secret")}
	if len(f.Authorization) == 0 {
		if body.id == "" {
			return credentials{}, ErrInvalidClient.Say("client_id is missing")
		}
		return body, nil
	}
	basic, ok := parseBasic(f.Authorization)
	switch {
	case !ok:
		return credentials{}, ErrInvalidClient
	case body.secret != "":
		return credentials{}, ErrInvalidRequest.Say("a client proves who it is in one way, not in two")
	case body.id != "" && body.id != basic.id:
		return credentials{}, ErrInvalidRequest.Say("client_id is not the one of the header")
	}
	return basic, nil
}

// parseBasic reads RFC 6749, 2.3.1: both parts are form-encoded before base64.
func parseBasic(values []string) (credentials, bool) {
	scheme, encoded, ok := strings.Cut(values[0], " ")
	if len(values) > 1 || !ok || !strings.EqualFold(scheme, "Basic") {
		return credentials{}, false
	}
	raw, err := base64.StdEncoding.DecodeString(encoded)
	if err != nil {
		return credentials{}, false
	}
	id, secret, ok := strings.Cut(string(raw), ":")
	if !ok {
		return credentials{}, false
	}
	var c credentials
	if c.id, err = url.QueryUnescape(id); err != nil {
		return credentials{}, false
	}
	if c.secret, err = url.QueryUnescape(secret); err != nil {
		return credentials{}, false
	}
	return c, c.id != ""
}

// client tells which app asks. A confidential one proves it, a public one names
// itself and brings no secret. Ten failures in a minute, and this client is not
// looked at from this address. Faults: invalid_request, invalid_client, rate_limited.
func (s *Service) client(ctx context.Context, f Form) (App, error) {
	c, err := f.credentials()
	if err != nil {
		return App{}, err
	}
	// What is counted is never longer than this, however long the id is.
	sum := sha256.Sum256([]byte(c.id))
	who := base64.RawURLEncoding.EncodeToString(sum[:]) + " " + f.IP
	if wait := s.Failures.Wait(ctx, who); wait > 0 {
		return App{}, caller.Limited(MaxFailures, wait)
	}
	var app *App
	if isID(c.id) {
		if app, err = s.Store.FindApp(ctx, c.id); err != nil {
			return App{}, err
		}
	}
	if app == nil || !app.Active() || !app.admits(c.secret, s.Now()) {
		if wait := s.Failures.Failed(ctx, who); wait > 0 {
			return App{}, caller.Limited(MaxFailures, wait)
		}
		return App{}, ErrInvalidClient
	}
	return *app, nil
}

func (a App) admits(secret string, now time.Time) bool {
	if a.Kind == Public {
		return secret == ""
	}
	return a.proves(secret, now)
}
