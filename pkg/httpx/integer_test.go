package httpx_test

import (
	"math"
	"math/big"
	"strings"
	"testing"

	"github.com/signalcast/signalcast/pkg/httpx"
)

// readWhole decodes one number with the bounds of int64. It reports whether the number is an integer.
func readWhole(t *testing.T, text string) (int64, bool) {
	t.Helper()
	o, err := httpx.DecodeBytes([]byte(`{"n":` + text + `}`))
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	n := o.Int("n", math.MinInt64, math.MaxInt64)
	return n, o.Err() == nil
}

// TestWholeNumbers checks that a number with a zero fraction is an integer in every notation, and that the result is
// exact to the last digit.
func TestWholeNumbers(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int64{
		"5000": 5000, "5000.0": 5000, "5e3": 5000, "5E+3": 5000, "0.5e4": 5000, "500000e-2": 5000, "5000.000000000000000000000000": 5000,
		"0": 0, "0.0": 0, "0e400": 0, "0e-99999999999999999999": 0, "0.000e7": 0, "-5": -5, "-5.0": -5, "-50e-1": -5, "1e18": 1e18,
		"9223372036854775807": math.MaxInt64, "9223372036854775807.0": math.MaxInt64, "-9223372036854775808.0": math.MinInt64, "922337203685477580.7e1": math.MaxInt64,
		"1" + strings.Repeat("0", 60_000) + "e-60000": 1, "0." + strings.Repeat("0", 60_000) + "1e60001": 1,
	} {
		if n, ok := readWhole(t, text); !ok || n != want {
			t.Errorf("%.40s was read as %d, integer %v", text, n, ok)
		}
	}
	for _, text := range []string{
		"5000.00000000000000000001", "4999.99999999999999999999", "0.5", "5e-1", "1e-400", "1e400", "-1e400", "1e99999999999999999999", "1e-99999999999999999999",
		"9223372036854775808", "9223372036854775807.5", "-9223372036854775809", "1e19", "10e18", "-0", "-0.0", "-0e5",
		"1" + strings.Repeat("0", 60_000), `"5"`, `"5e3"`, "true", "[5]", "{}",
	} {
		if n, ok := readWhole(t, text); ok {
			t.Errorf("%.40s is read as %d", text, n)
		}
	}
	o, err := httpx.DecodeBytes([]byte(`{"price":10000.00000000000000000001,"low":1e4}`))
	if err != nil {
		t.Fatal(err)
	}
	if n := o.Int("low", 0, 10_000); n != 10_000 || o.Err() != nil {
		t.Errorf("1e4 was read as %d, error %v; want 10000", n, o.Err())
	}
	if o.Int("price", 0, 10_000); o.Err() == nil {
		t.Error("a number slightly above 10000 was accepted as at most 10000")
	}
}

// FuzzWholeNumbers compares Int with exact rational arithmetic.
func FuzzWholeNumbers(f *testing.F) {
	for _, text := range []string{"5000.0", "5e3", "-1.50e1", "0e9", "1e-3", "9223372036854775807e0", "12e-1"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		o, err := httpx.DecodeBytes([]byte(`{"n":` + text + `}`))
		exact, ok := new(big.Rat), len(text) < 40 && !strings.ContainsAny(text, `",{}[] `+"\t\r\n")
		if _, exponent, _ := strings.Cut(strings.ToLower(text), "e"); err != nil || !ok || len(exponent) > 4 {
			return
		}
		if _, number := exact.SetString(text); !number {
			return
		}
		n := o.Int("n", math.MinInt64, math.MaxInt64)
		want := exact.IsInt() && exact.Num().IsInt64() && (exact.Sign() != 0 || !strings.HasPrefix(text, "-"))
		if (o.Err() == nil) != want || want && n != exact.Num().Int64() {
			t.Errorf("%s was read as %d, error %v", text, n, o.Err())
		}
	})
}
