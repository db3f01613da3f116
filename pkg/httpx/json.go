package httpx

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strconv"
	"sync"

	"github.com/labstack/echo/v4"
)

// maxPooled is the maximum capacity in bytes of a buffer that is returned to the pool, so that one large response
// does not occupy memory permanently.
const maxPooled = 256 << 10

var buffers = sync.Pool{New: func() any { return new(bytes.Buffer) }}

func release(b *bytes.Buffer) {
	if b.Cap() <= maxPooled {
		b.Reset()
		buffers.Put(b)
	}
}

var (
	jsonType = []string{"application/json; charset=utf-8"}
	noStore  = []string{"no-store"}
)

// Marshal returns v as JSON without escaping of <, > and & and without a final newline. JSON responses have the same form.
func Marshal(v any) ([]byte, error) {
	var b bytes.Buffer
	if err := marshal(&b, v); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

func marshal(b *bytes.Buffer, v any) error {
	enc := json.NewEncoder(b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return err
	}
	b.Truncate(b.Len() - 1)
	return nil
}

// JSON responds with a status and v as JSON. It encodes v before it writes. If v cannot be encoded, it returns an error and
// writes nothing.
func JSON(c echo.Context, status int, v any) error {
	b := buffers.Get().(*bytes.Buffer)
	defer release(b)
	if err := marshal(b, v); err != nil {
		return err
	}
	return Blob(c, status, b.Bytes())
}

// OK responds with status 200 and v as JSON.
func OK(c echo.Context, v any) error { return JSON(c, http.StatusOK, v) }

// Blob responds with a status and a body that is already encoded as JSON.
func Blob(c echo.Context, status int, body []byte) error {
	h := c.Response().Header()
	h["Content-Type"] = jsonType
	h["Content-Length"] = []string{strconv.Itoa(len(body))}
	c.Response().WriteHeader(status)
	_, err := c.Response().Write(body)
	return err
}

// OrNull returns a pointer to v, or nil if v is the zero value. JSON encodes nil as null or omits it.
func OrNull[T comparable](v T) *T {
	var zero T
	if v == zero {
		return nil
	}
	return &v
}
