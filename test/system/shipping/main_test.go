// Package shipping tests what is shipped: the history of the repository, the programs of the images, and the containers of
// compose.yaml. Tests that need root or a container engine say so when they are skipped.
package shipping

import (
	"testing"

	"github.com/signalcast/signalcast/test/system/stack"
)

func TestMain(m *testing.M) { stack.Main(m) }

// services are the programs of the images.
func services(t *testing.T) []string {
	t.Helper()
	return []string{"api", "hub", "clock"}[:stack.Size(t, 1, 3, 3)]
}
