package pages

import (
	"cmp"
	"math"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/signalcast/signalcast/pkg/protocol"
	signalv1 "github.com/signalcast/signalcast/proto/signal/v1"
	"github.com/signalcast/signalcast/services/hub/internal/httpapi/view"
)

type marketID = protocol.MarketID

// cents formats bps as cents: 6190 is 61.9¢.
func cents[T ~int | ~int32](bps T) string { return decimal(float64(bps)/100) + "¢" }

// percent formats bps as a percentage: 3150 is 31.5%.
func percent[T ~int | ~int32](bps T) string { return decimal(float64(bps)/100) + "%" }

// clampPrice limits a price to the range from 0 to maxPrice bps.
func clampPrice(bps int32) int { return min(max(int(bps), 0), maxPrice) }

// decimal formats a number with as few decimals as possible.
func decimal(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }

// signed formats an integer with a plus or minus sign. Zero has no sign.
func signed(n int) string { return signedNumber(float64(n)) }

// pointsOf formats a price difference in percentage points, with its sign: 450 bps is +4.5.
func pointsOf(bps int) string { return signedNumber(float64(bps) / 100) }

func signedNumber(v float64) string {
	switch {
	case v > 0:
		return "+" + decimal(v)
	case v < 0:
		return "−" + decimal(-v)
	}
	return "0"
}

func digits(n int64) string { return strconv.FormatInt(n, 10) }

// grouped formats an integer with thousands separators.
func grouped(n int64) string {
	text := digits(max(n, -n))
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	if n < 0 {
		return "−" + text
	}
	return text
}

// when formats a time in UTC: 2 Jan 2006, 15:04 UTC.
func when(t time.Time) string { return t.UTC().Format("2 Jan 2006, 15:04 UTC") }

func sideClass(side string) string { return "side-" + strings.ToLower(side) }

// statusLabel returns the label of a call status. A status other than won, lost and void has the label Open.
func statusLabel(status string) string {
	switch protocol.SignalStatus(status) {
	case protocol.Won:
		return "Won"
	case protocol.Lost:
		return "Lost"
	case protocol.Void:
		return "Void"
	}
	return "Open"
}

// amount formats a volume with its unit: $182,000 or 182,000 contracts. It returns "" for nil or an invalid volume.
func amount(v *float64, unit string) string {
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
	return grouped(int64(math.RoundToEven(v)))
}

// countOf formats a count with its noun: 1 call, 2 calls. one is the singular.
func countOf(n int64, one string) string {
	return digits(n) + " " + nounOf(n, one)
}

// nounOf returns the noun of a count without the number: call for 1, otherwise calls. one is the singular.
func nounOf(n int64, one string) string {
	if n == 1 {
		return one
	}
	return one + "s"
}

// timeLeft formats the time from now until end, in days, hours or minutes. It returns "" after the end.
func timeLeft(end, now time.Time) string {
	switch d := end.Sub(now); {
	case d >= 48*time.Hour:
		return countOf(int64(d/(24*time.Hour)), "day") + " left"
	case d >= time.Hour:
		return countOf(int64(d/time.Hour), "hour") + " left"
	case d > 0:
		return countOf(int64((d+time.Minute-1)/time.Minute), "minute") + " left"
	}
	return ""
}

// nameOf returns name, or the handle with a leading @ if name is empty.
func nameOf(name, handle string) string { return cmp.Or(name, "@"+handle) }

// callerName returns the handle of the operator of a call, or the operator's public id if there is no handle.
func callerName(call *signalv1.Signal) string {
	if call.GetHandle() == "" {
		return call.GetPublicId()
	}
	return "@" + call.GetHandle()
}

// titleCase converts an upper-case word: SCIENCE becomes Science.
func titleCase[T ~string](word T) string {
	if word == "" {
		return ""
	}
	return string(word[:1]) + strings.ToLower(string(word[1:]))
}

var venueNames = map[protocol.Provider]string{
	protocol.Polymarket: "Polymarket", protocol.Kalshi: "Kalshi", protocol.Limitless: "Limitless", protocol.Manifold: "Manifold",
	protocol.Manual: "Signalcast",
}

// venueName returns the display name of a venue, or provider itself if the venue is unknown.
func venueName(provider string) string {
	if w, ok := venueNames[protocol.Provider(provider)]; ok {
		return w
	}
	return provider
}

// link returns raw if it is an http or https URL with a host, and "" for any other text.
func link(raw string) string {
	u, err := url.Parse(raw)
	if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" {
		return ""
	}
	return raw
}

// bar is one line of the barcode on a receipt, with its left position and its width.
type bar struct{ X, W int }

// bars returns the lines of the barcode of an id, and the total width of the barcode. Each hex digit of the id is a line and a
// gap.
func bars(id string) (list []bar, width int) {
	for _, r := range id {
		n, err := strconv.ParseInt(string(r), 16, 8)
		if err != nil {
			continue
		}
		w := 1 + int(n)%4
		list = append(list, bar{X: width, W: w})
		width += w + 1 + int(n)/4
	}
	return list, width
}

// callPoints returns the points of a resolved call with their unit. It returns "not counted" if the call does not count, and ""
// for an open or void call.
func callPoints(call *signalv1.Signal) string {
	switch {
	case call.Score == nil || call.Counted == nil || protocol.SignalStatus(call.GetStatus()) == protocol.Void:
		return ""
	case !call.GetCounted():
		return "not counted"
	}
	return view.PointsLabel(int64(call.GetScore()))
}

// priceOf formats the scoring price of a call, and the stated price if it differs.
func priceOf(call *signalv1.Signal) string {
	price := cents(call.GetScoreBasisBps())
	if call.GetPriceBps() != call.GetScoreBasisBps() {
		price += ", stated " + cents(call.GetPriceBps())
	}
	return price
}
