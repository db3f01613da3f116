package httpx

import (
	"net/url"
	"strings"
	"unicode/utf8"

	"github.com/google/uuid"
	"github.com/labstack/echo/v4"
)

// validRequestID reports whether a client may choose s as request id: a UUID, or 32 hexadecimal digits (a trace id).
// Other text could be used to inject content into logs.
func validRequestID(s string) bool { return (len(s) == 36 || len(s) == 32) && uuid.Validate(s) == nil }

// cleanParams decodes path parameters once. It returns ErrNotFound for a parameter that contains a slash, NUL or invalid UTF-8.
// The parameter "*" (the rest of a path) may contain any characters and is not changed.
func cleanParams(c echo.Context) error {
	values := c.ParamValues()
	if len(values) == 0 {
		return nil
	}
	escaped := c.Request().URL.RawPath != ""
	var out []string
	names := c.ParamNames()
	for i, v := range values {
		if names[i] == "*" { // the rest of a path may contain any characters
			continue
		}
		s := v
		if escaped && strings.IndexByte(v, '%') >= 0 {
			var err error
			if s, err = url.PathUnescape(v); err != nil {
				return ErrNotFound
			}
		}
		if strings.ContainsAny(s, "/\x00") || !utf8.ValidString(s) {
			return ErrNotFound
		}
		if s != v {
			if out == nil {
				out = append(out, values...)
			}
			out[i] = s
		}
	}
	if out != nil {
		c.SetParamValues(out...)
	}
	return nil
}

// secretParams contains the query parameters whose values are never logged.
var secretParams = map[string]bool{
	"secret": true, "token": true, "t": true, "code": true, "key": true, "state": true, "signature": true,
	"access_token": true, "refresh_token": true, "id_token": true, "client_secret": true,
	"code_verifier": true, "code_challenge": true, "return_to": true, "authorization": true, "cookie": true, "password": true,
}

// withoutQuery replaces the query of a URL in a parameter value by "-", because that query may contain secret parameters.
func withoutQuery(value string) string {
	for _, mark := range [...]string{"?", "%3F", "%3f"} {
		if before, _, found := strings.Cut(value, mark); found {
			value = before + mark + "-"
		}
	}
	return value
}

// safeQuery returns the query for the access log, cut to about 512 bytes. It replaces the values of secret parameters with "-",
// and names that cannot be decoded with "?".
func safeQuery(raw string) string {
	const most = 512
	if raw == "" {
		return ""
	}
	var b strings.Builder
	for pair := range strings.SplitSeq(raw, "&") {
		if b.Len() > 0 {
			b.WriteByte('&')
		}
		name, value, _ := strings.Cut(pair, "=")
		plain, err := url.QueryUnescape(name)
		if err != nil {
			b.WriteString("?")
			continue
		}
		b.WriteString(name)
		if plain = strings.ToLower(plain); secretParams[plain] || strings.Contains(plain, "secret") || strings.Contains(plain, "token") {
			value = "-"
		}
		value = withoutQuery(value)
		if value != "" {
			b.WriteByte('=')
			b.WriteString(value)
		}
		if b.Len() > most {
			return b.String()[:most]
		}
	}
	return b.String()
}
