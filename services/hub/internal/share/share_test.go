package share

import (
	"context"
	"testing"
)

// full is a fake store in which the first left-1 codes that it receives are already used.
type full struct{ left int }

func (f *full) AddLink(_ context.Context, l Link) (string, error) {
	if f.left--; f.left > 0 {
		return "", nil
	}
	return l.Code, nil
}

func (f *full) Link(context.Context, string) (Link, error) { return Link{}, ErrUnknown }

func TestCodes(t *testing.T) {
	t.Parallel()
	seen, letters := map[string]bool{}, map[rune]bool{}
	for range 5000 {
		code, err := Mint(t.Context(), &full{left: 2}, Signal, "x")
		if err != nil || !IsCode(code) || seen[code] {
			t.Fatalf("%q %v", code, err)
		}
		seen[code] = true
		for _, r := range code {
			letters[r] = true
		}
	}
	if len(letters) != len(alphabet) {
		t.Errorf("%d of %d characters of the alphabet occur", len(letters), len(alphabet))
	}
	for _, s := range []string{"", "123456", "12345678", "000000l", "12345é", "1234/67"} {
		if IsCode(s) {
			t.Errorf("%q has the wrong result", s)
		}
	}
}
