package httpx

import (
	"strconv"
	"strings"
)

const (
	farthest   = 1 << 40 // shifts a number farther than the digits of any body
	mostDigits = 19      // of 64 bits
)

// whole reads a JSON value as a whole number: one whose fraction is zero, however it is
// written (JSON Schema 2020-12, validation, 6.1.1): 5000, 5000.0 and 5e3 are one. It goes
// by the digits, so nothing is rounded, and a huge exponent costs no more than a small one.
// Minus zero, and what 64 bits do not hold, is none.
func whole(value string) (int64, bool) {
	if value[0] != '-' && (value[0] < '0' || value[0] > '9') {
		return 0, false // a text, a truth, a list or an object
	}
	mantissa, exponent, scaled := strings.Cut(strings.ToLower(value), "e")
	unsigned := strings.TrimPrefix(mantissa, "-")
	sign := mantissa[:len(mantissa)-len(unsigned)]
	before, after, _ := strings.Cut(unsigned, ".")
	digits := strings.TrimLeft(before+after, "0")
	if digits == "" {
		return 0, sign == ""
	}
	bare := strings.TrimRight(digits, "0")
	zeros := int64(len(digits) - len(bare) - len(after)) // to be written behind bare
	if scaled {
		e, _ := strconv.ParseInt(exponent, 10, 64) // out of range it is the nearest
		zeros += min(max(e, -farthest), farthest)
	}
	if zeros < 0 || zeros > mostDigits {
		return 0, false
	}
	n, err := strconv.ParseInt(sign+bare+strings.Repeat("0", int(zeros)), 10, 64)
	return n, err == nil
}
