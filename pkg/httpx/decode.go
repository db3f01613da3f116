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

// BodyLimit is the default maximum size of a request body in bytes.
const BodyLimit = 64 << 10

// Errors of Decode, DecodeOptional and ReadBody, in addition to ErrBody.
var (
	ErrMediaType = apperr.New(apperr.Unsupported, "unsupported_media_type",
		"the header Content-Type must be application/json, with no charset or charset=utf-8")
	ErrTooLarge = apperr.New(apperr.TooLarge, "payload_too_large", "body exceeds the size limit of this route")
)

// Decode reads a required JSON body. The body must be one object of at most limit bytes in valid UTF-8, without NUL,
// unpaired surrogates, duplicate members and data after the object. Member names are case-sensitive. Unknown members
// are ignored. Errors: ErrMediaType, ErrTooLarge, ErrBody.
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

// DecodeOptional is Decode for an optional body. An empty body needs no content type and is returned as an object
// without members. The second result reports whether there was a body.
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

// ReadBody reads a body of at most limit bytes. A compressed body is rejected before it is read. Errors: ErrTooLarge,
// ErrMediaType, and ErrBody if the body cannot be read to its end, for example because the client disconnected.
func ReadBody(c echo.Context, limit int64) ([]byte, error) {
	r := c.Request()
	if enc := r.Header.Get("Content-Encoding"); enc != "" && !strings.EqualFold(enc, "identity") {
		return nil, ErrMediaType.WithText("compressed bodies are not supported; send the body without Content-Encoding")
	}
	if r.ContentLength > limit {
		return nil, tooLarge(limit)
	}
	body := http.MaxBytesReader(c.Response().Writer, r.Body, limit)
	size := r.ContentLength
	if size < 0 {
		size = 512
	}
	// The buffer grows as data arrives, so that a client cannot reserve memory by announcing a large length.
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
			return nil, tooLarge(limit)
		default:
			return nil, ErrBody.WithText("body is incomplete; send it again").Wrap(err)
		}
	}
}

// tooLarge returns ErrTooLarge with the limit in its text. limit is in bytes, a multiple of 1 KiB.
func tooLarge(limit int64) error {
	return ErrTooLarge.WithText("body must be at most %d KiB", limit>>10)
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
