package telemetry

import (
	"io"
	"sync"
	"time"
)

const (
	// bufferedFor is the maximum time that a line waits in the buffer.
	bufferedFor = 100 * time.Millisecond
	// bufferedBytes is the number of buffered bytes from which the buffer is written at once.
	bufferedBytes = 64 << 10
)

// Buffered is a writer that collects log lines and writes them together within 100 ms. A system call per line would cost as much
// as formatting it. A logger of NewLogger flushes it after every warning and error. If the process is killed, only records below
// the level warn can be lost.
type Buffered struct {
	mu    sync.Mutex // protects lines and armed; not locked during a write
	lines []byte
	armed bool

	write sync.Mutex // serializes writes
	spare []byte
	w     io.Writer
}

// NewBuffered returns a buffer that writes to w. The caller must call Close after the last line.
func NewBuffered(w io.Writer) *Buffered { return &Buffered{w: w} }

// Write adds a line to the buffer. It does not return errors of the underlying writer.
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

// Flush writes the buffered lines to the underlying writer. It ignores an error of the writer.
func (b *Buffered) Flush() {
	b.write.Lock()
	defer b.write.Unlock()
	b.mu.Lock()
	lines := b.lines
	b.lines, b.armed = b.spare[:0], false
	b.mu.Unlock()
	if len(lines) > 0 {
		// An error cannot be reported, because the log is not writable.
		_, _ = b.w.Write(lines)
	}
	b.spare = lines
}

// Close writes the buffered lines. It does not close the underlying writer, and later lines are still accepted.
func (b *Buffered) Close() error {
	b.Flush()
	return nil
}
