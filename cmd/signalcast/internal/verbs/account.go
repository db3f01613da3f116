package verbs

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/signalcast/signalcast/cmd/signalcast/internal/settings"
	"github.com/signalcast/signalcast/cmd/signalcast/internal/show"
	"github.com/signalcast/signalcast/sdk/go/client"
)

// Logout is the command `signalcast logout`.
type Logout struct {
	settings.Home
	All bool `help:"Delete the keys of every hub."`
}

// loggedOut is the JSON output of logout.
type loggedOut struct {
	Removed []string `json:"removed"` // addresses of the hubs whose keys were deleted
	Stored  string   `json:"stored"`  // path of config.json
}

// Run deletes the stored key of the hub, or all stored keys, from config.json. The keys stay valid until they are revoked.
func (l *Logout) Run(s *Streams) error {
	stored, err := settings.Load()
	if err != nil {
		return err
	}
	at, err := l.Address()
	if err != nil {
		return err
	}
	out := loggedOut{Removed: []string{}}
	for hub := range stored.Keys {
		if l.All || hub == at {
			out.Removed = append(out.Removed, hub)
			delete(stored.Keys, hub)
		}
	}
	if len(out.Removed) == 0 {
		if l.All {
			return errors.New("no key is stored")
		}
		return errors.New("no key is stored for " + at + "; name another hub with --hub")
	}
	if out.Stored, err = settings.Path(); err == nil {
		err = stored.Save()
	}
	if err != nil {
		return err
	}
	if s.AsJSON() {
		raw, err := json.Marshal(out)
		return errors.Join(err, show.JSON(s.Out, raw))
	}
	pairs := []string{}
	for _, hub := range out.Removed {
		pairs = append(pairs, "Removed", "the key for "+hub)
	}
	return show.Pairs(s.Output(), append(pairs, "Still valid", "until it is revoked: signalcast keys revoke ID")...)
}

// WhoAmI is the command `signalcast whoami`, which shows the owner of the key.
type WhoAmI struct{ keyed }

// Run reads and shows the passport of the owner of the key.
func (w *WhoAmI) Run(ctx context.Context, at *session) error {
	a, err := at.GetMe(ctx)
	return showResponse(at, a, err, func(p *client.OwnPassport) error {
		return show.Pairs(at.out, "Handle", text(p.Username), "Name", text(p.DisplayName), "Passport", p.DenpaID.String(),
			"Public id", p.OperatorID, "Kind", string(p.OperatorType), "Since", when(&p.CreatedAt), "Hub", at.at)
	})
}
