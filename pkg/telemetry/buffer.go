package telemetry

import (
	"io"
	"sync"
	"time"
)

const (
	// bufferedFor is how long a line waits for company.
	bufferedFor = 100 * time.Millisecond
	// bufferedBytes is how much waits at most.
	bufferedBytes = 64 << 10
)

// Buffered writes lines together, a tenth of a second late: a system call for
// each request's line costs as much as the line. Loggers that NewLogger makes
// flush it behind every warning, so only news of what went well can be lost when
// the process is killed.
type Buffered struct {
	mu    sync.Mutex // guards lines and armed; never held while writing
	lines []byte
	armed bool

	write sync.Mutex // one write at a time, in order
	spare []byte
	w     io.Writer
}

// NewBuffered buffers w. Close it last.
func NewBuffered(w io.Writer) *Buffered { return &Buffered{w: w} }

// Write takes one line; errors of w are not known yet.
func (b *Buffered) Write(line []byte) (int, error) {
	b.mu.Lock()
	b.lines = append(b.lines, line...)
	full, arm := len(b.lines) >= bufferedBytes, !b.armed
	b.armed = true
	b.mu.Unlock()
	switch {
	case full:
		b.Flush()
	case arm:
		time.AfterFunc(bufferedFor, b.Flush)
	}
	return len(line), nil
}

// Flush writes what waits.
func (b *Buffered) Flush() {
	b.write.Lock()
	defer b.write.Unlock()
	b.mu.Lock()
	lines := b.lines
	b.lines, b.armed = b.spare[:0], false
	b.mu.Unlock()
	if len(lines) > 0 {
		// A log that cannot be written has nowhere to complain.
		_, _ = b.w.Write(lines)
	}
	b.spare = lines
}

// Close flushes; lines that come later are still taken.
func (b *Buffered) Close() error {
	b.Flush()
	return nil
}
