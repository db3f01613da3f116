package record

import (
	"fmt"
	"io"
	"math"
	"time"
)

// differences writes one line for each number that is not what it should be. What the
// record says is quoted: its text is untrusted, and a terminal obeys control characters.
type differences struct {
	to   io.Writer
	line int
	n    int
}

// plain is trusted text, which is written as it is.
type plain string

func (d *differences) add(member string, says any, is plain) { d.report(member, says, is) }

func (d *differences) report(member string, says, is any) {
	d.n++
	// The exit code reports the difference even if it cannot be written.
	_, _ = fmt.Fprintf(d.to, "line %d: %s: says %s, should be %s\n", d.line, member, safe(says), safe(is))
}

// safe writes a value so that it can be shown.
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

func (d *differences) that(ok bool, member string, says any, is plain) {
	if !ok {
		d.report(member, says, is)
	}
}

func (d *differences) same(member string, says, is any) {
	if says != is {
		d.report(member, says, is)
	}
}

// near compares chances: they are equal to one part in 1e9 (docs/method.md).
func (d *differences) near(member string, says, is float64) {
	if math.Abs(says-is) > 1e-9*math.Abs(is) {
		d.report(member, says, is)
	}
}

// show writes a number that may be null.
func show[T int | int64](n *T) plain {
	if n == nil {
		return "null"
	}
	return plain(fmt.Sprint(*n))
}

func deref(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

func stamp(t *time.Time) plain {
	if t == nil {
		return "null"
	}
	return plain(t.UTC().Format("2006-01-02T15:04:05.000Z"))
}
