package httpx

import (
	"errors"
	"io"
	"mime"
	"net/http"
	"strings"

	"github.com/labstack/echo/v4"

	"github.com/signalcast/signalcast/pkg/apperr"
)

// BodyLimit is the size of a request body where no route says otherwise.
const BodyLimit = 64 << 10

// Faults of reading a body.
var (
	ErrMediaType = apperr.New(apperr.Unsupported, "unsupported_media_type", "content type must be application/json")
	ErrTooLarge  = apperr.New(apperr.TooLarge, "payload_too_large", "body is too large")
)

// Decode reads a required JSON body with the strict reader: one object of at
// most limit bytes, valid UTF-8 without NUL or half surrogates, no duplicate
// member, nothing behind it. Members in other case count as unknown; unknown
// members are ignored.
// Faults: ErrMediaType, ErrTooLarge, ErrBody.
func Decode(c echo.Context, limit int64) (Object, error) {
	r := c.Request()
	if err := jsonOnly(r.Header); err != nil {
		return Object{}, err
	}
	b, err := ReadBody(c, limit)
	if err != nil {
		return Object{}, err
	}
	return DecodeBytes(b)
}

// DecodeOptional is Decode for routes whose body may be missing: no body is an object without members and needs no content
// type. The flag reports whether there was a body.
func DecodeOptional(c echo.Context, limit int64) (Object, bool, error) {
	if c.Request().ContentLength == 0 {
		return Object{first: new(*apperr.Fault)}, false, nil
	}
	b, err := ReadBody(c, limit)
	if err != nil {
		return Object{}, false, err
	}
	if len(b) == 0 {
		return Object{first: new(*apperr.Fault)}, false, nil
	}
	if err := jsonOnly(c.Request().Header); err != nil {
		return Object{}, true, err
	}
	o, err := DecodeBytes(b)
	return o, true, err
}

// ReadBody reads at most limit bytes; a compressed body is refused before it
// is opened. Faults: ErrTooLarge, ErrMediaType, ErrBody when the client
// breaks off.
func ReadBody(c echo.Context, limit int64) ([]byte, error) {
	r := c.Request()
	if enc := r.Header.Get("Content-Encoding"); enc != "" && !strings.EqualFold(enc, "identity") {
		return nil, ErrMediaType.Say("compressed bodies are not taken")
	}
	if r.ContentLength > limit {
		return nil, ErrTooLarge
	}
	body := http.MaxBytesReader(c.Response().Writer, r.Body, limit)
	size := r.ContentLength
	if size < 0 {
		size = 512
	}
	// Grown as data arrives: a promised length alone claims no memory.
	b := make([]byte, 0, min(size+1, 4096))
	for {
		if len(b) == cap(b) {
			b = append(b, 0)[:len(b)]
		}
		n, err := body.Read(b[len(b):cap(b)])
		b = b[:len(b)+n]
		var large *http.MaxBytesError
		switch {
		case err == nil:
		case errors.Is(err, io.EOF):
			return b, nil
		case errors.As(err, &large):
			return nil, ErrTooLarge
		default:
			return nil, ErrBody.Say("body ended early").Wrap(err)
		}
	}
}

func jsonOnly(h http.Header) error {
	values := h["Content-Type"]
	if len(values) != 1 {
		return ErrMediaType
	}
	if values[0] == "application/json" {
		return nil
	}
	kind, params, err := mime.ParseMediaType(values[0])
	if err != nil || kind != "application/json" {
		return ErrMediaType
	}
	if cs, ok := params["charset"]; ok && !strings.EqualFold(cs, "utf-8") {
		return ErrMediaType
	}
	return nil
}
