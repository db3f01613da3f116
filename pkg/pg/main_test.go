package pg_test

import (
	"testing"

	"github.com/signalcast/signalcast/pkg/testkit"
)

func TestMain(m *testing.M) { testkit.Main(m) }
