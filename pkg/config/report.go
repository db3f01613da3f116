package config

import (
	"context"
	"net"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

// MinSecret is the minimum length of a secret in bytes.
const MinSecret = 32

// Report collects invalid settings. Its texts contain names of settings and never values.
type Report struct {
	env      Env
	mistakes []string
	secrets  []named
}

type named struct{ name, value string }

// Env returns the environment of the process (development, test or production).
func (r *Report) Env() Env { return r.env }

// Fail adds a mistake: the name of the setting and the reason why it is invalid.
func (r *Report) Fail(name, why string) { r.mistakes = append(r.mistakes, name+" "+why) }

// Secret adds a mistake unless s is set and passes the checks of OptSecret.
func (r *Report) Secret(name string, s Secret) {
	if !s.IsSet() {
		r.Fail(name, "is not set")
		return
	}
	r.OptSecret(name, s)
}

// OptSecret adds a mistake if s is set and is shorter than MinSecret, has fewer than 8 different bytes, or begins or
// ends with white space. In production it also rejects known example values. LoadFrom later rejects two settings with
// the same secret.
func (r *Report) OptSecret(name string, s Secret) {
	if !s.IsSet() {
		return
	}
	v := s.Reveal()
	switch {
	case len(v) < MinSecret:
		r.Fail(name, "must have at least "+strconv.Itoa(MinSecret)+" bytes")
	case distinctBytes(v) < 8:
		r.Fail(name, "must have at least 8 different bytes")
	case r.env.Production() && looksLikeExample(v):
		r.Fail(name, "is an example value; generate a random one")
	case v != strings.TrimSpace(v):
		r.Fail(name, "begins or ends with white space")
	}
	r.secrets = append(r.secrets, named{name, v})
}

// Secrets adds a mistake if list is empty, and for each secret that fails the checks of Secret.
func (r *Report) Secrets(name string, list []Secret) {
	if len(list) == 0 {
		r.Fail(name, "is not set")
	}
	for i, s := range list {
		r.Secret(name+"["+strconv.Itoa(i)+"]", s)
	}
}

// rejectDuplicateSecrets adds a mistake for each pair of settings with the same secret. A leak of one would also reveal the
// other.
func (r *Report) rejectDuplicateSecrets() {
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
		"change", "default", "development", "do-not-use", "example", "insecure", "local-", "password", "placeholder", "replace",
		"secret", "test",
	}, func(word string) bool { return strings.Contains(s, word) })
}

// URL adds a mistake unless raw is an absolute URL with a host and one of the given schemes. User information is
// rejected, because URLs are printed in logs and would reveal a password.
func (r *Report) URL(name, raw string, schemes ...string) {
	u, err := url.Parse(raw)
	switch {
	case raw == "":
		r.Fail(name, "is not set")
	case err != nil || u.Host == "" || u.Opaque != "" || !slices.Contains(schemes, u.Scheme):
		r.Fail(name, "must be a URL that begins with "+strings.Join(schemes, ":// or ")+":// and a host")
	case u.User != nil:
		r.Fail(name, "must not contain a user name or password")
	}
}

// OptURL is like URL for an optional setting: an empty raw is valid.
func (r *Report) OptURL(name, raw string, schemes ...string) {
	if raw != "" {
		r.URL(name, raw, schemes...)
	}
}

// PublicURL adds a mistake unless raw is the public base URL of a service: https (in development and test also http),
// without query and fragment, and without a path other than "/". The host name must not end in a dot, because browsers
// treat a name with that dot as another origin.
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

// DSN adds a mistake unless s is a URL with one of the given schemes, such as that of a database. The URL may contain a password
// and is therefore a Secret.
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

// Addr adds a mistake unless addr is host:port with a port from 0 to 65535.
func (r *Report) Addr(name, addr string) {
	if addr == "" {
		r.Fail(name, "is not set")
		return
	}
	if _, port, err := net.SplitHostPort(addr); err != nil || !isPort(port) {
		r.Fail(name, "must be host:port with a port from 0 to 65535")
	}
}

// OptAddr is like Addr for an optional setting: an empty addr is valid.
func (r *Report) OptAddr(name, addr string) {
	if addr != "" {
		r.Addr(name, addr)
	}
}

// PrivateAddr is like OptAddr for a listener that only administrators may reach. The host must be a private, loopback or
// link-local address, or a name of such addresses only. An empty or unspecified host (0.0.0.0, ::) accepts connections on every
// interface. A name that cannot be resolved is no mistake here: the listener cannot use it.
func (r *Report) PrivateAddr(name, addr string) {
	if addr == "" {
		return
	}
	before := len(r.mistakes)
	if r.Addr(name, addr); len(r.mistakes) > before {
		return
	}
	host, _, _ := net.SplitHostPort(addr) // Addr has checked that it splits
	ip, err := netip.ParseAddr(host)
	switch {
	case host == "" || err == nil && ip.IsUnspecified():
		r.Fail(name, "must not listen on every interface")
		return
	case err == nil && !isPrivate(ip):
		r.Fail(name, "must be a private, loopback or link-local address; "+host+" is public")
		return
	case err == nil:
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), lookUpTimeout)
	defer cancel()
	found, _ := net.DefaultResolver.LookupNetIP(ctx, "ip", host)
	for _, ip := range found {
		if !isPrivate(ip) {
			r.Fail(name, "must name private, loopback or link-local addresses only; "+host+" has the public address "+ip.Unmap().String())
			return
		}
	}
}

// lookUpTimeout is the timeout for resolving the name of a listener.
const lookUpTimeout = 2 * time.Second

func isPrivate(ip netip.Addr) bool {
	ip = ip.Unmap()
	return ip.IsPrivate() || ip.IsLoopback() || ip.IsLinkLocalUnicast()
}

// Proxies adds a mistake for each range of trusted proxies that is larger than /8. Trusting almost every peer would
// let callers choose their IP address.
func (r *Report) Proxies(name string, ranges []netip.Prefix) {
	for _, p := range ranges {
		if p.Bits() < 8 {
			r.Fail(name, "must not contain a range larger than /8")
		}
	}
}

// Between adds a mistake unless low <= n <= high.
func (r *Report) Between(name string, n, low, high int) {
	if n < low || n > high {
		r.Fail(name, "must be from "+strconv.Itoa(low)+" to "+strconv.Itoa(high))
	}
}

// OneOf adds a mistake unless value equals one of words. The comparison is case-sensitive.
func (r *Report) OneOf(name, value string, words ...string) {
	if !slices.Contains(words, value) {
		r.Fail(name, "must be one of "+strings.Join(words, ", "))
	}
}

func isPort(s string) bool {
	n, err := strconv.ParseUint(s, 10, 16)
	return err == nil && strconv.FormatUint(n, 10) == s
}
