package protocol

import (
	"strings"

	"github.com/signalcast/signalcast/pkg/apperr"
)

// Provider is the venue of a market, or Manual for markets of the service itself.
type Provider string

// Providers of markets.
const (
	Polymarket Provider = "polymarket"
	Kalshi     Provider = "kalshi"
	Limitless  Provider = "limitless"
	Manifold   Provider = "manifold"
	Manual     Provider = "manual"
)

// Providers contains all providers in display order.
var Providers = [...]Provider{Polymarket, Kalshi, Limitless, Manifold, Manual}

// ParseProvider returns the provider s, or false for any other text.
func ParseProvider(s string) (Provider, bool) { return oneOf(s, Providers[:]...) }

// prefixes maps prefixes of market ids to providers. Ids of Polymarket consist of digits and have no prefix.
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

// MarketIDForm describes a valid market id. It follows the name of a member in error texts.
const MarketIDForm = "must be 1 to 20 digits without a leading zero, or kalshi-, lmt-, manifold- or native- and " +
	"letters, digits and : . _ - (first a letter or digit), at most 128 characters in total"

// ErrMarketID is the error of a market id in an unknown form.
var ErrMarketID = apperr.New(apperr.Invalid, "invalid_market_id", "marketId "+MarketIDForm).With("field", "marketId")

// MarketID is the public id of a market. It has one form for each of the five providers. For Polymarket it consists of
// digits. For the others it is the prefix of the provider and the key of the market at that provider. It is case-sensitive,
// because the keys are.
type MarketID string

// ParseMarketID returns the market id s. It returns ErrMarketID if s has none of the five forms.
func ParseMarketID(s string) (MarketID, error) {
	if len(s) == 0 || len(s) > maxMarketID {
		return "", ErrMarketID
	}
	if isDigits(s) {
		// A leading zero would allow a second id for the same market.
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

// MaxMarketIDs is the largest number of ids in a list of market ids.
const MaxMarketIDs = 100

// ParseMarketIDs returns the market ids in a list that is separated by commas, at most MaxMarketIDs. complete is false if it
// omits a part of the list.
func ParseMarketIDs(raw string) (ids []MarketID, complete bool) {
	complete = true
	for part := range strings.SplitSeq(raw, ",") {
		id, err := ParseMarketID(part)
		if err != nil || len(ids) == MaxMarketIDs {
			complete = false
			continue
		}
		ids = append(ids, id)
	}
	return ids, complete
}

// NewMarketID returns the public id of the market with the given key at the provider p. It returns ErrMarketID if the
// id would be invalid.
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

// Provider returns the provider of the market, or "" for the empty id.
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

// Prefix returns the prefix of the market ids of a provider. It is empty for Polymarket, whose ids are digits.
func (p Provider) Prefix() string {
	for _, row := range prefixes {
		if row.provider == p {
			return row.prefix
		}
	}
	return ""
}

// NativeKey returns the key of the market at its provider: the id without the prefix of the provider.
func (m MarketID) NativeKey() string {
	for _, p := range prefixes {
		if key, ok := strings.CutPrefix(string(m), p.prefix); ok {
			return key
		}
	}
	return string(m)
}

// IsNative reports whether the market belongs to the service itself (Manual) and not to a venue.
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

// isKey reports whether s is a valid key of a market at its provider. The first character must be a letter or digit, so that ".."
// is not a key: keys are inserted into request paths.
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
