package edge_test

import (
	"context"
	"net/http/httptest"
	"testing"
	"time"

	programv1 "github.com/signalcast/signalcast/proto/program/v1"

	"github.com/signalcast/signalcast/pkg/fault"
)

// setProgram is what the clock answers from now on.
func (b *bench) setProgram(p *programv1.Program) {
	b.ledger.Lock()
	defer b.ledger.Unlock()
	b.ledger.Program = p
}

func marks(w *httptest.ResponseRecorder) [2]string {
	return [2]string{w.Header().Get("X-Degraded"), w.Header().Get("Cache-Control")}
}

// TestDegradedProgram: what the clock calls degraded is shown as it is, says so,
// and is kept by nobody; the whole one is back at once.
func TestDegradedProgram(t *testing.T) {
	t.Parallel()
	const whole = "public, s-maxage=30, stale-while-revalidate=60"
	for _, target := range []string{"/api/network/program", "/api/broadcast/program?preset=hot"} {
		b := setup(t)
		ill := programme()
		ill.Degraded, ill.Total = "api", 2
		for _, step := range []struct {
			program *programv1.Program
			total   string
			marks   [2]string
		}{
			{ill, "2", [2]string{"api", "no-store"}},
			{programme(), "3", [2]string{"", whole}},
			{ill, "2", [2]string{"api", "no-store"}},
			{programme(), "3", [2]string{"", whole}},
		} {
			b.clock.Advance(time.Minute)
			b.setProgram(step.program)
			for range 3 { // asked of the clock, then of what is held
				w := b.send("GET", target, "")
				if w.Code != 200 || field(w, "enabled") != "true" || field(w, "total") != step.total || marks(w) != step.marks {
					t.Errorf("%s: %d %v %.80s, want total %s and %v", target, w.Code, marks(w), w.Body, step.total, step.marks)
				}
			}
		}
	}
}

// TestDegradedProgramIsAskedForOnceASecond: marking it costs no hop for each reader.
func TestDegradedProgramIsAskedForOnceASecond(t *testing.T) {
	t.Parallel()
	b := setup(t)
	ill := programme()
	ill.Degraded = "postgres"
	b.setProgram(ill)
	for range 100 {
		b.send("GET", "/api/network/program", "")
	}
	if n := b.ledger.Count("GetProgram"); n != 1 {
		t.Errorf("%d hops for 100 readers", n)
	}
}

// TestEmptyProgramPasses: a clock that has just started has nothing to show; what
// it shows a moment later is shown a moment later.
func TestEmptyProgramPasses(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.setProgram(&programv1.Program{GeneratedAt: at("2026-09-18T12:00:00Z")})
	w := b.send("GET", "/api/network/program", "")
	if w.Code != 200 || field(w, "enabled") != "true" || field(w, "total") != "0" || marks(w) != [2]string{"", "public, s-maxage=1"} {
		t.Errorf("empty: %d %v %s", w.Code, marks(w), w.Body)
	}
	b.setProgram(programme())
	b.clock.Advance(time.Second)
	if w := b.send("GET", "/api/network/program", ""); field(w, "total") != "3" {
		t.Errorf("a second later: %s", w.Body)
	}
}

// TestCopyOfTheProgramIsMarked: a copy that covers for a clock that is away is not
// handed on to caches as if it were new.
func TestCopyOfTheProgramIsMarked(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.setProgram(programme())
	b.send("GET", "/api/network/program", "")
	b.setBefore(func(context.Context, string) error { return fault.New(fault.Unavailable, "clock_unavailable", "") })
	b.clock.Advance(2 * time.Minute)
	w := b.send("GET", "/api/network/program", "")
	if field(w, "total") != "3" || marks(w) != [2]string{"clock", "no-store"} {
		t.Errorf("%v %.80s", marks(w), w.Body)
	}
}
