// Package documents compares the pages of the documentation with the code, and runs their commands and programs.
package documents

import (
	"testing"

	"github.com/signalcast/signalcast/test/system/openapi"
)

func TestMain(m *testing.M) { openapi.Main(m, nil) }

// repo is the path of the repository's root directory.
const repo = "../../.."
