package httpx

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strconv"
	"sync"

	"github.com/labstack/echo/v4"
)

// maxPooled keeps one huge answer from holding its buffer for ever.
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

// Marshal encodes as answers do: no escaping of <, > and &, no line end.
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

// JSON answers with v. It encodes first and writes then: a value that does not
// encode is an error and no half answer.
func JSON(c echo.Context, status int, v any) error {
	b := buffers.Get().(*bytes.Buffer)
	defer release(b)
	if err := marshal(b, v); err != nil {
		return err
	}
	return Blob(c, status, b.Bytes())
}

// OK answers 200 with v.
func OK(c echo.Context, v any) error { return JSON(c, http.StatusOK, v) }

// Blob answers with JSON that is already encoded.
func Blob(c echo.Context, status int, body []byte) error {
	h := c.Response().Header()
	h["Content-Type"] = jsonType
	h["Content-Length"] = []string{strconv.Itoa(len(body))}
	c.Response().WriteHeader(status)
	_, err := c.Response().Write(body)
	return err
}

// OrNull returns a pointer to v; nil for the zero value, which JSON shows as null or leaves out.
func OrNull[T comparable](v T) *T {
	var zero T
	if v == zero {
		return nil
	}
	return &v
}
