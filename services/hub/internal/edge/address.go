package edge

import (
	"net/http"
	"strings"

	"github.com/labstack/echo/v4"

	"github.com/signalcast/signalcast/pkg/fault"
	"github.com/signalcast/signalcast/pkg/limit"
	"github.com/signalcast/signalcast/pkg/web"
	"github.com/signalcast/signalcast/services/hub/internal/caller"
)

// An address has two budgets of the same size: its own, for requests that carry nothing,
// and this one, for credentials that turn out to be nobody's. Neither is touched by a
// caller who is somebody, so who shares an address with a flood is still served.
const strangers = "strangers "

const tabKey = "tab"

// ourCookies is how the names of our cookies begin: of the session's pair, and of the
// logins that pages keep.
const ourCookies = "db_"

// tab is what a request has taken of the budgets of its address.
type tab struct {
	address string
	budget  string // empty: nothing is taken
	taken   limit.Decision
	found   bool // the caller is somebody
}

func tabOf(c echo.Context) *tab { return c.Get(tabKey).(*tab) }

// line names a route.
type line struct{ method, path string }

// perAddress counts each request against its address, unless its caller turns out to
// be somebody, and lets the request id travel on.
func (s *server) perAddress(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		if err := s.enter(c); err != nil {
			return err
		}
		r := c.Request()
		c.SetRequest(r.WithContext(s.Carry(r.Context(), web.RequestID(r.Context()))))
		err := next(c)
		if tabOf(c).found && (err == nil || fault.Of(err).Kind != fault.Unauthenticated) {
			return err
		}
		return s.nobody(c, err)
	}
}

// enter takes a place in a budget before anything is looked up: what is refused here
// costs nobody a question, and requests at once do not get in one by one. A credential
// that is known to be good, on a route that will look at it, needs no place. Fault:
// rate_limited.
func (s *server) enter(c echo.Context) error {
	t := &tab{address: addressKey(c.RealIP())}
	c.Set(tabKey, t)
	r, looked := c.Request(), s.lookedAt(c)
	if !carries(r) && !(looked.Has(caller.TakeCron) && (r.Header["X-Cron-Secret"] != nil || r.URL.Query().Has("secret"))) {
		return s.charge(c, t.address)
	}
	known := s.Callers.Known(caller.Request{
		Authorization: r.Header["Authorization"], AdminSecret: r.Header["X-Admin-Secret"],
		UID: cookie(r, cookieUID), Sig: cookie(r, cookieSig),
	})
	switch {
	case known == caller.Key && looked.Has(caller.TakeKey), known == caller.Session && looked.Has(caller.TakeSession):
		return nil
	case known == caller.Session: // at a page, or a read for everybody
		return s.charge(c, strangers+t.address, t.address)
	}
	return s.charge(c, strangers+t.address)
}

// carries reports a request with something that could be a credential.
func carries(r *http.Request) bool {
	if r.Header["Authorization"] != nil || r.Header["X-Admin-Secret"] != nil {
		return true
	}
	for _, sent := range r.Cookies() {
		if strings.HasPrefix(sent.Name, ourCookies) {
			return true
		}
	}
	return false
}

// lookedAt are the credentials that the route of a request looks at; of pages, which
// find their visitors themselves, and of what is no route, none.
func (s *server) lookedAt(c echo.Context) caller.Take {
	method := c.Request().Method
	if method == http.MethodHead {
		method = http.MethodGet
	}
	return s.takes[line{method, c.Path()}]
}

// charge takes a place in the first budget that has one. Fault: rate_limited.
func (s *server) charge(c echo.Context, budgets ...string) error {
	var d limit.Decision
	for _, budget := range budgets {
		if d = s.Addresses.Allow(budget); d.Allowed {
			t := tabOf(c)
			t.budget, t.taken = budget, d
			return nil
		}
	}
	d.SetHeaders(c.Response().Header())
	return d.Fault()
}

// somebody gives the place back: the caller has a limit of its own.
func (s *server) somebody(c echo.Context) {
	t := tabOf(c)
	t.found = true
	if t.budget != "" {
		s.Addresses.Undo(t.budget, t.taken)
		t.budget = ""
	}
}

// nobody gives err, what the caller is told, once the request is counted. Fault:
// rate_limited.
func (s *server) nobody(c echo.Context, err error) error {
	t := tabOf(c)
	if t.budget == "" {
		if refused := s.charge(c, strangers+t.address); refused != nil {
			return refused
		}
	}
	return err
}

// settle says to the budgets what Resolve has found. Who could not be judged now stays
// on the address, unless a limit of its own has counted it. Fault: err, or rate_limited.
func (s *server) settle(c echo.Context, who caller.Caller, standing *caller.Standing, err error) error {
	void := err == nil && who.Doubt == nil || err != nil && fault.Of(err).Kind == fault.Unauthenticated
	switch {
	case who.Kind == caller.Client: // its handler reads what it brings
		return err
	case who.Kind != caller.Anonymous, standing != nil && !void:
		s.somebody(c)
		return err
	}
	return s.nobody(c, err)
}
