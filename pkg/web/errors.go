package web

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"maps"
	"net/http"
	"slices"
	"strconv"

	"github.com/labstack/echo/v4"

	"github.com/signalcast/signalcast/pkg/fault"
)

// Faults of the edge itself.
var (
	ErrNotFound   = fault.New(fault.NotFound, "not_found", "no such resource")
	ErrNotAllowed = fault.New(fault.NotAllowed, "method_not_allowed", "method is not allowed here")
	ErrTimeout    = fault.New(fault.Unavailable, "signal_service_unavailable", "the answer took too long")
)

// statusGone is recorded when the client left before an answer; nothing is sent.
const statusGone = 499

// Status is the HTTP status of a kind.
func Status(k fault.Kind) int {
	switch k {
	case fault.Invalid:
		return http.StatusBadRequest
	case fault.Unauthenticated:
		return http.StatusUnauthorized
	case fault.Forbidden:
		return http.StatusForbidden
	case fault.NotFound:
		return http.StatusNotFound
	case fault.NotAllowed:
		return http.StatusMethodNotAllowed
	case fault.Conflict:
		return http.StatusConflict
	case fault.Gone:
		return http.StatusGone
	case fault.TooLarge:
		return http.StatusRequestEntityTooLarge
	case fault.Unsupported:
		return http.StatusUnsupportedMediaType
	case fault.Limited:
		return http.StatusTooManyRequests
	case fault.NotImplemented:
		return http.StatusNotImplemented
	case fault.Unavailable:
		return http.StatusServiceUnavailable
	}
	return http.StatusInternalServerError
}

// faultOf turns any error into a fault; Echo's own errors into ours.
func faultOf(err error) *fault.Fault {
	var f *fault.Fault
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
	return fault.Of(err)
}

// WriteError answers with an error in the one shape, { error, message?,
// …extra }, with the headers that belong to its status. No error is ever
// stored by a cache. It returns the status; after the first byte of an answer
// it only returns it.
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
	case fault.Unauthenticated:
		if h.Get("WWW-Authenticate") == "" { // a handler may have said more
			h["Www-Authenticate"] = []string{"Bearer"}
		}
	case fault.Limited, fault.Unavailable:
		if h.Get("Retry-After") == "" {
			h["Retry-After"] = []string{strconv.FormatInt(retrySeconds(f), 10)}
		}
	}
	body := buffers.Get().(*bytes.Buffer)
	defer release(body)
	writeFault(body, f)
	// The status stands even when the client is no longer there to read it.
	_ = Blob(c, status, body.Bytes())
	return status
}

// ErrorBody is the body of the answer to an error, for answers that carry it inside.
func ErrorBody(err error) []byte {
	var b bytes.Buffer
	writeFault(&b, faultOf(err))
	return b.Bytes()
}

// retrySeconds rounds the extra retryAfterMs up to whole seconds, at least 1.
func retrySeconds(f *fault.Fault) int64 {
	var ms int64
	switch v := f.Extra["retryAfterMs"].(type) {
	case int:
		ms = int64(v)
	case int32:
		ms = int64(v)
	case int64:
		ms = v
	case float64: // as it arrives from another service
		ms = int64(v)
	}
	return max(1, (ms+999)/1000)
}

// writeFault writes error, message, then the extra members by name.
func writeFault(b *bytes.Buffer, f *fault.Fault) {
	code := f.Code
	message := f.Message
	if f.Kind == fault.Internal {
		code, message = fault.ErrInternal.Code, ""
	}
	b.WriteString(`{"error":`)
	writeValue(b, code)
	if message != "" {
		b.WriteString(`,"message":`)
		writeValue(b, message)
	}
	if f.Kind != fault.Internal {
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

func writeValue(b *bytes.Buffer, v any) {
	before := b.Len()
	enc := json.NewEncoder(b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		b.Truncate(before)
		b.WriteString("null")
		return
	}
	b.Truncate(b.Len() - 1)
}
