package web

import (
	"mime"
	"net/http"
	"net/url"
	"strings"
	"unicode/utf8"

	"github.com/labstack/echo/v4"
)

// Values reads the body of the few routes that take a form as well as JSON:
// the names and texts of an urlencoded form, or the string members of a JSON
// object. A name that comes twice, broken UTF-8 and NUL are refused as they
// are in JSON. A JSON member that is no string is refused, null is absent.
// Faults: ErrMediaType, ErrTooLarge, ErrBody.
func Values(c echo.Context, limit int64) (map[string]string, error) {
	if !isForm(c.Request().Header) {
		return stringMembers(c, limit)
	}
	body, err := ReadBody(c, limit)
	if err != nil {
		return nil, err
	}
	form, err := url.ParseQuery(string(body))
	if err != nil {
		return nil, ErrBody.Say("body is not a valid form")
	}
	out := make(map[string]string, len(form))
	for name, values := range form {
		switch {
		case len(values) != 1:
			return nil, errDuplicate
		case !utf8.ValidString(name) || !utf8.ValidString(values[0]):
			return nil, errUTF8
		case strings.ContainsRune(name+values[0], 0):
			return nil, errNUL
		}
		out[name] = values[0]
	}
	return out, nil
}

func isForm(h http.Header) bool {
	values := h["Content-Type"]
	if len(values) != 1 {
		return false
	}
	kind, _, err := mime.ParseMediaType(values[0])
	return err == nil && kind == "application/x-www-form-urlencoded"
}

func stringMembers(c echo.Context, limit int64) (map[string]string, error) {
	o, err := Decode(c, limit)
	if err != nil {
		return nil, err
	}
	out := make(map[string]string, len(o.spans))
	for _, name := range o.Names() {
		if s := o.OptString(name, int(limit)); s != nil {
			out[name] = *s
		}
	}
	if err := o.Err(); err != nil {
		return nil, err
	}
	return out, nil
}
