package testkit

import (
	"syscall"
	"testing"

	"github.com/signalcast/signalcast/pkg/localdb"
)

// Hang suspends a process and its descendants with SIGSTOP, like a machine that swaps. They continue when resume is
// called or the test ends.
func Hang(t testing.TB, pid int) (resume func()) {
	t.Helper()
	family := localdb.Family(pid)
	for _, p := range family {
		// A child may have ended since Family listed it. The process itself must not have.
		if err := syscall.Kill(p, syscall.SIGSTOP); err != nil && p == pid {
			t.Fatalf("stop process %d: %v", p, err)
		}
	}
	resume = func() {
		for _, p := range family {
			_ = syscall.Kill(p, syscall.SIGCONT) // an error means that the process has ended
		}
	}
	t.Cleanup(resume)
	return resume
}

// Kill kills a process and its descendants with SIGKILL.
func Kill(t testing.TB, pid int) {
	t.Helper()
	_ = localdb.KillFamily(pid) // an error means that the process has ended
}
