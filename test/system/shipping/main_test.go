// Package shipping tests the delivered files: the history of the repository, the programs in the images, and the containers of
// compose.yaml. Tests that need root permissions or a container engine are skipped if these are missing.
package shipping

import (
	"testing"

	"github.com/signalcast/signalcast/test/system/stack"
)

func TestMain(m *testing.M) { stack.Main(m) }

// services returns the names of the services that have an image.
func services(t *testing.T) []string {
	t.Helper()
	return []string{"api", "hub", "clock"}[:stack.Size(t, 1, 3, 3)]
}
