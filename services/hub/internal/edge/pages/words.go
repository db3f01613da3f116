package pages

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/signalcast/signalcast/pkg/syntax"
)

type marketID = syntax.MarketID

// cents writes bps as cents: 6190 is 61.9¢.
func cents[T ~int | ~int32](bps T) string {
	whole, rest := int(bps)/100, int(bps)%100
	if rest == 0 {
		return strconv.Itoa(whole) + "¢"
	}
	return strings.TrimRight(fmt.Sprintf("%d.%02d", whole, rest), "0") + "¢"
}

// percent writes bps as a probability: 3150 is 31.5%.
func percent[T ~int | ~int32](bps T) string {
	return strings.Replace(cents(bps), "¢", "%", 1)
}

// signed writes points with their sign.
func signed(n int) string {
	switch {
	case n > 0:
		return "+" + strconv.Itoa(n)
	case n < 0:
		return "−" + strconv.Itoa(-n)
	}
	return "0"
}

// when writes an instant for people; every page says UTC.
func when(t time.Time) string { return t.UTC().Format("2 Jan 2006, 15:04 UTC") }

func sideClass(s syntax.Side) string { return "side-" + strings.ToLower(string(s)) }

// statusWord is the badge of a signal.
func statusWord(s syntax.SignalStatus) string {
	switch s {
	case syntax.Won:
		return "Won"
	case syntax.Lost:
		return "Lost"
	case syntax.Void:
		return "Void"
	}
	return "Open"
}

// usd writes dollars without cents, in groups of three.
func usd(v float64) string {
	digits := strconv.FormatFloat(v, 'f', 0, 64)
	var b strings.Builder
	for i, d := range digits {
		if i > 0 && (len(digits)-i)%3 == 0 {
			b.WriteByte(',')
		}
		b.WriteRune(d)
	}
	return b.String()
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
