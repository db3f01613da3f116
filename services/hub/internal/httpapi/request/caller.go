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

// ShowStanding writes the rate limit of a caller (IETF draft) and, when the limit is reached, the time to wait. Seconds are
// rounded up, so that a caller that waits is not early.
func ShowStanding(h http.Header, st caller.Standing) {
	h.Set("RateLimit-Policy", `"hub";q=`+strconv.Itoa(st.Limit)+`;w=60`)
	h.Set("RateLimit", `"hub";r=`+strconv.Itoa(st.Remaining)+";t="+seconds(st.Reset))
	if !st.Allowed {
		h.Set("Retry-After", seconds(st.Retry))
	}
}

func seconds(d time.Duration) string {
	return strconv.FormatInt(int64((d+time.Second-1)/time.Second), 10)
}

// FollowTime bounds the read of followers. A board without them is answered and not stored.
const FollowTime = 300 * time.Millisecond

const callerKey = "caller"

// SetCaller stores the caller of a request for its handler.
func SetCaller(c echo.Context, who caller.Caller) { c.Set(callerKey, who) }

// Caller returns the caller of a request; the zero value before the guard has resolved it.
func Caller(c echo.Context) caller.Caller {
	who, _ := c.Get(callerKey).(caller.Caller)
	return who
}

// The cookies of a session. The third binds the pair to the browser that signed in; its
// prefix keeps sibling hosts from setting it, so it exists over https only.
const (
	CookieUID  = "db_uid"
	CookieSig  = "db_sig"
	CookieBind = "__Host-db_bind"
)

// Owner returns the operator of a verified login. The ledger creates the operator with the first one.
func Owner(c echo.Context, ledger *ledgerclient.Client) (operator.Operator, error) {
	r, err := ledger.OperatorWrites.SignIn(c.Request().Context(), Caller(c).Identity.SignInRequest())
	return operator.FromMessage(r.GetOperator()), err
}

// Cookie returns the value of the first cookie of that name; empty without one.
func Cookie(r *http.Request, name string) string {
	found, err := r.Cookie(name)
	if err != nil {
		return ""
	}
	return found.Value
}
