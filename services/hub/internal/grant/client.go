package grant

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"net/url"
	"strings"
	"time"

	"github.com/signalcast/signalcast/pkg/apperr"
	"github.com/signalcast/signalcast/services/hub/internal/caller"
)

// MaxFailures is the maximum number of failed client authentications per minute for one client and one IP address. Further
// attempts are refused. Failures are counted per address, so that an attacker who knows a client_id cannot lock out the client at
// other addresses.
const MaxFailures = caller.MaxFailures

// Form is a request to the token, revocation or introspection endpoint. Parameters have the names of RFC 6749, even if the body
// was JSON.
type Form struct {
	Values        url.Values
	Authorization []string // values of the Authorization header
	IP            string   // address of the client, for the count of failures
}

// get returns the value of a parameter, or "" if it is absent. The method credentials has already refused repeated
// parameters.
func (f Form) get(name string) string { return f.Values.Get(name) }

// resource returns the value of the parameter resource, or "" if it is absent or empty. It returns invalid_target if the
// parameter is repeated with different values.
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

// credentials returns the client id and secret of the request, from the Authorization header or from the body. Errors:
// invalid_request if a parameter other than resource is repeated, or if the body has a secret or another id in addition to the
// header; invalid_client if the id is missing or the header is invalid.
func (f Form) credentials() (credentials, error) {
	for name, values := range f.Values {
		if len(values) > 1 && name != "resource" {
			return credentials{}, ErrInvalidRequest.WithText("no parameter except resource may be repeated")
		}
	}
	body := credentials{f.get("client_id"), f.get("client_secret")}
	if len(f.Authorization) == 0 {
		if body.id == "" {
			return credentials{}, ErrInvalidClient.WithText("client_id is missing").With(apperr.MemberReason, apperr.ReasonMissing)
		}
		return body, nil
	}
	basic, ok := parseBasic(f.Authorization)
	switch {
	case !ok:
		return credentials{}, ErrInvalidClient
	case body.secret != "":
		return credentials{}, ErrInvalidRequest.WithText("send either the Authorization header or client_secret, not both")
	case body.id != "" && body.id != basic.id:
		return credentials{}, ErrInvalidRequest.WithText("client_id must be the client id of the Authorization header")
	}
	return basic, nil
}

// parseBasic parses Authorization headers with HTTP Basic authentication. The client id and the secret are form-encoded
// before base64 (RFC 6749 2.3.1). It returns false for any other header, for several headers, and without a client id.
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

// client authenticates the app that sends a request. A confidential app must send its secret, and a public app must send none.
// After MaxFailures failures within a minute, client refuses requests without checking the secret. Errors: invalid_request,
// invalid_client, rate_limited.
func (s *Service) client(ctx context.Context, f Form) (App, error) {
	c, err := f.credentials()
	if err != nil {
		return App{}, err
	}
	// A client_id can be long. The hash bounds the length of the counter name.
	sum := sha256.Sum256([]byte(c.id))
	counter := base64.RawURLEncoding.EncodeToString(sum[:]) + " " + f.IP
	if wait := s.Failures.Wait(ctx, counter); wait > 0 {
		return App{}, caller.Limited(MaxFailures, wait)
	}
	var app *App
	if isID(c.id) {
		if app, err = s.Store.FindApp(ctx, c.id); err != nil {
			return App{}, err
		}
	}
	if app == nil || !app.Active() || !app.authenticates(c.secret, s.Now()) {
		if wait := s.Failures.Failed(ctx, counter); wait > 0 {
			return App{}, caller.Limited(MaxFailures, wait)
		}
		return App{}, ErrInvalidClient
	}
	return *app, nil
}

func (a App) authenticates(secret string, now time.Time) bool {
	if a.Kind == Public {
		return secret == ""
	}
	return a.hasSecret(secret, now)
}
