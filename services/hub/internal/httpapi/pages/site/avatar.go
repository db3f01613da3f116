package site

import (
	"cmp"

	"github.com/signalcast/signalcast/pkg/protocol"
	"github.com/signalcast/signalcast/services/hub/internal/httpapi/pages/format"
	"github.com/signalcast/signalcast/services/hub/internal/picture"
)

// Avatar is the picture of an operator over the initials, which are visible until it has loaded and if it cannot be loaded.
type Avatar struct {
	Initials string
	URL      string // path of the picture; empty: none
	Size     string // big, or empty
}

// AvatarOf returns the avatar of an operator. An empty name is replaced with the handle. Without avatarURL it has no picture.
func AvatarOf(handle, name, avatarURL string) Avatar {
	a := Avatar{Initials: cmp.Or(format.Initials(name), format.Initials(handle))}
	if avatarURL != "" {
		a.URL = picture.Path(protocol.Handle(handle))
	}
	return a
}
