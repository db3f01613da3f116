package view

import (
	"strconv"

	"github.com/signalcast/signalcast/pkg/protocol"
)

// OutcomeLabel returns the label of a market outcome: YES, NO or Void.
func OutcomeLabel(outcome string) string {
	if outcome == string(protocol.VerdictInvalid) {
		return "Void"
	}
	return outcome
}

// PointsLabel formats points with their sign and unit: +38 points, −1 point. Zero has no sign.
func PointsLabel(n int64) string {
	text := strconv.FormatInt(max(n, -n), 10) + " " + PointsUnit(n)
	switch {
	case n > 0:
		return "+" + text
	case n < 0:
		return "−" + text
	}
	return text
}

// PointsUnit returns the unit for a number of points: "point" for 1 and −1, and "points" for other numbers.
func PointsUnit(n int64) string {
	if n == 1 || n == -1 {
		return "point"
	}
	return "points"
}

// Brier formats a Brier score, given in bps, as a number from 0 to 1 with three decimals.
func Brier(bps int) string {
	return strconv.FormatFloat(float64(bps)/float64(protocol.MaxBps), 'f', 3, 64)
}
