package request

import (
	"net/http"
	"strconv"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/signalcast/signalcast/pkg/ledgerclient"
	"github.com/signalcast/signalcast/services/hub/internal/caller"
	"github.com/signalcast/signalcast/services/hub/internal/operator"
)

// SetLimitHeaders sets the RateLimit headers (IETF draft) and, if the limit is reached, Retry-After. Seconds are rounded up, so
// that a retry is not too early.
func SetLimitHeaders(h http.Header, st caller.RateLimitState) {
	h.Set("RateLimit-Policy", `"hub";q=`+strconv.Itoa(st.Limit)+`;w=60`)
	h.Set("RateLimit", `"hub";r=`+strconv.Itoa(st.Remaining)+";t="+seconds(st.Reset))
	if !st.Allowed {
		h.Set("Retry-After", seconds(st.Retry))
	}
}

func seconds(d time.Duration) string {
	return strconv.FormatInt(int64((d+time.Second-1)/time.Second), 10)
}

// FollowTimeout is the time limit for reading follower counts. A response without the counts is marked as degraded and not
// cached.
const FollowTimeout = 300 * time.Millisecond

const callerKey = "caller"

// SetCaller stores the caller of a request for its handler.
func SetCaller(c echo.Context, who caller.Caller) { c.Set(callerKey, who) }

// Caller returns the caller of a request, or the zero value if the guard has not resolved it.
func Caller(c echo.Context) caller.Caller {
	who, _ := c.Get(callerKey).(caller.Caller)
	return who
}

// Names of the session cookies. CookieBind binds the two other cookies to the browser that signed in. The prefix of CookieBind
// requires https and prevents sibling hosts from setting the cookie.
const (
	CookieUID  = "db_uid"
	CookieSig  = "db_sig"
	CookieBind = "__Host-db_bind"
)

// Owner returns the operator of a verified login. The ledger creates the operator at the first login.
func Owner(c echo.Context, ledger *ledgerclient.Client) (operator.Operator, error) {
	r, err := ledger.OperatorWrites.SignIn(c.Request().Context(), Caller(c).Identity.SignInRequest())
	op := operator.FromMessage(r.GetOperator())
	if err == nil {
		err = CheckOpen(c.Request(), op)
	}
	return op, err
}

// Cookie returns the value of the first cookie with the given name, or "" if there is none.
func Cookie(r *http.Request, name string) string {
	found, err := r.Cookie(name)
	if err != nil {
		return ""
	}
	return found.Value
}

// CheckOpen returns operator.ErrClosing for a request that writes if the account of the operator is closed.
func CheckOpen(r *http.Request, op operator.Operator) error {
	if op.ClosingAt.IsZero() || r.Method == http.MethodGet || r.Method == http.MethodHead {
		return nil
	}
	return operator.ErrClosing
}
