package edge

import (
	"net/http"
	"net/url"

	"github.com/labstack/echo/v4"

	"github.com/signalcast/signalcast/pkg/fault"
	"github.com/signalcast/signalcast/services/hub/internal/caller"
)

const callerKey = "caller"

// guard resolves the caller before the handler and shows where it stands in
// its limit. A key that the ledger refuses inside the act is remembered.
func (s *server) guard(r route) echo.HandlerFunc {
	return func(c echo.Context) error {
		who, standing, err := s.callers.Resolve(c.Request().Context(), s.credentials(c, r))
		if standing != nil {
			showStanding(c.Response().Header(), *standing)
		}
		if err != nil {
			return err
		}
		c.Set(callerKey, who)
		err = r.handler(c)
		if r.inCall && err != nil && fault.Of(err).Kind == fault.Unauthenticated {
			s.callers.Refused(who)
		}
		return err
	}
}

// callerOf is who the guard found.
func callerOf(c echo.Context) caller.Caller {
	who, _ := c.Get(callerKey).(caller.Caller)
	return who
}

func (s *server) credentials(c echo.Context, r route) caller.Request {
	req := c.Request()
	out := caller.Request{
		Take:          r.who,
		InCall:        r.inCall,
		Authorization: req.Header["Authorization"],
		IP:            c.RealIP(),
	}
	if r.who.Has(caller.TakeSession) {
		out.UID, out.Sig = cookie(req, cookieUID), cookie(req, cookieSig)
		out.Unsafe = req.Method != http.MethodGet && req.Method != http.MethodHead
		out.SameOrigin = s.sameOrigin(req)
	}
	if r.who.Has(caller.TakeAdmin) {
		out.AdminSecret = req.Header["X-Admin-Secret"]
	}
	if r.who.Has(caller.TakeCron) {
		if req.ContentLength != 0 { // a body takes the admin secret
			out.Take &^= caller.TakeCron
		}
		out.CronSecret = req.URL.Query()["secret"]
	}
	return out
}

// sameOrigin reports that the browser says our own page asks. Origin decides
// when it is there; a request with neither header is not from a page of ours.
func (s *server) sameOrigin(r *http.Request) bool {
	if origins := r.Header["Origin"]; len(origins) > 0 {
		if len(origins) > 1 {
			return false
		}
		if origins[0] == s.origin {
			return true
		}
		u, err := url.Parse(origins[0])
		return err == nil && u.Host != "" && u.Host == r.Host
	}
	return r.Header.Get("Sec-Fetch-Site") == "same-origin"
}
