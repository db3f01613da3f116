package record

import (
	"fmt"
	"io"
	"math"
	"time"
)

// differences writes one line for each member whose value differs from the computed value. It quotes texts of the record,
// because they are untrusted and can contain control characters.
type differences struct {
	to   io.Writer
	line int
	n    int
}

// plain is trusted text. The type differences writes it without quotes.
type plain string

func (d *differences) add(member string, says any, is plain) { d.report(member, says, is) }

func (d *differences) report(member string, says, is any) {
	d.n++
	// A failed write is ignored: n counts the difference, and Verify returns ErrDiffers.
	_, _ = fmt.Fprintf(d.to, "line %d: %s: is %s, should be %s\n", d.line, member, safe(says), safe(is))
}

// safe returns a value as text. It quotes strings and errors, so that the text contains no control characters.
func safe(v any) string {
	switch v := v.(type) {
	case plain:
		return string(v)
	case string:
		return fmt.Sprintf("%q", v)
	case error:
		return fmt.Sprintf("%q", v.Error())
	}
	return fmt.Sprint(v)
}

// require reports a difference of a member unless ok is true. The difference contains the value in the record (says) and a
// description of the expected value (is).
func (d *differences) require(ok bool, member string, says any, is plain) {
	if !ok {
		d.report(member, says, is)
	}
}

// equal reports a difference of a member unless its value in the record (says) equals the computed value (is).
func (d *differences) equal(member string, says, is any) {
	if says != is {
		d.report(member, says, is)
	}
}

// near reports a difference of a member if its value in the record (says) and the computed value (is) differ by more than 1e-9 of
// the computed value (docs/method.md, The same bits everywhere).
func (d *differences) near(member string, says, is float64) {
	if math.Abs(says-is) > 1e-9*math.Abs(is) {
		d.report(member, says, is)
	}
}

// show returns the number that n points to as text, or "null" for nil.
func show[T int | int64](n *T) plain {
	if n == nil {
		return "null"
	}
	return plain(fmt.Sprint(*n))
}

// deref returns the text that s points to, or "" for nil.
func deref(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// stamp returns a time as RFC 3339 text in UTC with milliseconds, or "null" for nil.
func stamp(t *time.Time) plain {
	if t == nil {
		return "null"
	}
	return plain(t.UTC().Format("2006-01-02T15:04:05.000Z"))
}
