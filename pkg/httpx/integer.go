package httpx

import (
	"strconv"
	"strings"
)

const (
	maxShift  = 1 << 40 // limits the exponent; larger than the number of digits of any body
	maxDigits = 19      // maximum number of decimal digits of an int64
)

// parseInteger returns the value of a JSON number whose fraction is zero, in any notation: 5000, 5000.0 and 5e3 are
// equal (JSON Schema 2020-12, validation, 6.1.1). It works on digits, so it does not round, and a huge exponent costs
// no more than a small one. It returns false for other values, for minus zero, and for values beyond 64 bits.
func parseInteger(value string) (int64, bool) {
	if value[0] != '-' && (value[0] < '0' || value[0] > '9') {
		return 0, false // a string, boolean, list or object
	}
	mantissa, exponent, scaled := strings.Cut(strings.ToLower(value), "e")
	unsigned := strings.TrimPrefix(mantissa, "-")
	sign := mantissa[:len(mantissa)-len(unsigned)]
	before, after, _ := strings.Cut(unsigned, ".")
	digits := strings.TrimLeft(before+after, "0")
	if digits == "" {
		return 0, sign == ""
	}
	significant := strings.TrimRight(digits, "0")
	zeros := int64(len(digits) - len(significant) - len(after)) // number of zeros to append to significant
	if scaled {
		e, _ := strconv.ParseInt(exponent, 10, 64) // if out of range, ParseInt returns the nearest value
		zeros += min(max(e, -maxShift), maxShift)
	}
	if zeros < 0 || zeros > maxDigits {
		return 0, false
	}
	n, err := strconv.ParseInt(sign+significant+strings.Repeat("0", int(zeros)), 10, 64)
	return n, err == nil
}
