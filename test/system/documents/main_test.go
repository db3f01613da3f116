// Package documents compares the pages of the documentation with the code and runs what they show.
package documents

import (
	"testing"

	"github.com/signalcast/signalcast/test/system/openapi"
)

func TestMain(m *testing.M) { openapi.Main(m, nil) }

// repo is the root of the repository.
const repo = "../../.."
