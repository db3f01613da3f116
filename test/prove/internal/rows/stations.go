package rows

import (
	"context"
	"fmt"
	"net/http"

	"github.com/signalcast/signalcast/test/prove/client"
	"github.com/signalcast/signalcast/test/prove/internal/frame"
)

// stationsPath is where partner stations are registered, at the ledger's own host.
const stationsPath = "/api/v1/stations"
