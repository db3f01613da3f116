package request

import (
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/signalcast/signalcast/pkg/apperr"
	"github.com/signalcast/signalcast/pkg/httpx"
	"github.com/signalcast/signalcast/pkg/protocol"
	"github.com/signalcast/signalcast/services/hub/internal/grant"
)

// Body returns a handler that reads a JSON object from the body and passes it to the function handle. The handler returns the
// errors of httpx.Decode.
func Body(handle func(echo.Context, httpx.Object) error) echo.HandlerFunc {
	return with(func(c echo.Context) (httpx.Object, error) { return httpx.Decode(c, httpx.BodyLimit) }, handle)
}

// OptBody is like Body, for a route whose body is optional. Without a body, the function handle receives an object without
// members.
func OptBody(handle func(echo.Context, httpx.Object) error) echo.HandlerFunc {
	return with(func(c echo.Context) (httpx.Object, error) {
		o, _, err := httpx.DecodeOptional(c, httpx.BodyLimit)
		return o, err
	}, handle)
}

// with returns a handler. The handler calls the function read and passes the result to the function handle. If read returns an
// error, the handler returns it.
func with[T any](read func(echo.Context) (T, error), handle func(echo.Context, T) error) echo.HandlerFunc {
	return func(c echo.Context) error {
		v, err := read(c)
		if err != nil {
			return err
		}
		return handle(c, v)
	}
}

// Time reads an RFC 3339 time. It returns the zero time if the member is absent. It records an invalid time as an error of o.
func Time(o httpx.Object, name string, required bool) time.Time {
	raw := o.String(name, 64, required)
	if raw == "" {
		return time.Time{}
	}
	t, ok := protocol.ParseStamp(raw)
	if !ok {
		o.Invalid(name, "must be an RFC 3339 time")
	}
	return t
}

// IsURL reports whether raw is an absolute URL with one of the given schemes, and without user info, spaces and control
// characters.
func IsURL(raw string, schemes ...string) bool {
	if strings.ContainsFunc(raw, func(r rune) bool { return r <= ' ' || r == 0x7f }) {
		return false
	}
	u, err := url.Parse(raw)
	return err == nil && u.Host != "" && u.User == nil && slices.Contains(schemes, u.Scheme)
}

// MarketID reads a required market id. It records a missing or invalid id as an error of o.
func MarketID(o httpx.Object, name string) protocol.MarketID {
	raw := o.String(name, httpx.BodyLimit, true)
	if raw == "" {
		return ""
	}
	id, err := protocol.ParseMarketID(raw)
	if err != nil {
		o.Invalid(name, protocol.MarketIDForm)
	}
	return id
}

// Handle reads a required handle. It records a missing or invalid handle as an error of o.
func Handle(o httpx.Object, name string) protocol.Handle {
	raw := o.String(name, httpx.BodyLimit, true)
	handle, err := protocol.ParseHandle(raw)
	if err != nil && raw != "" {
		o.Invalid(name, "must be 2 to 32 characters of a-z, 0-9 and _")
	}
	return handle
}

// OptText reads an optional one-line text of at most limit characters; nil if the text is empty or absent.
func OptText(o httpx.Object, name string, limit int) *string {
	return httpx.OrNull(o.Text(name, limit, false, false))
}

// OptProse reads an optional text of at most limit characters, which may have line feeds; nil if the text is empty or absent.
func OptProse(o httpx.Object, name string, limit int) *string {
	return httpx.OrNull(o.Text(name, limit, true, false))
}

// Opt32 reads an optional integer from low to high; nil if the member is absent. It records an invalid integer as an error of o.
func Opt32(o httpx.Object, name string, low, high int64) *int32 {
	n := o.OptInt(name, low, high)
	if n == nil {
		return nil
	}
	v := int32(*n)
	return &v
}

// InvalidRequest changes the code of an error about a body member to invalid_request, which protocol routes use. It returns other
// errors unchanged, such as invalid_body for a body that cannot be parsed.
func InvalidRequest(err error) error {
	if err == nil {
		return nil
	}
	f := apperr.Of(err)
	if field := f.Extra["field"]; field != nil && f.Kind == apperr.Invalid {
		return grant.ErrInvalidRequest.WithText("%s", f.Message).With("field", field)
	}
	return err
}

// Optional reads an optional string; "" if the member is absent.
func Optional(o httpx.Object, name string) string {
	if s := o.OptString(name, httpx.BodyLimit); s != nil {
		return *s
	}
	return ""
}

// Limits of any list in a request body: the number of elements, and the length of an element in bytes. Most lists have lower
// limits.
const (
	MaxListed = 100
	MaxWord   = 4096
)

// DryRun reads the member "dryRun"; false if it is absent. It rejects null and misspelled names, because the request would
// otherwise be stored although the client expects only a check.
func DryRun(o httpx.Object) bool {
	for _, name := range o.Names() {
		switch {
		case name == "dryRun" && !o.Has(name):
			o.Invalid("dryRun", "must be true or false, not null")
		case name != "dryRun" && IsDryRun(name):
			o.Invalid("dryRun", "must have exactly this spelling, not "+name)
		}
	}
	return OptFlag(o, "dryRun")
}

// IsDryRun reports whether a name is dryRun in any spelling, such as dry_run.
func IsDryRun(name string) bool { return strings.EqualFold(nameSeparators.Replace(name), "dryRun") }

// nameSeparators removes underscores, hyphens and spaces from a member name.
var nameSeparators = strings.NewReplacer("_", "", "-", "", " ", "")

// OptFlag reads an optional boolean; false if it is absent or null.
func OptFlag(o httpx.Object, name string) bool {
	v := o.OptBool(name)
	return v != nil && *v
}

// Limit reads the tool argument "limit", which is from 1 to most. It returns preset if the argument is absent. Tools reject other
// values, because their schemas state the bounds. Routes use the nearest valid value instead.
func Limit(o httpx.Object, preset, most int) int {
	if n := o.OptInt("limit", 1, int64(most)); n != nil {
		return int(*n)
	}
	return preset
}
