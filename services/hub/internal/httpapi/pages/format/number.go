package format

import (
	"math"
	"strconv"

	"github.com/signalcast/signalcast/pkg/protocol"
	signalv1 "github.com/signalcast/signalcast/proto/signal/v1"
	"github.com/signalcast/signalcast/services/hub/internal/httpapi/view"
)

// Cents formats bps as cents: 6190 is 61.9¢.
func Cents[T ~int | ~int32](bps T) string { return Decimal(float64(bps)/100) + "¢" }

// Percent formats bps as a percentage: 3150 is 31.5%.
func Percent[T ~int | ~int32](bps T) string { return Decimal(float64(bps)/100) + "%" }

// ClampPrice limits a price to the range from 0 to 10,000 bps.
func ClampPrice(bps int32) int { return min(max(int(bps), 0), int(protocol.MaxBps)) }

// Decimal formats a number with as few decimals as possible.
func Decimal(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }

// Signed formats an integer with a plus or minus sign. Zero has no sign.
func Signed(n int) string { return signedNumber(float64(n)) }

// PointsOf formats a price difference in percentage points, with its sign: 450 bps is +4.5.
func PointsOf(bps int) string { return signedNumber(float64(bps) / 100) }

func signedNumber(v float64) string {
	switch {
	case v > 0:
		return "+" + Decimal(v)
	case v < 0:
		return "−" + Decimal(-v)
	}
	return "0"
}

// Digits formats an integer in decimal.
func Digits(n int64) string { return strconv.FormatInt(n, 10) }

// Grouped formats an integer with thousands separators: 1234567 is 1,234,567.
func Grouped(n int64) string {
	text := Digits(max(n, -n))
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	if n < 0 {
		return "−" + text
	}
	return text
}

// Amount formats a volume with its unit: $182,000 or 182,000 contracts. It returns "" for nil or an invalid volume.
func Amount(v *float64, unit string) string {
	if v == nil {
		return ""
	}
	n := number(*v)
	switch {
	case n == "":
		return ""
	case unit == "" || unit == "usd":
		return "$" + n
	}
	return n + " " + unit
}

// amountUnits are the suffixes of large amounts, the largest first.
var amountUnits = [...]struct {
	from float64
	name string
}{{1e12, " T"}, {1e9, " B"}, {1e6, " M"}}

// number returns an amount as text. Below a million, the text has thousands separators. From a million on, it has two decimals
// and a suffix, and from 1e15 on, it is "999 T+". For a negative amount or one that is not a finite number, number returns "".
func number(v float64) string {
	if math.IsNaN(v) || math.IsInf(v, 0) || v < 0 {
		return ""
	}
	for _, f := range amountUnits {
		switch {
		case v >= 1000*f.from:
			return "999" + f.name + "+"
		case v >= f.from:
			return strconv.FormatFloat(v/f.from, 'f', 2, 64) + f.name
		}
	}
	return Grouped(int64(math.RoundToEven(v)))
}

// CountOf formats a count with its noun: 1 call, 2 calls. one is the singular.
func CountOf(n int64, one string) string {
	return Digits(n) + " " + NounOf(n, one)
}

// NounOf returns the noun of a count without the number: call for 1, otherwise calls. one is the singular.
func NounOf(n int64, one string) string {
	if n == 1 {
		return one
	}
	return one + "s"
}

// CallPoints returns the points of a resolved call with their unit. It returns "not counted" if the call does not count, and ""
// for an open or void call.
func CallPoints(call *signalv1.Signal) string {
	switch {
	case call.Score == nil || call.Counted == nil || protocol.SignalStatus(call.GetStatus()) == protocol.Void:
		return ""
	case !call.GetCounted():
		return "not counted"
	}
	return view.PointsLabel(int64(call.GetScore()))
}

// PriceOf formats the scoring price of a call, and the stated price if it differs.
func PriceOf(call *signalv1.Signal) string {
	return CallPrice(call.GetScoreBasisBps(), call.GetPriceBps())
}

// CallPrice formats a scoring price in bps, and the stated price if it differs.
func CallPrice[T ~int | ~int32](scoring, stated T) string {
	if scoring == stated {
		return Cents(scoring)
	}
	return Cents(scoring) + ", stated " + Cents(stated)
}
