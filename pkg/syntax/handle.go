package syntax

import "github.com/signalcast/signalcast/pkg/fault"

// ErrHandle refuses what is not 2 to 32 of a-z, 0-9 and underscore.
var ErrHandle = fault.New(fault.Invalid, "invalid_handle", "handle must be 2 to 32 of a-z, 0-9 and _").With("field", "handle")

// Handle is an operator's public name, always lower case.
type Handle string

// ParseHandle lowers ASCII letters and checks the form. Other scripts are
// never folded: a look-alike letter must not become somebody's handle.
// Fault: ErrHandle (a read answers not_found instead).
func ParseHandle(s string) (Handle, error) {
	if len(s) < 2 || len(s) > 32 {
		return "", ErrHandle
	}
	b := make([]byte, len(s))
	for i := range len(s) {
		c := s[i]
		if c >= 'A' && c <= 'Z' {
			c += 'a' - 'A'
		}
		if !isAlnum(c) && c != '_' {
			return "", ErrHandle
		}
		b[i] = c
	}
	return Handle(b), nil
}

// String implements fmt.Stringer.
func (h Handle) String() string { return string(h) }
