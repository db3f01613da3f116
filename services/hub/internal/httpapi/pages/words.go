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
)

type marketID = protocol.MarketID

// cents writes bps as cents: 6190 is 61.9¢.
func cents[T ~int | ~int32](bps T) string { return decimal(float64(bps)/100) + "¢" }

// percent writes bps as a probability: 3150 is 31.5%.
func percent[T ~int | ~int32](bps T) string { return decimal(float64(bps)/100) + "%" }

// bounded returns a price limited to the range from 0 to wholePrice bps.
func bounded(bps int32) int { return min(max(int(bps), 0), wholePrice) }

// decimal writes a number with as many decimals as it has.
func decimal(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }

// signed writes points with their sign.
func signed(n int) string { return withSign(float64(n)) }

// pointsOf writes a difference of prices in points: 450 bps is +4.5.
func pointsOf(bps int) string { return withSign(float64(bps) / 100) }

func withSign(v float64) string {
	switch {
	case v > 0:
		return "+" + decimal(v)
	case v < 0:
		return "−" + decimal(-v)
	}
	return "0"
}

func digits(n int64) string { return strconv.FormatInt(n, 10) }

// grouped writes a whole number with groups of three digits.
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

// when writes an instant for people; every page says UTC.
func when(t time.Time) string { return t.UTC().Format("2 Jan 2006, 15:04 UTC") }

func sideClass(side string) string { return "side-" + strings.ToLower(side) }

// statusWord is the badge of a signal.
func statusWord(status string) string {
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

// amount writes a volume with its unit: $182,000, 182,000 contracts.
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

// figures are the names of great numbers, the greatest first.
var figures = [...]struct {
	from float64
	name string
}{{1e12, " T"}, {1e9, " B"}, {1e6, " M"}}

// number writes what people read: all digits in groups of three up to a million,
// three figures above it; empty for what is no amount.
func number(v float64) string {
	if math.IsNaN(v) || math.IsInf(v, 0) || v < 0 {
		return ""
	}
	for _, f := range figures {
		switch {
		case v >= 1000*f.from:
			return "999" + f.name + "+"
		case v >= f.from:
			return strconv.FormatFloat(v/f.from, 'f', 2, 64) + f.name
		}
	}
	return grouped(int64(math.RoundToEven(v)))
}

// many counts things: 1 call, 2 calls.
func many(n int64, one string) string {
	if n == 1 {
		return "1 " + one
	}
	return digits(n) + " " + one + "s"
}

// left says how far an end is ahead; empty when it is past.
func left(end, now time.Time) string {
	switch d := end.Sub(now); {
	case d >= 48*time.Hour:
		return many(int64(d/(24*time.Hour)), "day") + " left"
	case d >= time.Hour:
		return many(int64(d/time.Hour), "hour") + " left"
	case d > 0:
		return many(int64((d+time.Minute-1)/time.Minute), "minute") + " left"
	}
	return ""
}

// nameOf returns the name of an operator, or its handle if the name is empty.
func nameOf(name, handle string) string { return cmp.Or(name, "@"+handle) }

// callerOf is how the one who called is shown.
func callerOf(call *signalv1.Signal) string {
	if call.GetHandle() == "" {
		return call.GetPublicId()
	}
	return "@" + call.GetHandle()
}

// capital writes a word in capitals as a word: SCIENCE is Science.
func capital[T ~string](word T) string {
	if word == "" {
		return ""
	}
	return string(word[:1]) + strings.ToLower(string(word[1:]))
}

var venues = map[protocol.Provider]string{
	protocol.Polymarket: "Polymarket", protocol.Kalshi: "Kalshi", protocol.Limitless: "Limitless", protocol.Manifold: "Manifold",
	protocol.Manual: "Signalcast",
}

// venueWord names a venue as it names itself.
func venueWord(provider string) string {
	if w, ok := venues[protocol.Provider(provider)]; ok {
		return w
	}
	return provider
}

// link is an address that a page may lead to: http or https with a host; anything
// else is none.
func link(raw string) string {
	u, err := url.Parse(raw)
	if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" {
		return ""
	}
	return raw
}

// bar is one stroke of a receipt's pattern.
type bar struct{ X, W int }

// bars turns an id into strokes: each hex digit is a stroke and a gap.
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

// callPoints returns the points of a decided call, "not counted" if the call does not count, and ""
// for an open or void call.
func callPoints(call *signalv1.Signal) string {
	switch {
	case call.Score == nil || call.Counted == nil || protocol.SignalStatus(call.GetStatus()) == protocol.Void:
		return ""
	case !call.GetCounted():
		return "not counted"
	}
	return signed(int(call.GetScore()))
}

// priceOf returns the scoring price of a call, and the stated one if it differs.
func priceOf(call *signalv1.Signal) string {
	price := cents(call.GetScoreBasisBps())
	if call.GetPriceBps() != call.GetScoreBasisBps() {
		price += ", stated " + cents(call.GetPriceBps())
	}
	return price
}
