package protocol

import (
	"strings"

	"github.com/signalcast/signalcast/pkg/apperr"
)

// Provider names where a market lives.
type Provider string

// The providers. Manual is the service itself.
const (
	Polymarket Provider = "polymarket"
	Kalshi     Provider = "kalshi"
	Limitless  Provider = "limitless"
	Manifold   Provider = "manifold"
	Manual     Provider = "manual"
)

// Providers lists every provider in the order in which they are shown.
var Providers = [...]Provider{Polymarket, Kalshi, Limitless, Manifold, Manual}

// ParseProvider reads a provider name exactly.
func ParseProvider(s string) (Provider, bool) { return oneOf(s, Providers[:]...) }

// prefixes is the one table from id form to provider; the primary venue has
// bare digits and no prefix.
var prefixes = [...]struct {
	prefix   string
	provider Provider
}{
	{"kalshi-", Kalshi},
	{"lmt-", Limitless},
	{"manifold-", Manifold},
	{"native-", Manual},
}

const (
	maxMarketID = 128
	maxDigits   = 20
)

// ErrMarketID refuses an id of any other form.
var ErrMarketID = apperr.New(apperr.Invalid, "invalid_market_id", "market id has no known form").With("field", "marketId")

// MarketID is the public id of a market: digits, or a venue prefix and the
// venue's own key. It is case-sensitive, as the venues' keys are.
type MarketID string

// ParseMarketID accepts the five forms and nothing else.
// Fault: ErrMarketID (a read answers not_found instead).
func ParseMarketID(s string) (MarketID, error) {
	if len(s) == 0 || len(s) > maxMarketID {
		return "", ErrMarketID
	}
	if isDigits(s) {
		// A leading zero would make a second spelling of the same market.
		if len(s) > maxDigits || s[0] == '0' {
			return "", ErrMarketID
		}
		return MarketID(s), nil
	}
	for _, p := range prefixes {
		if key, ok := strings.CutPrefix(s, p.prefix); ok && isKey(key) {
			return MarketID(s), nil
		}
	}
	return "", ErrMarketID
}

// NewMarketID builds the public id from a provider and the provider's own key.
// Fault: ErrMarketID when the key does not fit the form.
func NewMarketID(p Provider, key string) (MarketID, error) {
	if p == Polymarket {
		if !isDigits(key) {
			return "", ErrMarketID
		}
		return ParseMarketID(key)
	}
	for _, row := range prefixes {
		if row.provider == p {
			return ParseMarketID(row.prefix + key)
		}
	}
	return "", ErrMarketID
}

// Provider tells where the market lives; empty for the zero value.
func (m MarketID) Provider() Provider {
	if m == "" {
		return ""
	}
	for _, p := range prefixes {
		if strings.HasPrefix(string(m), p.prefix) {
			return p.provider
		}
	}
	return Polymarket
}

// Prefix returns the start of the ids of a provider; empty for Polymarket, whose ids are digits.
func (p Provider) Prefix() string {
	for _, row := range prefixes {
		if row.provider == p {
			return row.prefix
		}
	}
	return ""
}

// NativeKey is the key that the provider itself uses.
func (m MarketID) NativeKey() string {
	for _, p := range prefixes {
		if key, ok := strings.CutPrefix(string(m), p.prefix); ok {
			return key
		}
	}
	return string(m)
}

// IsNative reports a market of the service's own.
func (m MarketID) IsNative() bool { return m.Provider() == Manual }

// String implements fmt.Stringer.
func (m MarketID) String() string { return string(m) }

func isDigits(s string) bool {
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return s != ""
}

// isKey wants a letter or digit first, so that no key can be "..", which an
// adapter would otherwise place in a request path.
func isKey(s string) bool {
	if s == "" || !isAlnum(s[0]) {
		return false
	}
	for i := range len(s) {
		if c := s[i]; !isAlnum(c) && c != ':' && c != '.' && c != '_' && c != '-' {
			return false
		}
	}
	return true
}

func isAlnum(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}
