package pages

import (
	"crypto/subtle"
	"net/http"
	"net/url"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/labstack/echo/v4"

	"github.com/signalcast/signalcast/pkg/apperr"
	"github.com/signalcast/signalcast/pkg/httpx"
	"github.com/signalcast/signalcast/pkg/ledgerclient"
	operatorv1 "github.com/signalcast/signalcast/proto/operator/v1"
	"github.com/signalcast/signalcast/services/hub/internal/grant"
	"github.com/signalcast/signalcast/services/hub/internal/operator"
)

// The developer page keeps the provider's token in a cookie of its own, sent
// to /dev alone: a key is minted with that token and with nothing else, and so is
// a stream key of the studio.
//
// All of its cookies are SameSite=Lax: no form of another site acts with them.
// The provider is another site, too, so its form comes without them: the token
// that it brings waits in a cookie of its own until our redirect, a GET that a
// browser sends with its cookies, shows that the sign-in began here.
const (
	cookieToken = "db_dev"
	cookieState = "db_dev_state" // of the sign-in that this browser began
	cookieNext  = "db_dev_next"  // a token that waits for its state
	tokenLife   = time.Hour
	stateLife   = 15 * time.Minute
	nextLife    = time.Minute
	ended       = -time.Second // of a cookie that is taken away
	maxToken    = 3500         // what fits a cookie
	maxState    = 64

	devPath     = "/dev"
	sessionPath = "/dev/session"
)

type devPage struct {
	frame
	LoginURL      string
	SignedIn      bool
	Handle        string
	Notice, Fresh string
	Keys          []keyRow
	Key           keyForm
	Apps          []appRow
	NewApp        appForm
	NewAppOpen    bool
	FreshApp      freshApp
	Signers       []signerRow
}

type keyRow struct {
	ID, Label, Tier, Permissions, Made, Used string
	Active                                   bool
}

// keyForm asks for a key.
type keyForm struct {
	Label       string
	Permissions []string
	Errors      map[string]string // by field
}

// freshApp is what is told of an app once.
type freshApp struct {
	ID, Name, Secret string
	Renewed, AtOnce  bool
}

var errForeign = apperr.New(apperr.Forbidden, "forbidden", "This form was not sent from this site. Reload the page and try again.")

// dev is GET /dev.
func (s *site) dev(c echo.Context) error {
	if s.otherName(c.Request()) {
		return c.Redirect(http.StatusFound, s.HubURL+devPath)
	}
	op, err := s.developer(c)
	if err == nil {
		return s.showDev(c, http.StatusOK, op, func(*devPage) {})
	}
	if apperr.Of(err).Kind != apperr.Unauthenticated {
		return err
	}
	p := s.devPage(c)
	p.Handle = s.visit(c).handle
	if s.LoginURL != "" {
		p.LoginURL = s.begin(c, devPath)
	}
	return s.render(c, http.StatusOK, "dev", p)
}

// otherName tells that a developer opened his own machine by its name where we are
// published under its number: the sign-in leads to the number, where the cookies of
// the name are not sent.
func (s *site) otherName(r *http.Request) bool {
	_, port, ok := strings.Cut(r.Host, "localhost:")
	return ok && !s.Secure && s.Origin == "http://127.0.0.1:"+port
}

func (s *site) devPage(c echo.Context) devPage {
	p := devPage{
		frame:  s.frame(c, "Developers", "API keys, apps and signing keys.", devPath),
		Key:    keyForm{Permissions: []string{"read", "signal", "broadcast"}},
		NewApp: appForm{AppDraft: grant.AppDraft{Scopes: []string{string(grant.ProfileRead)}}},
	}
	p.Here = "dev"
	return p
}

// showDev is the page of somebody who is signed in; set changes it before it is shown.
func (s *site) showDev(c echo.Context, status int, op operator.Operator, set func(*devPage)) error {
	keys, err := s.Ledger.Operators.ListKeys(c.Request().Context(), &operatorv1.ListKeysRequest{OperatorId: string(op.ID)})
	if err != nil {
		return err
	}
	apps, err := s.Grants.ListApps(c.Request().Context(), string(op.ID))
	if err != nil {
		return err
	}
	p := s.devPage(c)
	p.SignedIn, p.Handle, p.Keys = true, string(op.Handle), keysOf(keys.GetKeys())
	p.Account = account{Handle: p.Handle, Face: face(p.Handle)}
	for _, a := range apps {
		p.Apps = append(p.Apps, rowOfApp(a))
	}
	if p.Signers, err = s.signersOf(c.Request().Context(), op); err != nil {
		return err
	}
	set(&p)
	return s.render(c, status, "dev", p)
}

// refused shows the page again with what was wrong, when the person can do something
// about it.
func (s *site) refused(c echo.Context, op operator.Operator, err error) error {
	f := apperr.Of(err)
	if f.Kind != apperr.Conflict && f.Kind != apperr.Invalid {
		return err
	}
	return s.showDev(c, httpx.Status(f.Kind), op, func(p *devPage) { p.Notice = f.Message })
}

// developer is the operator of the token in the page's cookie.
func (s *site) developer(c echo.Context) (operator.Operator, error) {
	cookie, err := c.Cookie(cookieToken)
	if err != nil || cookie.Value == "" {
		return operator.Operator{}, httpx.ErrUnauthenticated
	}
	who, err := s.Login(c, cookie.Value)
	if err != nil {
		return operator.Operator{}, err
	}
	r, err := s.Ledger.OperatorWrites.SignIn(c.Request().Context(), who.SignInRequest())
	op := operator.FromMessage(r.GetOperator())
	if v := s.visit(c); err == nil && v.who.UserID != "" && v.who.UserID != string(op.ID) {
		err = httpx.ErrUnauthenticated // somebody else has signed in since
	}
	return op, err
}

// handOver is POST /dev/session: the provider's sign-in page sends the token
// here. From that site no cookie of ours comes along, so nothing is believed yet.
func (s *site) handOver(c echo.Context) error {
	form, err := s.form(c)
	if err != nil {
		return err
	}
	token, state := form.Get("token"), form.Get("state")
	switch {
	case state == "" || len(state) > maxState:
		return errForeign
	case token == "" || len(token) > maxToken || strings.Trim(token, tokenLetters) != "":
		return httpx.ErrUnauthenticated
	}
	s.setCookie(c, sessionPath, cookieNext, token, nextLife)
	on := url.Values{"state": {state}}
	if back := strings.TrimPrefix(form.Get("return_to"), s.HubURL); leadsBack(back) {
		on.Set("return_to", back)
	}
	return c.Redirect(http.StatusSeeOther, sessionPath+"?"+on.Encode())
}

// tokenLetters are those of a signed token; all of them may stand in a cookie.
const tokenLetters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_."

// startSession is GET /dev/session, where handOver leads. The state, which only
// this browser and the sign-in that it began know, proves that the two belong
// together: a token that another site slips in finds no state to go with it.
func (s *site) startSession(c echo.Context) error {
	state, err := c.Cookie(cookieState)
	if err != nil || state.Value == "" || subtle.ConstantTimeCompare([]byte(state.Value), []byte(c.QueryParam("state"))) != 1 {
		return errForeign
	}
	token, err := c.Cookie(cookieNext)
	if err != nil {
		return httpx.ErrUnauthenticated
	}
	who, err := s.Login(c, token.Value)
	if err != nil {
		return err
	}
	s.setCookie(c, devPath, cookieState, "", ended)
	s.setCookie(c, sessionPath, cookieNext, "", ended)
	r, err := s.Ledger.OperatorWrites.SignIn(c.Request().Context(), who.SignInRequest())
	if err != nil {
		return err
	}
	if err := s.StartSession(c, operator.FromMessage(r.GetOperator()), who.SignedInAt); err != nil {
		return err
	}
	back := c.QueryParam("return_to")
	if !leadsBack(back) {
		back = devPath
	}
	if back == devPath || back == studioPath {
		s.setCookie(c, devPath, cookieToken, token.Value, tokenLife)
	}
	return done(c, back)
}

// mint is POST /dev/keys: the one answer that shows the key.
func (s *site) mint(c echo.Context, op operator.Operator, form url.Values) error {
	// Without a tick this is an empty list, which is rejected; nil would mean all permissions.
	typed := keyForm{Label: strings.TrimSpace(form.Get("label")), Permissions: append([]string{}, form["permission"]...)}
	var minted *operatorv1.MintKeyResponse
	draft, err := operator.NewKeyDraft(typed.Label, typed.Permissions, true)
	if err == nil {
		minted, err = s.Ledger.OperatorWrites.MintKey(c.Request().Context(), draft.MintRequest(op.ID))
	}
	if said := keyMistakes[fieldOf(err)]; said != "" {
		typed.Errors = map[string]string{fieldOf(err): said}
		return s.showDev(c, http.StatusBadRequest, op, func(p *devPage) { p.Key = typed })
	}
	if err != nil {
		return s.refused(c, op, err)
	}
	return s.showDev(c, http.StatusOK, op, func(p *devPage) { p.Fresh = minted.GetPlaintext() })
}

// keyMistakes says what is wrong with a field to who typed it.
var keyMistakes = map[string]string{
	"label": "Enter 1 to 64 characters on one line.", "permissions": "Choose at least one permission.",
}

// revoke is POST /dev/keys/revoke.
func (s *site) revoke(c echo.Context, op operator.Operator, form url.Values) error {
	if err := s.RevokeKey(c.Request().Context(), op.ID, form.Get("id")); err != nil {
		return err
	}
	return done(c, devPath)
}

// developerForm returns a handler that passes to do the signed-in operator and the form. Before it reads the form, it rejects
// forms of other origins and visitors who are not signed in.
func (s *site) developerForm(do func(echo.Context, operator.Operator, url.Values) error) echo.HandlerFunc {
	return func(c echo.Context) error {
		if !httpx.SameOrigin(c.Request(), s.Origin) {
			return errForeign
		}
		op, err := s.developer(c)
		if err != nil {
			return err
		}
		form, err := s.form(c)
		if err != nil {
			return err
		}
		return do(c, op, form)
	}
}

const maxForm = 16 << 10

var errForm = apperr.New(apperr.Invalid, "invalid_body", "The form is invalid. Reload the page and try again.")

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

func (s *site) setCookie(c echo.Context, path, name, value string, life time.Duration) {
	c.SetCookie(&http.Cookie{
		Name: name, Value: value, Path: path, MaxAge: int(life / time.Second),
		HttpOnly: true, Secure: s.Secure, SameSite: http.SameSiteLaxMode,
	})
}

func keysOf(keys []*operatorv1.Key) []keyRow {
	rows := make([]keyRow, 0, len(keys))
	for _, k := range keys {
		r := keyRow{
			ID: k.GetId(), Label: k.GetLabel(), Tier: k.GetTier(), Permissions: strings.Join(k.GetPermissions(), ", "),
			Made: when(ledgerclient.Time(k.GetCreatedAt())), Used: "never", Active: k.GetActive(),
		}
		if k.GetLastUsedAt() != nil {
			r.Used = when(k.GetLastUsedAt().AsTime())
		}
		rows = append(rows, r)
	}
	return rows
}
