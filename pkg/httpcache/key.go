package httpcache

import (
	"net/url"
	"strings"
)

// Param is a query parameter that is part of a cache key. Clean normalizes its value, so that equivalent queries share a key.
// If the parameter is absent, Clean receives "".
type Param struct {
	Name  string
	Clean func(string) string
}

// maxQuery is the maximum length of a query in bytes. A longer query is treated as empty.
const maxQuery = 4096

// Query returns the cleaned values of params in a raw query, in the order of params. The first value of a repeated
// parameter is used. Unknown parameters are ignored. A parameter that cannot be decoded is treated as absent.
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

// Has reports whether a raw query contains a parameter, with any value or none.
func Has(raw, parameter string) bool {
	plain := !strings.ContainsAny(raw, "%+")
	for pair := range strings.SplitSeq(raw, "&") {
		name, _, _ := strings.Cut(pair, "=")
		if name, ok := unescape(name, plain); ok && name == parameter {
			return true
		}
	}
	return false
}

func unescape(s string, plain bool) (string, bool) {
	if plain {
		return s, true
	}
	u, err := url.QueryUnescape(s)
	return u, err == nil
}

// Params returns one Param for each name. Its Clean function returns every value unchanged.
func Params(names ...string) []Param {
	out := make([]Param, len(names))
	for i, name := range names {
		out[i] = Param{Name: name, Clean: func(v string) string { return v }}
	}
	return out
}

// JoinKey joins the values of a query into one cache key. It separates them by NUL bytes.
func JoinKey(parts ...string) string { return strings.Join(parts, "\x00") }
