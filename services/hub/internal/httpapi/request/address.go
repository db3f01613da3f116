package request

import (
	"context"
	"net/netip"

	"github.com/labstack/echo/v4"

	"github.com/signalcast/signalcast/pkg/ratelimit"
)

// Strangers begins the key of the second limit of an address, of the same size as the first. The first counts requests without a
// credential, this one invalid credentials. Authenticated callers are charged to neither, so a flood from one address does not
// affect them.
const Strangers = "strangers "

const chargedKey = "charged"

// Charged is the charge of a request to the limits of its address.
type Charged struct {
	limit   *ratelimit.Local
	Address string
	budget  string // key of the limit; empty: not charged
	taken   ratelimit.Decision
	Found   bool // the caller is authenticated
}

// Begin stores the charge of a request, which is empty yet.
func Begin(c echo.Context, limits *ratelimit.Local) *Charged {
	t := &Charged{limit: limits, Address: AddressKey(c.RealIP())}
	c.Set(chargedKey, t)
	return t
}

// ChargedTo returns the charge of a request.
func ChargedTo(c echo.Context) *Charged { return c.Get(chargedKey).(*Charged) }

// Charge charges the first limit of those keys that allows it. Fault: rate_limited.
func Charge(c echo.Context, budgets ...string) error {
	var d ratelimit.Decision
	t := ChargedTo(c)
	for _, budget := range budgets {
		if d = t.limit.Allow(budget); d.Allowed {
			t.budget, t.taken = budget, d
			return nil
		}
	}
	d.SetHeaders(c.Response().Header())
	return d.Fault()
}

// Refund undoes the charge of a request to its address: its caller is authenticated, and the limits of callers count it.
func Refund(c echo.Context) {
	t := ChargedTo(c)
	t.Found = true
	if t.budget != "" {
		t.limit.Undo(t.budget, t.taken)
		t.budget = ""
	}
}

// ChargeUnknown charges a request whose caller is not authenticated, if it is not charged yet, and returns err. Fault:
// rate_limited.
func ChargeUnknown(c echo.Context, err error) error {
	t := ChargedTo(c)
	if t.budget == "" {
		if refused := Charge(c, Strangers+t.Address); refused != nil {
			return refused
		}
	}
	return err
}

// AddressKey returns the key that an address is counted under. All addresses of an IPv6 network of 64 bits have one key.
func AddressKey(ip string) string {
	addr, err := netip.ParseAddr(ip)
	if err != nil {
		return ip
	}
	return ratelimit.AddrKey(addr)
}

// KeyLimiter counts requests by key over all replicas.
type KeyLimiter interface {
	Allow(ctx context.Context, key string) ratelimit.Decision
}
