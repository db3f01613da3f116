package edge

import (
	"context"
	"net/http"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/signalcast/signalcast/pkg/web"
	"github.com/signalcast/signalcast/services/hub/internal/caller"
	"github.com/signalcast/signalcast/services/hub/internal/grant"
	"github.com/signalcast/signalcast/services/hub/internal/operator"
)

// Visitor is who sits before a page: the operator of the session, or nobody. The
// session is what tells it from any other one. A request that changes something
// has to come from a page of ours. Faults: forbidden, rate_limited, and those of
// the ledger.
func (s *Server) Visitor(c echo.Context) (who grant.Visitor, name string, err error) {
	r := c.Request()
	sig := cookie(r, cookieSig)
	found, standing, err := s.inner.Callers.Resolve(r.Context(), caller.Request{
		Take: caller.TakeSession | caller.TakeNone, UID: cookie(r, cookieUID), Sig: sig, Bind: cookie(r, cookieBind), IP: c.RealIP(),
		Unsafe: r.Method != http.MethodGet && r.Method != http.MethodHead, SameOrigin: ownPage(r, s.inner.Origin),
	})
	if standing != nil {
		showStanding(c.Response().Header(), *standing)
	}
	if err == nil {
		err = found.Doubt
	}
	if found.Operator != nil {
		s.inner.somebody(c)
	}
	if err != nil || found.Operator == nil {
		return grant.Visitor{}, "", err
	}
	return grant.Visitor{UserID: string(found.Operator.ID), Session: sig, SignedInAt: found.SignedInAt}, string(found.Operator.Handle), nil
}

// ownPage reports a request that a page of ours sent. A page that gives no referrer
// sends its forms with the origin "null"; then the browser's own word counts, which
// no page can write.
func ownPage(r *http.Request, origin string) bool {
	if origins := r.Header["Origin"]; len(origins) == 1 && origins[0] == "null" {
		return r.Header.Get("Sec-Fetch-Site") == "same-origin"
	}
	return web.SameOrigin(r, origin)
}

// OwnPage reports a request that a page of ours sent.
func (s *Server) OwnPage(c echo.Context) bool { return ownPage(c.Request(), s.inner.Origin) }

// CountConsent counts a look at the page that asks for a grant. Fault: rate_limited.
func (s *Server) CountConsent(c echo.Context, who grant.Visitor) error {
	standing, err := s.inner.Callers.CountConsent(c.Request().Context(), who.Session)
	showStanding(c.Response().Header(), *standing)
	return err
}

// StartSession stores a session and sets its cookies. Fault: db_unavailable.
func (s *Server) StartSession(c echo.Context, op operator.Operator, signedInAt time.Time) error {
	return s.inner.startSession(c, op, signedInAt)
}

// EndSession ends the session of the request, or every session of its operator, and
// removes the cookies. Faults: unauthenticated when every session shall end and there is
// none, and those of the stores.
func (s *Server) EndSession(c echo.Context, all bool) error {
	r := c.Request()
	if all {
		return s.inner.endSessions(c, ownPage(r, s.inner.Origin))
	}
	signed, ok := s.inner.Sessions.Read(cookie(r, cookieUID), cookie(r, cookieSig))
	return s.inner.endSession(c, signed, ok)
}

// RevokeKey revokes an operator key with what was made with it. Faults: not_found, and
// those of the stores.
func (s *Server) RevokeKey(ctx context.Context, owner operator.ID, keyID string) error {
	_, _, err := s.inner.revoke(ctx, owner, keyID)
	return err
}
