package loosejson

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/signalcast/signalcast/pkg/protocol"
)

// Price is a number in units of 10^-12. It is parsed from decimal text without binary floats. Digits after the twelfth
// decimal are discarded, which does not change the result of rounding to basis points.
type Price int64

// Units of a Price, and limits of the text that ParsePrice accepts.
const (
	One      Price = 1_000_000_000_000
	perBps         = One / 10_000
	decimals       = 12
	maxWhole       = 6 // largest number of digits before the decimal point
	maxText        = 128
	maxShift       = 64
)

// ParsePrice parses decimal text, which may have an exponent. It returns false if the text is invalid or longer than maxText
// bytes, has an exponent outside -maxShift to maxShift, or has more than maxWhole digits before the decimal point.
func ParsePrice(text string) (Price, bool) {
	if text == "" || len(text) > maxText {
		return 0, false
	}
	mantissa, shift := text, 0
	if i := strings.IndexAny(text, "eE"); i >= 0 {
		n, err := strconv.Atoi(text[i+1:])
		if err != nil || n < -maxShift || n > maxShift {
			return 0, false
		}
		mantissa, shift = text[:i], n
	}
	mantissa, negative := strings.CutPrefix(mantissa, "-")
	whole, fraction, _ := strings.Cut(mantissa, ".")
	digits := whole + fraction
	if digits == "" || strings.Trim(digits, "0123456789") != "" {
		return 0, false
	}
	point := len(whole) + shift // position of the decimal point in digits
	if zeros := len(digits) - len(strings.TrimLeft(digits, "0")); point-zeros > maxWhole && zeros < len(digits) {
		return 0, false
	}
	value := Price(0)
	for i := range max(point+decimals, 0) {
		value *= 10
		if i < len(digits) {
			value += Price(digits[i] - '0')
		}
	}
	if negative {
		value = -value
	}
	return value, true
}

// Bps returns the price in basis points, rounded half up and limited to the range 0 to 10000.
func (p Price) Bps() protocol.Bps {
	return protocol.Bps(min(max(p, 0)+perBps/2, One+perBps/2-1) / perBps)
}

// BpsUp returns the price in basis points, rounded up. It first rounds to 10^-9, because venues that compute with binary
// floats send inexact prices. For example, 1 minus 0.6999999999999999 must give 3000 and not 3001.
func (p Price) BpsUp() int {
	const noise = One / 1_000_000_000
	p = (p + noise/2) / noise * noise
	return int((p + perBps - 1) / perBps)
}

// Near reports whether the difference between p and q is at most tolerance.
func (p Price) Near(q, tolerance Price) bool {
	d := p - q
	return d <= tolerance && -d <= tolerance
}

// Text returns the price as decimal text without trailing zeros. The price must not be negative.
func (p Price) Text() string {
	whole, rest := p/One, p%One
	if rest == 0 {
		return strconv.FormatInt(int64(whole), 10)
	}
	return fmt.Sprintf("%d.%s", whole, strings.TrimRight(fmt.Sprintf("%012d", rest), "0"))
}

// Middle returns the price in the middle between a bid and an ask. ok is false if a side has no orders (bid 0 or ask 1), if
// the order book is crossed, or if the difference exceeds maxSpread.
func Middle(bid, ask, maxSpread Price) (p Price, ok bool) {
	return (bid + ask) / 2, bid > 0 && ask < One && bid <= ask && ask-bid <= maxSpread
}

// Level is one price level of an order book with the size of the orders at that price.
type Level struct {
	Price Decimal `json:"price"`
	Size  Decimal `json:"size"`
}

// price returns the price of a level. It returns false if the size is missing or 0, or if the price is unreadable.
func (l Level) price() (Price, bool) {
	if size := l.Size.Amount(); size == nil || *size == 0 {
		return 0, false
	}
	return l.Price.Price()
}

// Best returns the best bid and the best ask of an order book. Without orders, the bid is 0 and the ask is One.
func Best(bids, asks []Level) (bid, ask Price) {
	ask = One
	for _, l := range bids {
		if p, ok := l.price(); ok {
			bid = max(bid, p)
		}
	}
	for _, l := range asks {
		if p, ok := l.price(); ok {
			ask = min(ask, p)
		}
	}
	return bid, ask
}
