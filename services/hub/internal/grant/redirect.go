package grant

import (
	"net/netip"
	"net/url"
	"strconv"
	"strings"
)

const maxURI = 512

// loopbacks are the only hosts for which plain http is permitted. They are literal addresses, because a name such as localhost
// can resolve to another machine (RFC 8252 8.3).
var loopbacks = []string{"http://127.0.0.1", "http://[::1]"}

// checkRedirectURI reports whether an app may register this redirect URI: an https URI, an http URI of a loopback address, or
// a URI with a private scheme.
func checkRedirectURI(text string) bool {
	u, ok := plainURI(text)
	if !ok || u.RawQuery != "" && hasAnswerParameter(u) {
		return false
	}
	switch {
	case u.Scheme == "https":
		return strings.HasPrefix(text, "https://") && u.Host != "" && goodPort(u) && !isLocalName(u.Hostname())
	case u.Scheme == "http":
		_, _, ok := splitLoopback(text)
		return ok
	}
	// A private scheme must be a reversed domain name, which contains a dot (RFC 8252 7.1). This rule also refuses javascript:
	// and data:.
	return strings.Contains(u.Scheme, ".") && strings.HasPrefix(text, u.Scheme+":/") && u.Port() == ""
}

// plainURI parses an absolute URI of at most maxURI characters. It returns false for characters and encodings that parsers
// interpret differently.
func plainURI(text string) (*url.URL, bool) {
	if text == "" || len(text) > maxURI || strings.ContainsAny(text, "#*\\<>\"'`{}|^") {
		return nil, false
	}
	for i := range len(text) {
		if text[i] <= ' ' || text[i] > '~' {
			return nil, false
		}
	}
	for i := 0; i+2 < len(text); i++ { // encoded control characters
		if text[i] == '%' && (text[i+1] == '0' || text[i+1] == '1' || strings.EqualFold(text[i:i+3], "%7f")) {
			return nil, false
		}
	}
	u, err := url.Parse(text)
	if err != nil || u.Scheme == "" || u.Opaque != "" || u.User != nil || strings.Contains(u.Host, "@") {
		return nil, false
	}
	for segment := range strings.SplitSeq(u.Path, "/") {
		if segment == "." || segment == ".." {
			return nil, false
		}
	}
	return u, true
}

// hasAnswerParameter reports whether the query contains a parameter that an authorization response adds. It is also true for an
// invalid query.
func hasAnswerParameter(u *url.URL) bool {
	q, err := url.ParseQuery(u.RawQuery)
	if err != nil {
		return true
	}
	for _, name := range [...]string{"code", "state", "iss", "error", "error_description"} {
		if q.Has(name) {
			return true
		}
	}
	return false
}

func goodPort(u *url.URL) bool {
	return !strings.HasSuffix(u.Host, ":") && (u.Port() == "" || isPort(u.Port()))
}

func isPort(text string) bool {
	n, err := strconv.ParseUint(text, 10, 16)
	return err == nil && n > 0 && text == strconv.FormatUint(n, 10)
}

// isLocalName reports whether host is empty, localhost, a name under localhost, or an unspecified IP address.
func isLocalName(host string) bool {
	host = strings.ToLower(strings.TrimRight(host, "."))
	if addr, err := netip.ParseAddr(host); err == nil {
		return addr.IsUnspecified()
	}
	return host == "" || host == "localhost" || strings.HasSuffix(host, ".localhost")
}

// splitLoopback splits a URI with a loopback host into its origin without a port, and the rest after the port. It returns false
// for other URIs.
func splitLoopback(text string) (origin, rest string, ok bool) {
	for _, origin := range loopbacks {
		rest, found := strings.CutPrefix(text, origin)
		if !found {
			continue
		}
		if after, hasPort := strings.CutPrefix(rest, ":"); hasPort {
			end := strings.IndexAny(after, "/?")
			if end < 0 {
				end = len(after)
			}
			if !isPort(after[:end]) {
				return "", "", false
			}
			rest = after[end:]
		}
		if rest != "" && rest[0] != '/' && rest[0] != '?' {
			return "", "", false
		}
		return origin, rest, true
	}
	return "", "", false
}

// matchRedirectURI reports whether given equals the registered redirect URI. The port of a loopback address may differ, because a
// native app gets its port at run time (RFC 8252 7.3).
func matchRedirectURI(registered, given string) bool {
	if registered == given {
		return true
	}
	origin, rest, ok := splitLoopback(registered)
	if !ok || len(given) > maxURI {
		return false
	}
	givenOrigin, givenRest, ok := splitLoopback(given)
	return ok && origin == givenOrigin && rest == givenRest
}

// isClaimed reports whether only the owner of a domain receives requests to the redirect URI. This is the case for https.
func isClaimed(redirectURI string) bool { return strings.HasPrefix(redirectURI, "https://") }

// withQuery appends the parameters of an authorization response to a redirect URI, after its existing query.
func withQuery(redirectURI string, answer [][2]string) string {
	var b strings.Builder
	b.WriteString(redirectURI)
	sep := "?"
	if strings.Contains(redirectURI, "?") {
		sep = "&"
	}
	for _, pair := range answer {
		b.WriteString(sep + url.QueryEscape(pair[0]) + "=" + url.QueryEscape(pair[1]))
		sep = "&"
	}
	return b.String()
}
