package httpx

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"maps"
	"net/http"
	"slices"
	"strconv"

	"github.com/labstack/echo/v4"

	"github.com/signalcast/signalcast/pkg/apperr"
)

// Errors of the router.
var (
	ErrNotFound   = apperr.New(apperr.NotFound, "not_found", "there is no resource at this path")
	ErrNotAllowed = apperr.New(apperr.NotAllowed, "method_not_allowed",
		"this path does not support the method; the header Allow lists the supported methods")
	ErrTimeout = apperr.New(apperr.Unavailable, "signal_service_unavailable", "the service did not answer in time; retry later")
)

// statusClientClosed is the status that metrics and logs contain for a request whose client disconnected before the response. It
// is not sent.
const statusClientClosed = 499

// statuses maps kinds of faults to HTTP statuses.
var statuses = map[apperr.Kind]int{
	apperr.Invalid:         http.StatusBadRequest,
	apperr.Unauthenticated: http.StatusUnauthorized,
	apperr.Forbidden:       http.StatusForbidden,
	apperr.NotFound:        http.StatusNotFound,
	apperr.NotAllowed:      http.StatusMethodNotAllowed,
	apperr.Conflict:        http.StatusConflict,
	apperr.Gone:            http.StatusGone,
	apperr.TooLarge:        http.StatusRequestEntityTooLarge,
	apperr.Unsupported:     http.StatusUnsupportedMediaType,
	apperr.Limited:         http.StatusTooManyRequests,
	apperr.NotImplemented:  http.StatusNotImplemented,
	apperr.Unavailable:     http.StatusServiceUnavailable,
}

// Status returns the HTTP status of a kind of fault. It is 500 for internal faults.
func Status(k apperr.Kind) int { return cmp.Or(statuses[k], http.StatusInternalServerError) }

// faultOf returns the fault of an error. An echo.HTTPError becomes the corresponding fault of this package, and an exceeded
// deadline becomes ErrTimeout. Every other error becomes apperr.ErrInternal.
func faultOf(err error) *apperr.Fault {
	var f *apperr.Fault
	if errors.As(err, &f) {
		return f
	}
	var he *echo.HTTPError
	if errors.As(err, &he) {
		switch he.Code {
		case http.StatusNotFound:
			return ErrNotFound
		case http.StatusMethodNotAllowed:
			return ErrNotAllowed
		case http.StatusRequestEntityTooLarge:
			return ErrTooLarge
		case http.StatusUnsupportedMediaType:
			return ErrMediaType
		}
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return ErrTimeout.Wrap(err)
	}
	return apperr.Of(err)
}

// WriteError writes err as the JSON response { error, message?, …extra } with Cache-Control: no-store. A 401 response has
// WWW-Authenticate, and a 429 or 503 response has Retry-After. WriteError returns the status. If the response has already
// started, WriteError writes nothing.
func WriteError(c echo.Context, err error) int {
	f := faultOf(err)
	status := Status(f.Kind)
	if c.Response().Committed {
		return status
	}
	h := c.Response().Header()
	h["Cache-Control"] = noStore
	h.Del("Etag")
	h.Del("Content-Encoding")
	switch f.Kind {
	case apperr.Unauthenticated:
		if h.Get("WWW-Authenticate") == "" { // a handler may have set a more precise one
			h["Www-Authenticate"] = []string{"Bearer"}
		}
	case apperr.Limited, apperr.Unavailable:
		if h.Get("Retry-After") == "" {
			h["Retry-After"] = []string{strconv.FormatInt(RetrySeconds(f), 10)}
		}
	}
	body := buffers.Get().(*bytes.Buffer)
	defer release(body)
	writeFault(body, f)
	// The status is recorded even if the client has disconnected.
	_ = Blob(c, status, body.Bytes())
	return status
}

// ErrorBody returns the JSON body that WriteError would write for err, for responses that contain it as a part.
func ErrorBody(err error) []byte {
	var b bytes.Buffer
	writeFault(&b, faultOf(err))
	return b.Bytes()
}

// RetrySeconds returns the extra member retryAfterMs of f in seconds, rounded up and at least 1.
func RetrySeconds(f *apperr.Fault) int64 {
	var ms int64
	switch v := f.Extra["retryAfterMs"].(type) {
	case int:
		ms = int64(v)
	case int32:
		ms = int64(v)
	case int64:
		ms = v
	case float64: // decoded from JSON
		ms = int64(v)
	}
	return max(1, (ms+999)/1000)
}

// writeFault writes f as a JSON object: error, message, then the extra members sorted by name. An internal fault has
// only error and message.
func writeFault(b *bytes.Buffer, f *apperr.Fault) {
	code := f.Code
	message := f.Message
	if f.Kind == apperr.Internal {
		code, message = apperr.ErrInternal.Code, apperr.ErrInternal.Message
	}
	b.WriteString(`{"error":`)
	writeValue(b, code)
	if message != "" {
		b.WriteString(`,"message":`)
		writeValue(b, message)
	}
	if f.Kind != apperr.Internal {
		for _, name := range slices.Sorted(maps.Keys(f.Extra)) {
			if name == "error" || name == "message" {
				continue
			}
			b.WriteByte(',')
			writeValue(b, name)
			b.WriteByte(':')
			writeValue(b, f.Extra[name])
		}
	}
	b.WriteByte('}')
}

// writeValue writes v as JSON. It writes null if v cannot be encoded.
func writeValue(b *bytes.Buffer, v any) {
	before := b.Len()
	if err := marshal(b, v); err != nil {
		b.Truncate(before)
		b.WriteString("null")
	}
}
