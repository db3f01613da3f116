package request

import (
	"context"

	"github.com/labstack/echo/v4"

	"github.com/signalcast/signalcast/pkg/ratelimit"
)

// FailedAuth is the key prefix of the rate limit for requests with an invalid credential. Each IP address has this limit and an
// equal limit for requests without a credential. Authenticated requests are charged to neither limit, so a flood does not affect
// authenticated callers behind the same IP address.
const FailedAuth = "failed-auth "

const chargeKey = "charged"

// AddressCharge records to which rate limit of its IP address a request is charged.
type AddressCharge struct {
	limit    *ratelimit.Shared
	Address  string
	key      string // key of the charged limit; empty: not charged
	decision ratelimit.Decision
	Found    bool // true if the caller is authenticated
}

// Begin attaches a new AddressCharge to the request. Nothing is charged yet.
func Begin(c echo.Context, limits *ratelimit.Shared) *AddressCharge {
	t := &AddressCharge{limit: limits, Address: ratelimit.AddressKey(c.RealIP())}
	c.Set(chargeKey, t)
	return t
}

// ChargeOf returns the AddressCharge that Begin attached to the request. It panics without one.
func ChargeOf(c echo.Context) *AddressCharge { return c.Get(chargeKey).(*AddressCharge) }

// Charge charges the request to a rate limit. keys are the keys of possible limits; the first limit that is not reached is
// charged. Error: rate_limited if all of these limits are reached.
func Charge(c echo.Context, keys ...string) error {
	var d ratelimit.Decision
	t := ChargeOf(c)
	for _, key := range keys {
		if d = t.limit.Allow(c.Request().Context(), key); d.Allowed {
			t.key, t.decision = key, d
			return nil
		}
	}
	d.SetHeaders(c.Response().Header())
	return d.Fault()
}

// Refund marks the caller of a request as authenticated and undoes the charge to the IP address, if there is one. The rate limit
// of the caller counts the request instead.
func Refund(c echo.Context) {
	t := ChargeOf(c)
	t.Found = true
	if t.key != "" {
		t.limit.Undo(t.key, t.decision)
		t.key = ""
	}
}

// ChargeUnknown charges a request whose caller is not authenticated to the FailedAuth limit of its IP address, unless the request
// is already charged. It returns err, or rate_limited if the limit is reached.
func ChargeUnknown(c echo.Context, err error) error {
	t := ChargeOf(c)
	if t.key == "" {
		if refused := Charge(c, FailedAuth+t.Address); refused != nil {
			return refused
		}
	}
	return err
}

// KeyLimiter limits requests by key. All replicas share its counters.
type KeyLimiter interface {
	Allow(ctx context.Context, key string) ratelimit.Decision
}
