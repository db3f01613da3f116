package telemetry

import (
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// sink is a writer that records the text and the number of writes.
type sink struct {
	mu     sync.Mutex
	writes int
	text   strings.Builder
}

func (s *sink) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.writes++
	return s.text.Write(b)
}

func (s *sink) state() (int, string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.writes, s.text.String()
}

func TestLinesAreWrittenTogether(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var s sink
		b := NewBuffered(&s)
		for range 10 {
			_, _ = b.Write([]byte("line\n"))
		}
		if n, _ := s.state(); n != 0 {
			t.Errorf("%d writes before the delay, want 0", n)
		}
		<-time.After(bufferedFor) // in the time of the synctest bubble
		synctest.Wait()
		if n, text := s.state(); n != 1 || text != strings.Repeat("line\n", 10) {
			t.Errorf("%d writes of %q, want 1 write of 10 lines", n, text)
		}
		_, _ = b.Write([]byte("late\n"))
		if err := b.Close(); err != nil {
			t.Error(err)
		}
		if _, text := s.state(); !strings.HasSuffix(text, "late\n") {
			t.Errorf("Close did not write the last line: %q", text)
		}
		<-time.After(bufferedFor) // the timer of the last line
	})
}

func TestFullBufferIsWritten(t *testing.T) {
	t.Parallel()
	var s sink
	b := NewBuffered(&s)
	line := []byte(strings.Repeat("x", 999) + "\n")
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for range 100 {
				_, _ = b.Write(line)
			}
		})
	}
	wg.Wait()
	if n, _ := s.state(); n == 0 {
		t.Error("nothing was written after 400 kB")
	}
	b.Flush()
	if _, text := s.state(); len(text) != 400_000 {
		t.Errorf("%d bytes written, want 400000", len(text))
	}
}

func TestWarningsFlushTheLog(t *testing.T) {
	t.Parallel()
	var s sink
	b := NewBuffered(&s)
	log := NewLogger(b, slog.LevelInfo, "test")
	log.Info("first")
	if n, _ := s.state(); n != 0 {
		t.Error("an info record was written at once")
	}
	log.Warn("second")
	if _, text := s.state(); !strings.Contains(text, "first") || !strings.Contains(text, "second") {
		t.Errorf("log after a warning: %q; want both records", text)
	}
}
