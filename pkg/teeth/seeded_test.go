//go:build teeth

package teeth_test

import (
	"sync"
	"testing"

	"github.com/signalcast/signalcast/pkg/teeth"
)

// TestSeededRace races on purpose: it shows that the race detector of promise F5
// is on.
func TestSeededRace(t *testing.T) {
	t.Parallel()
	if !teeth.Bites("F5") {
		return
	}
	var wg sync.WaitGroup
	shared := 0
	for range 2 {
		wg.Go(func() { shared++ })
	}
	wg.Wait()
	t.Log(shared)
}
