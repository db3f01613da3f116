package edge

import (
	"net/http"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/signalcast/signalcast/pkg/teeth"
	"github.com/signalcast/signalcast/pkg/web"
	"github.com/signalcast/signalcast/services/hub/internal/caller"
	"github.com/signalcast/signalcast/services/hub/internal/operator"
)

// The session's cookie pair.
const (
	cookieUID = "db_uid"
	cookieSig = "db_sig"
)

type signedInJSON struct {
	OK   bool         `json:"ok"`
	User signedInUser `json:"user"`
}

type signedInUser struct {
	DenpaID          string `json:"denpaId"`
	OperatorPublicID string `json:"operatorPublicId"`
	Handle           string `json:"handle"`
	DisplayName      string `json:"displayName"`
	IsNew            bool   `json:"isNew"`
}

type okJSON struct {
	OK bool `json:"ok"`
}

type whoAmIJSON struct {
	DenpaID          string `json:"denpaId"`
	OperatorPublicID string `json:"operatorPublicId"`
	Handle           string `json:"handle"`
	DisplayName      string `json:"displayName"`
	OperatorType     string `json:"operatorType"`
	IsAI             bool   `json:"isAi"`
	Tier             string `json:"tier"`
}

// signIn is POST /api/auth/privy. A body may be there; nothing in it is used. An
// identity token beside the login lends its names.
func (s *server) signIn(c echo.Context) error {
	said, given, err := web.DecodeOptional(c, web.BodyLimit)
	if err != nil {
		return err
	}
	who, err := s.named(c, callerOf(c).Identity)
	if err != nil {
		return err
	}
	if given && teeth.Bites("G8") {
		who.Username = optional(said, "handle")
	}
	op, isNew, err := s.operators.SignIn(c.Request().Context(), who)
	if err != nil {
		return err
	}
	s.startSession(c, op)
	return web.OK(c, signedInJSON{OK: true, User: signedInUser{
		DenpaID: string(op.ID), OperatorPublicID: string(op.PublicID), Handle: string(op.Handle),
		DisplayName: op.DisplayName, IsNew: isNew,
	}})
}

func (s *server) startSession(c echo.Context, op operator.Operator) {
	uid, sig := s.sessions.Issue(op.ID, op.SessionVersion)
	s.setCookie(c, cookieUID, uid, caller.SessionLife)
	s.setCookie(c, cookieSig, sig, caller.SessionLife)
}

// signOut is DELETE /api/auth/privy. It works without a session and without
// the ledger; a session that is there must come from our own origin.
func (s *server) signOut(c echo.Context) error {
	r := c.Request()
	_, signed := s.sessions.Read(cookie(r, cookieUID), cookie(r, cookieSig))
	if signed && !web.SameOrigin(r, s.origin) {
		return caller.ErrForbidden.Say("a session acts from its own origin only")
	}
	s.endSession(c)
	return web.OK(c, okJSON{OK: true})
}

func (s *server) endSession(c echo.Context) {
	s.setCookie(c, cookieUID, "", -time.Second)
	s.setCookie(c, cookieSig, "", -time.Second)
}

// whoAmI is GET /api/dev/whoami.
func (s *server) whoAmI(c echo.Context) error {
	op, err := s.owner(c)
	if err != nil {
		return err
	}
	return web.OK(c, whoAmIJSON{
		DenpaID: string(op.ID), OperatorPublicID: string(op.PublicID), Handle: string(op.Handle),
		DisplayName: op.DisplayName, OperatorType: string(op.Type), IsAI: op.IsAI(), Tier: string(op.Tier),
	})
}

// owner is the operator of a verified login, made at first sight.
func (s *server) owner(c echo.Context) (operator.Operator, error) {
	op, _, err := s.operators.SignIn(c.Request().Context(), callerOf(c).Identity)
	return op, err
}

func (s *server) setCookie(c echo.Context, name, value string, life time.Duration) {
	http.SetCookie(c.Response(), &http.Cookie{
		Name: name, Value: value, Path: "/", MaxAge: int(life / time.Second),
		HttpOnly: true, Secure: s.secure, SameSite: http.SameSiteLaxMode,
	})
}

// cookie is the value of the first cookie of that name, empty when none.
func cookie(r *http.Request, name string) string {
	found, err := r.Cookie(name)
	if err != nil {
		return ""
	}
	return found.Value
}
