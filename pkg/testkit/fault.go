package testkit

import (
	"syscall"
	"testing"

	"github.com/signalcast/signalcast/pkg/localdb"
)

// Hang stops a process and all it started, as a machine that swaps would, until
// the returned function or the end of the test continues them.
func Hang(t testing.TB, pid int) (resume func()) {
	t.Helper()
	family := localdb.Family(pid)
	for _, p := range family {
		// A child may have ended since it was listed; the process itself may not.
		if err := syscall.Kill(p, syscall.SIGSTOP); err != nil && p == pid {
			t.Fatalf("stop process %d: %v", p, err)
		}
	}
	resume = func() {
		for _, p := range family {
			_ = syscall.Kill(p, syscall.SIGCONT) // one that has ended needs no waking
		}
	}
	t.Cleanup(resume)
	return resume
}

// Kill ends a process and all it started without warning.
func Kill(t testing.TB, pid int) {
	t.Helper()
	_ = localdb.KillFamily(pid) // it may be gone already
}
