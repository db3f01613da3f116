package site

import (
	"cmp"

	"github.com/signalcast/signalcast/services/hub/internal/httpapi/pages/format"
	"github.com/signalcast/signalcast/services/hub/internal/operator"
	"github.com/signalcast/signalcast/services/hub/internal/picture"
)

// Avatar is the picture of an operator over the initials, which are visible until it has loaded and if it cannot be loaded.
type Avatar struct {
	Initials string
	URL      string // path and query of the picture; empty: none
	Size     string // big, or empty
}

// AvatarOf returns the avatar of an operator. An empty name is replaced with the handle. Without an avatarUrl and for a closed
// account it has no picture.
func AvatarOf(of operator.Operator) Avatar {
	a := Avatar{Initials: cmp.Or(format.Initials(of.DisplayName), format.Initials(string(of.Handle)))}
	if of.AvatarURL != "" && of.ClosingAt.IsZero() {
		a.URL = picture.Path(of.Handle, of.AvatarURL)
	}
	return a
}
