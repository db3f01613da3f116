package httpapi

import (
	"context"
	"net/http"
	"time"

	"github.com/labstack/echo/v4"

	operatorv1 "github.com/signalcast/signalcast/proto/operator/v1"
	"github.com/signalcast/signalcast/services/hub/internal/caller"
	"github.com/signalcast/signalcast/services/hub/internal/grant"
	"github.com/signalcast/signalcast/services/hub/internal/httpapi/request"
	"github.com/signalcast/signalcast/services/hub/internal/operator"
)

// Visitor returns the operator of the session of a request and, in name, the operator's handle. Both are empty without a session.
// A request that changes data must come from a page of this hub. Errors: forbidden, rate_limited, and the errors of the ledger.
func (s *Server) Visitor(c echo.Context) (who grant.Visitor, name string, err error) {
	r := c.Request()
	sig := request.Cookie(r, request.CookieSig)
	found, standing, err := s.Callers.Resolve(r.Context(), caller.Request{
		Accept: caller.AcceptSession | caller.AcceptNone, UID: request.Cookie(r, request.CookieUID), Sig: sig,
		Bind: request.Cookie(r, request.CookieBind), IP: c.RealIP(),
		Unsafe: r.Method != http.MethodGet && r.Method != http.MethodHead, SameOrigin: ownPage(r, s.Origin),
	})
	if standing != nil {
		request.SetLimitHeaders(c.Response().Header(), *standing)
	}
	if err == nil {
		err = found.SessionErr
	}
	if found.Operator != nil {
		request.Refund(c)
	}
	if err != nil || found.Operator == nil {
		return grant.Visitor{}, "", err
	}
	if found.Renewed {
		s.settings.RenewSession(c)
	}
	return grant.Visitor{
		UserID: string(found.Operator.ID), Session: sig, SignedInAt: found.SignedInAt,
		ClosingAt: found.Operator.ClosingAt, AvatarURL: found.Operator.AvatarURL,
	}, string(found.Operator.Handle), nil
}

// ownPage reports whether a page of this hub sent the request. The header Sec-Fetch-Site decides, because only the browser can
// set it. Without it, the header Origin must be the origin of the hub.
func ownPage(r *http.Request, origin string) bool {
	origins, sites := r.Header["Origin"], r.Header["Sec-Fetch-Site"]
	if len(sites) == 0 {
		return len(origins) == 1 && origins[0] == origin
	}
	foreign := len(origins) > 0 && (len(origins) > 1 || origins[0] != origin && origins[0] != "null")
	return len(sites) == 1 && sites[0] == "same-origin" && !foreign
}

// OwnPage reports whether a page of this hub sent the request.
func (s *Server) OwnPage(c echo.Context) bool { return ownPage(c.Request(), s.Origin) }

// FormToken returns the token that the forms on the pages of a visitor carry; "" if there are no session cookies. login is the
// credential of visitors without a session: the identity token of the developer page.
func (s *Server) FormToken(c echo.Context, login string) string {
	if of := s.formOwner(c, login); of != "" {
		return s.Sessions.FormToken(of)
	}
	return ""
}

// IsFormToken reports whether token is the form token of the visitor.
func (s *Server) IsFormToken(c echo.Context, login, token string) bool {
	return s.Sessions.IsFormToken(s.formOwner(c, login), token)
}

// formOwner returns the credential to which the form tokens of a visitor belong. A session takes precedence over login.
func (s *Server) formOwner(c echo.Context, login string) string {
	uid := request.Cookie(c.Request(), request.CookieUID)
	if _, err := s.Sessions.Read(uid, request.Cookie(c.Request(), request.CookieSig)); err == nil {
		return uid
	}
	return login
}

// SessionStart returns the time at which the session of a request was issued, in whole seconds. It returns the zero time without
// valid session cookies.
func (s *Server) SessionStart(c echo.Context) time.Time {
	signed, err := s.Sessions.Read(request.Cookie(c.Request(), request.CookieUID), request.Cookie(c.Request(), request.CookieSig))
	if err != nil {
		return time.Time{}
	}
	return signed.IssuedAt
}

// CountConsent charges a request for the consent page to the rate limit of the session. Error: rate_limited.
func (s *Server) CountConsent(c echo.Context, who grant.Visitor) error {
	standing, err := s.Callers.CountConsent(c.Request().Context(), who.Session)
	request.SetLimitHeaders(c.Response().Header(), *standing)
	return err
}

// PublicRead returns a handler for a public page. Like the public reads of the API, it accepts every valid bearer credential,
// which only selects the rate limit. Errors: unauthenticated, rate_limited, and the errors of next.
func (s *Server) PublicRead(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		lines := c.Request().Header["Authorization"]
		if len(lines) == 0 {
			return next(c)
		}
		who, standing, err := s.Callers.Resolve(c.Request().Context(), caller.Request{
			Accept: caller.AcceptNone, Public: true, Authorization: lines, IP: c.RealIP(),
		})
		if standing != nil {
			request.SetLimitHeaders(c.Response().Header(), *standing)
		}
		if who.Kind == caller.Reader {
			request.Refund(c)
		}
		if err != nil {
			return err
		}
		return next(c)
	}
}

// StartSession stores a session and sets its cookies. email is the encrypted address that the provider has verified; empty: none.
// Error: db_unavailable.
func (s *Server) StartSession(c echo.Context, op operator.Operator, signedInAt time.Time, email string) error {
	return s.settings.StartSession(c, op, signedInAt, email)
}

// EndSession ends the session of the request and removes the cookies. If all is true, it ends every session of the operator.
// Errors: unauthenticated if all is true and there is no session, and the errors of the stores.
func (s *Server) EndSession(c echo.Context, all bool) error {
	r := c.Request()
	if all {
		return s.settings.EndSessions(c, ownPage(r, s.Origin))
	}
	signed, err := s.Sessions.Read(request.Cookie(r, request.CookieUID), request.Cookie(r, request.CookieSig))
	return s.settings.EndSession(c, signed, err == nil)
}

// MintKey creates an operator key. Errors: those of the ledger.
func (s *Server) MintKey(ctx context.Context, owner operator.ID, draft operator.KeyDraft) (*operatorv1.MintKeyResponse, error) {
	return s.settings.Mint(ctx, owner, draft)
}

// RevokeKey revokes an operator key with its signers and webhooks. Errors: not_found, and the errors of the stores.
func (s *Server) RevokeKey(ctx context.Context, owner operator.ID, keyID string) error {
	_, _, err := s.settings.Revoke(ctx, owner, keyID)
	return err
}

// SessionOwner returns the operator that the session cookies of a request name, also if the session has ended; "" without one.
func (s *Server) SessionOwner(c echo.Context) operator.ID {
	r := c.Request()
	signed, err := s.Sessions.Read(request.Cookie(r, request.CookieUID), request.Cookie(r, request.CookieSig))
	if err != nil {
		return ""
	}
	return signed.Operator
}

// Archive streams everything that is stored about an operator as a ZIP archive. Error: rate_limited.
func (s *Server) Archive(c echo.Context, me operator.Operator) error { return s.reads.Archive(c, me) }

// AppendEvent appends the event of a form of a page to a call. It has the errors of POST /api/signals/{id}/events.
func (s *Server) AppendEvent(ctx context.Context, by operator.ID, signalID string, members map[string]any, key string) error {
	return s.filing.AppendForm(ctx, by, signalID, members, key)
}

// FileCall files the call of a form of a page. It has the errors of POST /api/predictions.
func (s *Server) FileCall(ctx context.Context, by operator.ID, members map[string]any, key string) (id string, err error) {
	return s.filing.FileForm(ctx, by, members, key)
}
