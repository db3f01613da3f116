package record

import (
	"fmt"
	"io"
	"math"
	"time"
)

// differences writes one line for each number that is not what it should be.
type differences struct {
	to   io.Writer
	line int
	n    int
}

func (d *differences) add(member string, says, is any) {
	d.n++
	// A report that cannot be written is told by the exit code all the same.
	_, _ = fmt.Fprintf(d.to, "line %d: %s: says %v, should be %v\n", d.line, member, says, is)
}

func (d *differences) that(ok bool, member string, says, is any) {
	if !ok {
		d.add(member, says, is)
	}
}

func (d *differences) same(member string, says, is any) { d.that(says == is, member, says, is) }

// near compares chances: they are equal to one part in 1e9 (docs/method.md).
func (d *differences) near(member string, says, is float64) {
	d.that(math.Abs(says-is) <= 1e-9*math.Abs(is), member, says, is)
}

// show writes a number that may be null.
func show[T int | int64](n *T) string {
	if n == nil {
		return "null"
	}
	return fmt.Sprint(*n)
}

func deref(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

func stamp(t *time.Time) string {
	if t == nil {
		return "null"
	}
	return t.UTC().Format("2006-01-02T15:04:05.000Z")
}
