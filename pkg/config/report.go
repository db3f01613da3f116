package config

import (
	"net"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// MinSecret is the least length of a secret in bytes.
const MinSecret = 32

// Report collects mistakes. No method writes a value into it.
type Report struct {
	env      Env
	mistakes []string
	secrets  []named
}

type named struct{ name, value string }

// Env is the kind of place the process runs in.
func (r *Report) Env() Env { return r.env }

// Fail writes down one mistake: the setting's name and what is wrong with it.
func (r *Report) Fail(name, why string) { r.mistakes = append(r.mistakes, name+" "+why) }

// Secret demands a secret: set, long enough, not made of a few characters, in
// production not a known example, and unlike every other secret.
func (r *Report) Secret(name string, s Secret) {
	if !s.IsSet() {
		r.Fail(name, "is not set")
		return
	}
	r.OptSecret(name, s)
}

// OptSecret is Secret for one that may be missing.
func (r *Report) OptSecret(name string, s Secret) {
	if !s.IsSet() {
		return
	}
	v := s.Reveal()
	switch {
	case len(v) < MinSecret:
		r.Fail(name, "must have at least "+strconv.Itoa(MinSecret)+" bytes")
	case distinctBytes(v) < 8:
		r.Fail(name, "is too simple")
	case r.env.Production() && looksLikeExample(v):
		r.Fail(name, "is an example; make a random one")
	case v != strings.TrimSpace(v):
		r.Fail(name, "begins or ends with white space")
	}
	r.secrets = append(r.secrets, named{name, v})
}

// Secrets demands at least one secret, each as good as Secret demands.
func (r *Report) Secrets(name string, list []Secret) {
	if len(list) == 0 {
		r.Fail(name, "is not set")
	}
	for i, s := range list {
		r.Secret(name+"["+strconv.Itoa(i)+"]", s)
	}
}

// distinct refuses one value under two names: who learns one would know both.
func (r *Report) distinct() {
	for i, a := range r.secrets {
		for _, b := range r.secrets[:i] {
			if a.value == b.value {
				r.Fail(b.name, "and "+a.name+" are the same secret")
			}
		}
	}
}

func distinctBytes(s string) int {
	var seen [256]bool
	n := 0
	for i := range len(s) {
		if !seen[s[i]] {
			seen[s[i]] = true
			n++
		}
	}
	return n
}

func looksLikeExample(s string) bool {
	s = strings.ToLower(s)
	return slices.ContainsFunc([]string{
		"change", "default", "development", "do-not-use", "example", "insecure", "local-", "password", "placeholder", "replace", "secret", "test",
	}, func(word string) bool { return strings.Contains(s, word) })
}

// URL demands an absolute URL with a host and one of the schemes, without user
// information (it would be a secret in a place that is printed).
func (r *Report) URL(name, raw string, schemes ...string) {
	u, err := url.Parse(raw)
	switch {
	case raw == "":
		r.Fail(name, "is not set")
	case err != nil || u.Host == "" || u.Opaque != "" || !slices.Contains(schemes, u.Scheme):
		r.Fail(name, "must be a URL that begins with "+strings.Join(schemes, ":// or ")+"://")
	case u.User != nil:
		r.Fail(name, "must not contain a user name or password")
	}
}

// OptURL is URL for a setting that may be missing.
func (r *Report) OptURL(name, raw string, schemes ...string) {
	if raw != "" {
		r.URL(name, raw, schemes...)
	}
}

// PublicURL demands the base URL of a service as callers know it: https in
// production, no path but "/", no query, no fragment. The host name must not end
// in a dot, because browsers treat such a name as another origin.
func (r *Report) PublicURL(name, raw string) {
	before := len(r.mistakes)
	if r.env.Production() {
		r.URL(name, raw, "https")
	} else {
		r.URL(name, raw, "https", "http")
	}
	if len(r.mistakes) > before {
		return
	}
	u, err := url.Parse(raw)
	if err != nil || u.Path != "" && u.Path != "/" || u.RawQuery != "" || u.Fragment != "" {
		r.Fail(name, "must be a base URL without path, query and fragment")
	} else if u.Hostname() == "" || strings.HasSuffix(u.Hostname(), ".") {
		r.Fail(name, "must have a host name without a dot at its end")
	}
}

// DSN demands the URL of a database or cache; it may hold a password, so it
// must be kept in a Secret. In production that password must not be missing.
func (r *Report) DSN(name string, s Secret, schemes ...string) {
	if !s.IsSet() {
		r.Fail(name, "is not set")
		return
	}
	u, err := url.Parse(s.Reveal())
	if err != nil || u.Opaque != "" || !slices.Contains(schemes, u.Scheme) {
		r.Fail(name, "must be a URL that begins with "+strings.Join(schemes, ":// or ")+"://")
	}
}

// Addr demands host:port with a port from 0 to 65535.
func (r *Report) Addr(name, addr string) {
	if addr == "" {
		r.Fail(name, "is not set")
		return
	}
	if _, port, err := net.SplitHostPort(addr); err != nil || !isPort(port) {
		r.Fail(name, "must be host:port")
	}
}

// OptAddr is Addr for a setting that may be missing.
func (r *Report) OptAddr(name, addr string) {
	if addr != "" {
		r.Addr(name, addr)
	}
}

// PrivateAddr is OptAddr for a listener that only operators may reach: it must
// name the interface, because an empty or all-zero host listens to everybody.
func (r *Report) PrivateAddr(name, addr string) {
	if addr == "" {
		return
	}
	before := len(r.mistakes)
	if r.Addr(name, addr); len(r.mistakes) > before {
		return
	}
	host, _, _ := net.SplitHostPort(addr) // Addr has read it
	ip, err := netip.ParseAddr(host)
	if host == "" || err == nil && ip.IsUnspecified() {
		r.Fail(name, "must not listen on every interface")
	}
}

// Proxies demands ranges that are smaller than the whole internet: to believe
// every peer is to let every caller choose its address.
func (r *Report) Proxies(name string, ranges []netip.Prefix) {
	for _, p := range ranges {
		if p.Bits() < 8 {
			r.Fail(name, "must not hold a range larger than /8")
		}
	}
}

// Between demands a number within bounds.
func (r *Report) Between(name string, n, low, high int) {
	if n < low || n > high {
		r.Fail(name, "must be from "+strconv.Itoa(low)+" to "+strconv.Itoa(high))
	}
}

// OneOf demands one of the words.
func (r *Report) OneOf(name, value string, words ...string) {
	if !slices.Contains(words, value) {
		r.Fail(name, "must be one of "+strings.Join(words, ", "))
	}
}

func isPort(s string) bool {
	n, err := strconv.ParseUint(s, 10, 16)
	return err == nil && strconv.FormatUint(n, 10) == s
}
