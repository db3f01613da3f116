package pages

import (
	"crypto/subtle"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/signalcast/signalcast/pkg/apperr"
	"github.com/signalcast/signalcast/pkg/httpx"
	"github.com/signalcast/signalcast/pkg/ledgerclient"
	"github.com/signalcast/signalcast/pkg/protocol"
	operatorv1 "github.com/signalcast/signalcast/proto/operator/v1"
	"github.com/signalcast/signalcast/services/hub/internal/grant"
	"github.com/signalcast/signalcast/services/hub/internal/httpapi/pages/format"
	"github.com/signalcast/signalcast/services/hub/internal/httpapi/pages/site"
	"github.com/signalcast/signalcast/services/hub/internal/httpapi/request"
	"github.com/signalcast/signalcast/services/hub/internal/operator"
)

// The developer page stores the token of the identity provider in a cookie that is only sent to /dev. API keys and stream keys
// are created with this token and not with the session.
//
// All cookies are SameSite=Lax, so a form of another site is sent without them. The sign-in form of the provider is such a form:
// it sends the token, but no cookies. The token is therefore first stored in the cookie cookiePending. A redirect to this host
// follows, which is sent with the cookie site.CookieState. That cookie shows that the sign-in started in this browser.
const (
	cookiePending = "db_dev_next" // token whose state is not checked yet
	tokenLife     = time.Hour
	pendingLife   = time.Minute
	maxToken      = 3500 // maximum length of a token that fits in a cookie
	maxState      = 64

	sessionPath = "/dev/session"

	developerKey = "developer" // time of the sign-in of the developer, in the context of a request
)

type devPage struct {
	site.Layout
	LoginURL       string
	SignedIn       bool
	SignInAgain    string // URL of a new sign-in that a change needs; empty: none
	Handle         string
	Notice, NewKey string
	Keys           []keyRow
	Key            keyForm
	Apps           []appRow
	NewApp         appForm
	ShowNewApp     bool
	AppCreated     createdApp
	Signers        []signerRow
}

type keyRow struct {
	ID, Label, Tier, Permissions, CreatedAt, LastUsed string
	Active                                            bool
}

// keyForm has the values and errors of the form that creates an operator key.
type keyForm struct {
	Label       string
	Permissions []string
	Errors      map[string]string // error texts by field
}

// createdApp has the data of a new or changed app that the page shows only once, such as the secret.
type createdApp struct {
	ID, Name, Secret   string
	Renewed, Immediate bool
}

// dev handles GET /dev, the developer page. Without a valid token in the cookie, the page shows the sign-in.
func (s *server) dev(c echo.Context) error {
	if s.IsLocalhostAlias(c.Request()) {
		return c.Redirect(http.StatusFound, s.HubURL+site.DevPath)
	}
	op, err := s.developer(c)
	if err == nil {
		return s.showDev(c, http.StatusOK, op, func(*devPage) {})
	}
	if apperr.Of(err).Kind != apperr.Unauthenticated {
		return err
	}
	p := s.devPage(c)
	p.Handle = s.Viewer(c).Handle
	p.LoginURL = s.StartSignIn(c, site.DevPath)
	return s.Render(c, http.StatusOK, "dev", p)
}

func (s *server) devPage(c echo.Context) devPage {
	p := devPage{
		Layout: s.NewLayout(c, "Developers", "API keys, apps and signing keys.", site.DevPath),
		Key:    keyForm{Permissions: []string{"read", "signal", "broadcast"}},
		NewApp: appForm{AppDraft: grant.AppDraft{Scopes: []string{string(grant.ProfileRead)}}},
	}
	p.Nav = "dev"
	return p
}

// showDev renders the developer page of a signed-in operator. The function set changes the page data before rendering.
func (s *server) showDev(c echo.Context, status int, op operator.Operator, set func(*devPage)) error {
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
	unread := ""
	if p.Account.Handle == p.Handle {
		unread = p.Account.Unread
	}
	p.Account = site.Account{Handle: p.Handle, Unread: unread, Avatar: site.AvatarOf(operator.Operator{
		Handle: op.Handle, AvatarURL: op.AvatarURL, ClosingAt: op.ClosingAt,
	})}
	for _, a := range apps {
		p.Apps = append(p.Apps, rowOfApp(a))
	}
	if p.Signers, err = s.signersOf(c.Request().Context(), op); err != nil {
		return err
	}
	set(&p)
	p.FormToken = s.TokenOf(c)
	return s.Render(c, status, "dev", p)
}

// showFault renders the developer page with a notice about an error that the user can correct. It returns any other error.
func (s *server) showFault(c echo.Context, op operator.Operator, err error) error {
	f := apperr.Of(err)
	notice := noticeOf(f)
	if notice == "" {
		return err
	}
	return s.showDev(c, httpx.Status(f.Kind), op, func(p *devPage) { p.Notice = notice })
}

// noticeOf returns the notice for an error that concerns no field of a form. It returns "" if the user cannot correct the error.
func noticeOf(f *apperr.Fault) string {
	switch {
	case errors.Is(f, grant.ErrAppLimit):
		return fmt.Sprintf("You have %d active apps, the maximum. Shut down one first.", grant.MaxApps)
	case f.Code == "key_limit_reached": // an error of the ledger, which sends its limit in the member "limit"
		return fmt.Sprintf("You have %v active keys, the maximum. Revoke one first.", f.Extra["limit"])
	case errors.Is(f, grant.ErrPublicClient):
		return "A public app has no secret. Only a confidential app has one."
	case f.Kind == apperr.Invalid:
		return site.ErrForm.Message
	}
	return ""
}

// developer returns the operator whose token is in the cookie of the developer page. Error: unauthenticated for a missing or
// invalid token, or if the session belongs to another operator.
func (s *server) developer(c echo.Context) (operator.Operator, error) {
	cookie, err := c.Cookie(site.CookieLogin)
	if err != nil || cookie.Value == "" {
		return operator.Operator{}, site.ErrSignedOut
	}
	who, err := s.Login(c, cookie.Value)
	if err != nil {
		return operator.Operator{}, err
	}
	c.Set(developerKey, who.SignedInAt)
	r, err := s.Ledger.OperatorWrites.SignIn(c.Request().Context(), who.SignInRequest())
	op := operator.FromMessage(r.GetOperator())
	if v := s.Viewer(c); err == nil && v.Session.UserID != "" && v.Session.UserID != string(op.ID) {
		err = apperr.ErrCredentialUnknown // the session belongs to another operator
	}
	if err == nil {
		err = request.CheckOpen(c.Request(), op)
	}
	return op, err
}

// receiveToken handles POST /dev/session, to which the sign-in page of the provider sends the token. The request comes from
// another site and has no cookies. Therefore, receiveToken only stores the token in a cookie, and startSession checks it.
func (s *server) receiveToken(c echo.Context) error {
	form, err := s.Form(c)
	if err != nil {
		return err
	}
	token, state := form.Get("token"), form.Get("state")
	switch {
	case state == "" || len(state) > maxState:
		return site.ErrCrossOrigin
	case token == "" || len(token) > maxToken || strings.Trim(token, tokenChars) != "":
		return apperr.ErrCredentialUnknown
	}
	s.SetCookie(c, sessionPath, cookiePending, token, pendingLife)
	on := url.Values{"state": {state}}
	if back := strings.TrimPrefix(form.Get("return_to"), s.HubURL); site.IsReturnPath(back) {
		on.Set("return_to", back)
	}
	return c.Redirect(http.StatusSeeOther, sessionPath+"?"+on.Encode())
}

// tokenChars are the characters of a signed token (JWT). All of them are allowed in cookies.
const tokenChars = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_."

// startSession handles GET /dev/session, to which receiveToken redirects. If the state in the URL equals the state cookie of this
// browser, it starts a session with the received token. A token that another site has sent fails this check.
func (s *server) startSession(c echo.Context) error {
	state, err := c.Cookie(site.CookieState)
	if err != nil || state.Value == "" || subtle.ConstantTimeCompare([]byte(state.Value), []byte(c.QueryParam("state"))) != 1 {
		return site.ErrCrossOrigin
	}
	token, err := c.Cookie(cookiePending)
	if err != nil {
		return site.ErrSignedOut
	}
	who, err := s.Login(c, token.Value)
	if err != nil {
		return err
	}
	s.SetCookie(c, site.DevPath, site.CookieState, "", site.Expired)
	s.SetCookie(c, sessionPath, cookiePending, "", site.Expired)
	r, err := s.Ledger.OperatorWrites.SignIn(c.Request().Context(), who.SignInRequest())
	if err != nil {
		return err
	}
	op := operator.FromMessage(r.GetOperator())
	if err := s.StartSession(c, op, who.SignedInAt, s.Email.SealSignIn(op.ID, who.Email)); err != nil {
		return err
	}
	s.DropDraftOfOthers(c, op.ID)
	back := c.QueryParam("return_to")
	if !site.IsReturnPath(back) {
		back = site.DevPath
	}
	if back == site.DevPath || back == site.StudioPath {
		s.SetCookie(c, site.DevPath, site.CookieLogin, token.Value, tokenLife)
	}
	if r.GetIsNew() {
		return site.Redirect(c, site.WelcomePath+"?"+url.Values{"return_to": {back}}.Encode())
	}
	return site.Redirect(c, back)
}

// mint handles POST /dev/keys, which creates an operator key. It requires a recent sign-in. Only this response shows the key.
func (s *server) mint(c echo.Context, op operator.Operator, form url.Values) error {
	typed := keyFormOf(form)
	if at, _ := c.Get(developerKey).(time.Time); !operator.IsFresh(at, s.Now()) {
		return s.showDev(c, http.StatusForbidden, op, func(p *devPage) {
			p.Key, p.SignInAgain = typed, s.StartSignIn(c, site.DevPath)
			p.Notice = "No key was created. Sign in again, and create it within 15 minutes."
		})
	}
	var minted *operatorv1.MintKeyResponse
	draft, err := operator.NewKeyDraft(typed.Label, typed.Permissions, true)
	if err == nil {
		minted, err = s.MintKey(c.Request().Context(), op.ID, draft)
	}
	if message := keyErrors[fieldOf(err)]; message != "" {
		typed.Errors = map[string]string{fieldOf(err): message}
		return s.showDev(c, http.StatusBadRequest, op, func(p *devPage) { p.Key = typed })
	}
	if err != nil {
		return s.showFault(c, op, err)
	}
	return s.showDev(c, http.StatusOK, op, func(p *devPage) { p.NewKey = minted.GetPlaintext() })
}

// keyErrors has the error texts of the key form, by field.
var keyErrors = map[string]string{
	"label": "Enter 1 to 64 characters on one line.", "permissions": "Choose at least one permission.",
}

// revoke handles POST /dev/keys/revoke, which revokes an operator key.
func (s *server) revoke(c echo.Context, op operator.Operator, form url.Values) error {
	if err := s.RevokeKey(c.Request().Context(), op.ID, form.Get("id")); err != nil {
		return err
	}
	return site.Redirect(c, site.DevPath)
}

// developerForm returns a handler that passes the signed-in operator and the form to the function do. The handler first rejects
// forms from other origins and visitors who are not signed in. If the token of the form is not that of the visitor, it shows the
// page again; fill sets what was typed, and is nil for a form without fields.
func (s *server) developerForm(
	fill func(*devPage, url.Values), do func(echo.Context, operator.Operator, url.Values) error,
) echo.HandlerFunc {
	return func(c echo.Context) error {
		if !s.OwnPage(c) {
			return site.ErrCrossOrigin
		}
		op, err := s.developer(c)
		if err != nil {
			return err
		}
		form, err := s.Form(c, "permission", "scope")
		if err != nil {
			return err
		}
		if err := s.CheckToken(c, form); err != nil {
			return s.showDev(c, http.StatusForbidden, op, func(p *devPage) {
				p.Notice = site.ErrFormExpired.Message
				if fill != nil {
					fill(p, form)
				}
			})
		}
		return do(c, op, form)
	}
}

// fillKey sets the values of a submitted key form.
func fillKey(p *devPage, form url.Values) { p.Key = keyFormOf(form) }

// keyFormOf returns the values of a submitted key form.
func keyFormOf(form url.Values) keyForm {
	// No ticked box gives an empty list, which is rejected; nil would mean all permissions.
	return keyForm{Label: strings.TrimSpace(form.Get("label")), Permissions: append([]string{}, form["permission"]...)}
}

func keysOf(keys []*operatorv1.Key) []keyRow {
	rows := make([]keyRow, 0, len(keys))
	for _, k := range keys {
		r := keyRow{
			ID: k.GetId(), Label: k.GetLabel(),
			Tier: tierLabels[protocol.Tier(k.GetTier())].word, Permissions: strings.Join(k.GetPermissions(), ", "),
			CreatedAt: format.When(ledgerclient.Time(k.GetCreatedAt())), LastUsed: "Never", Active: k.GetActive(),
		}
		if k.GetLastUsedAt() != nil {
			r.LastUsed = format.When(k.GetLastUsedAt().AsTime())
		}
		rows = append(rows, r)
	}
	return rows
}
