package teeth_test

import (
	"testing"

	"github.com/signalcast/signalcast/pkg/teeth"
)

func TestNothingIsPlantedByDefault(t *testing.T) {
	t.Parallel()
	if teeth.Bites("") || teeth.Bites("A1") {
		t.Fatal("a fault is planted in an ordinary build")
	}
}
