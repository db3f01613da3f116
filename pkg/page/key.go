package page

import (
	"net/url"
	"strings"
)

// Param is one query parameter that matters to a page. Clean turns any text,
// the empty one of an absent parameter too, into one of few values.
type Param struct {
	Name  string
	Clean func(string) string
}

// maxQuery is the length of a query that is worth reading.
const maxQuery = 4096

// Query reads the parameters of a raw query in the order of params, cleaned.
// The first of several values counts; unknown parameters are dropped; what
// cannot be read is absent.
func Query(raw string, params []Param) []string {
	out := make([]string, len(params))
	seen := 0
	if len(raw) > maxQuery {
		raw = ""
	}
	plain := !strings.ContainsAny(raw, "%+")
	for raw != "" {
		var pair string
		pair, raw, _ = strings.Cut(raw, "&")
		name, value, _ := strings.Cut(pair, "=")
		name, ok := unescape(name, plain)
		if !ok {
			continue
		}
		for i := range params {
			if params[i].Name != name || seen&(1<<i) != 0 {
				continue
			}
			if value, ok = unescape(value, plain); ok {
				out[i] = value
				seen |= 1 << i
			}
		}
	}
	for i := range params {
		out[i] = params[i].Clean(out[i])
	}
	return out
}

// Key is the normalised query: what two requests for the same page share,
// however they spelt it.
func Key(raw string, params ...Param) string {
	values := Query(raw, params)
	for i, v := range values {
		if strings.ContainsAny(v, "&%") { // else two pages could share a key
			values[i] = url.QueryEscape(v)
		}
	}
	return strings.Join(values, "&")
}

func unescape(s string, plain bool) (string, bool) {
	if plain {
		return s, true
	}
	u, err := url.QueryUnescape(s)
	return u, err == nil
}
