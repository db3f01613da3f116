package edge

import (
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"net/netip"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/labstack/echo/v4"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/signalcast/signalcast/pkg/fault"
	"github.com/signalcast/signalcast/pkg/ledgerclient"
	"github.com/signalcast/signalcast/pkg/limit"
	"github.com/signalcast/signalcast/pkg/syntax"
	"github.com/signalcast/signalcast/pkg/web"
	"github.com/signalcast/signalcast/services/hub/internal/caller"
)

// errGone is the answer of every retired route.
var errGone = fault.New(fault.Gone, "gone", "channels were replaced by stations").With("successor", "/api/v1/stations")

func gone(echo.Context) error { return errGone }

// tagged answers 200 with an entity tag, or 304 when the caller has these
// very bytes. For reads that are made for each request.
func tagged(c echo.Context, v any) error { return taggedBy(c, v, v) }

// taggedBy is tagged where only a part of the answer makes it another one: the
// time at which it was read does not.
func taggedBy(c echo.Context, v, part any) error {
	told, err := web.Marshal(part)
	if err != nil {
		return err
	}
	body, err := web.Marshal(v)
	if err != nil {
		return err
	}
	if known(c, tagOf(told)) {
		return nil
	}
	return web.Blob(c, http.StatusOK, body)
}

// tagOf names bytes, in quotes.
func tagOf(told []byte) string {
	sum := sha256.Sum256(told)
	return `"` + hex.EncodeToString(sum[:12]) + `"`
}

// known gives the answer its entity tag, and answers 304 when the caller has what it
// names.
func known(c echo.Context, tag string) bool {
	c.Response().Header()["Etag"] = []string{"W/" + tag}
	for _, line := range c.Request().Header["If-None-Match"] {
		if strings.Contains(line, tag) || strings.TrimSpace(line) == "*" {
			c.Response().WriteHeader(http.StatusNotModified)
			return true
		}
	}
	return false
}

// showStanding writes where a caller stands (IETF draft) and, when it has to
// wait, for how long. Seconds are rounded up: who obeys is not early.
func showStanding(h http.Header, st caller.Standing) {
	h.Set("RateLimit-Policy", `"hub";q=`+strconv.Itoa(st.Limit)+`;w=60`)
	h.Set("RateLimit", `"hub";r=`+strconv.Itoa(st.Remaining)+";t="+seconds(st.Reset))
	if !st.Allowed {
		h.Set("Retry-After", seconds(st.Retry))
	}
}

// stamp returns a timestamp of the ledger as an answer shows it.
func stamp(t *timestamppb.Timestamp) string { return syntax.Stamp(ledgerclient.Time(t)) }

// stampOrNull returns a timestamp as an answer shows it; nil for none.
func stampOrNull(t *timestamppb.Timestamp) *string { return syntax.StampOrNull(ledgerclient.Time(t)) }

func seconds(d time.Duration) string {
	return strconv.FormatInt(int64((d+time.Second-1)/time.Second), 10)
}

// addressKey is what an address is counted under; an IPv6 network of 64 bits
// is one caller.
func addressKey(ip string) string {
	addr, err := netip.ParseAddr(ip)
	if err != nil {
		return ip
	}
	return limit.AddrKey(addr)
}

// parseUUID accepts the 36 characters of a uuid in any case and lowers them.
func parseUUID(raw string) (string, bool) {
	if len(raw) != 36 {
		return "", false
	}
	id, err := uuid.Parse(raw)
	return id.String(), err == nil
}
