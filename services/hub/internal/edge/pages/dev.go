package pages

import (
	"crypto/rand"
	"crypto/subtle"
	"net/http"
	"net/url"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/labstack/echo/v4"

	"github.com/signalcast/signalcast/pkg/fault"
	"github.com/signalcast/signalcast/services/hub/internal/caller"
	"github.com/signalcast/signalcast/services/hub/internal/operator"
)

// The developer page keeps the provider's token in a cookie of its own, sent
// to /dev alone: a key is minted with that token and with nothing else.
const (
	cookieToken = "db_dev"
	cookieState = "db_dev_state"
	tokenLife   = time.Hour
	stateLife   = 15 * time.Minute
	maxToken    = 3500 // what fits a cookie
)

type devPage struct {
	frame
	HubURL, LoginURL string
	SignedIn         bool
	Handle           string
	Notice, Fresh    string
	Keys             []keyRow
}

type keyRow struct {
	ID, Label, Permissions, Made, Used string
	Active                             bool
}

var errForeign = fault.New(fault.Forbidden, "forbidden", "This form was not sent from this site. Open the page again.")

// dev is GET /dev.
func (s *site) dev(c echo.Context) error {
	return s.showDev(c, http.StatusOK, "", "")
}

func (s *site) showDev(c echo.Context, status int, notice, fresh string) error {
	p := devPage{frame: s.frame("Operator keys", "Mint and revoke operator keys.", "/dev"), HubURL: s.HubURL, Notice: notice, Fresh: fresh}
	op, err := s.developer(c)
	switch {
	case err == nil:
		keys, err := s.Operators.ListKeys(c.Request().Context(), op.ID)
		if err != nil {
			return err
		}
		p.SignedIn, p.Handle, p.Keys = true, string(op.Handle), keysOf(keys)
	case fault.Of(err).Kind != fault.Unauthenticated:
		return err
	case s.LoginURL != "":
		state := rand.Text()
		s.setCookie(c, cookieState, state, stateLife)
		p.LoginURL = s.LoginURL + "?" + url.Values{"return_to": {s.HubURL + "/dev"}, "state": {state}}.Encode()
	}
	return s.render(c, status, "dev", p)
}

// developer is the operator of the token in the page's cookie.
func (s *site) developer(c echo.Context) (operator.Operator, error) {
	cookie, err := c.Cookie(cookieToken)
	if err != nil || cookie.Value == "" {
		return operator.Operator{}, caller.ErrUnauthenticated
	}
	who, err := s.Logins.Verify(c.Request().Context(), cookie.Value)
	if err != nil {
		return operator.Operator{}, err
	}
	op, _, err := s.Operators.SignIn(c.Request().Context(), who)
	return op, err
}

// startSession is POST /dev/session: the provider's sign-in page sends the
// token here. The state proves that the sign-in began on our page.
func (s *site) startSession(c echo.Context) error {
	form, err := s.form(c)
	if err != nil {
		return err
	}
	state, err := c.Cookie(cookieState)
	if err != nil || state.Value == "" || subtle.ConstantTimeCompare([]byte(state.Value), []byte(form.Get("state"))) != 1 {
		return errForeign
	}
	token := form.Get("token")
	if len(token) > maxToken {
		return caller.ErrUnauthenticated
	}
	if _, err := s.Logins.Verify(c.Request().Context(), token); err != nil {
		return err
	}
	s.setCookie(c, cookieState, "", -time.Second)
	s.setCookie(c, cookieToken, token, tokenLife)
	return c.Redirect(http.StatusSeeOther, "/dev")
}

// endSession is POST /dev/session/end.
func (s *site) endSession(c echo.Context) error {
	if s.origin.Check(c.Request()) != nil {
		return errForeign
	}
	s.setCookie(c, cookieToken, "", -time.Second)
	return c.Redirect(http.StatusSeeOther, "/dev")
}

// mint is POST /dev/keys: the one answer that shows the key.
func (s *site) mint(c echo.Context) error {
	op, form, err := s.act(c)
	if err != nil {
		return err
	}
	// Nothing ticked is an empty list, which is refused; nil would mean everything.
	permissions := append([]string{}, form["permission"]...)
	draft, err := operator.NewKeyDraft(strings.TrimSpace(form.Get("label")), permissions)
	if err != nil {
		return s.showDev(c, http.StatusBadRequest, fault.Of(err).Message, "")
	}
	plaintext, _, err := s.Operators.MintKey(c.Request().Context(), op.ID, draft)
	if f := fault.Of(err); f != nil && f.Kind == fault.Conflict {
		return s.showDev(c, http.StatusConflict, f.Message, "")
	}
	if err != nil {
		return err
	}
	return s.showDev(c, http.StatusOK, "", plaintext)
}

// revoke is POST /dev/keys/revoke.
func (s *site) revoke(c echo.Context) error {
	op, form, err := s.act(c)
	if err != nil {
		return err
	}
	if _, err := s.Operators.RevokeKey(c.Request().Context(), op.ID, form.Get("id")); err != nil {
		return err
	}
	return c.Redirect(http.StatusSeeOther, "/dev")
}

// act admits a form of our own page from somebody who is signed in.
func (s *site) act(c echo.Context) (operator.Operator, url.Values, error) {
	if s.origin.Check(c.Request()) != nil {
		return operator.Operator{}, nil, errForeign
	}
	form, err := s.form(c)
	if err != nil {
		return operator.Operator{}, nil, err
	}
	op, err := s.developer(c)
	return op, form, err
}

const maxForm = 16 << 10

var errForm = fault.New(fault.Invalid, "invalid_body", "The form could not be read.")

func (s *site) form(c echo.Context) (url.Values, error) {
	r := c.Request()
	r.Body = http.MaxBytesReader(c.Response(), r.Body, maxForm)
	if err := r.ParseForm(); err != nil {
		return nil, errForm
	}
	for _, values := range r.PostForm {
		for _, v := range values {
			if !utf8.ValidString(v) || strings.ContainsRune(v, 0) {
				return nil, errForm
			}
		}
	}
	return r.PostForm, nil
}

func (s *site) setCookie(c echo.Context, name, value string, life time.Duration) {
	c.SetCookie(&http.Cookie{
		Name: name, Value: value, Path: "/dev", MaxAge: int(life / time.Second),
		HttpOnly: true, Secure: s.Secure, SameSite: http.SameSiteLaxMode,
	})
}

func keysOf(keys []operator.Key) []keyRow {
	rows := make([]keyRow, 0, len(keys))
	for _, k := range keys {
		r := keyRow{ID: k.ID, Label: k.Label, Permissions: strings.Join(k.Permissions, ", "), Made: when(k.CreatedAt), Used: "never", Active: k.Active}
		if !k.LastUsedAt.IsZero() {
			r.Used = when(k.LastUsedAt)
		}
		rows = append(rows, r)
	}
	return rows
}
