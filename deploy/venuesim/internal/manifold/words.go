package manifold

import (
	"github.com/signalcast/signalcast/deploy/venuesim/internal/control"
	"github.com/signalcast/signalcast/deploy/venuesim/internal/world"
)

// The venue's words of a result; YES and NO are said as everywhere.
const (
	formShare  = "MKT"
	formCancel = "CANCEL"
)

// Rules are what a test can tell this venue.
var Rules = control.Rules{
	NoBook: true, Creator: true,
	Forms: map[string][]world.Verdict{formCancel: control.Void, formShare: control.Void}, Payout: true, Unpaid: formCancel, Undisputed: true,
}
