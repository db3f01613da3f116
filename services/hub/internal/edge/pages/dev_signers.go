package pages

import (
	"context"

	"github.com/labstack/echo/v4"

	"github.com/signalcast/signalcast/services/hub/internal/message"
	"github.com/signalcast/signalcast/services/hub/internal/operator"
)

type signerRow struct {
	Key, Short, Label, App, Made, Until, Status string
	Scopes                                      []string
	Active                                      bool
}

// statusWords say how a signer stands.
var statusWords = map[message.Status]string{message.Active: "active", message.Revoked: "revoked", message.Expired: "run out"}

// signersOf lists the keys that sign for somebody, with the apps that they belong to.
func (s *site) signersOf(ctx context.Context, op operator.Operator) ([]signerRow, error) {
	list, err := s.Messages.ListSigners(ctx, string(op.ID))
	if err != nil || len(list) == 0 {
		return nil, err
	}
	grants, err := s.Grants.ListGrants(ctx, string(op.ID))
	if err != nil {
		return nil, err
	}
	apps := map[string]string{}
	for _, g := range grants {
		apps[g.App.ID] = g.App.Name
	}
	rows := make([]signerRow, 0, len(list))
	for _, one := range list {
		r := s.signerRow(one)
		switch name, known := apps[one.AppID]; {
		case one.AppID == "":
			r.App = "your own"
		case known:
			r.App = name
		default:
			r.App = "an app of before"
		}
		rows = append(rows, r)
	}
	return rows, nil
}

func (s *site) signerRow(one message.Signer) signerRow {
	r := signerRow{
		Key: string(one.Key), Short: shortKey(string(one.Key)), Label: one.Label, Made: when(one.CreatedAt), Until: "never",
		Status: statusWords[one.Status(s.Now())], Active: one.Status(s.Now()) == message.Active,
	}
	if !one.ExpiresAt.IsZero() {
		r.Until = when(one.ExpiresAt)
	}
	for _, scope := range one.Scopes {
		r.Scopes = append(r.Scopes, scopeWord(scope))
	}
	return r
}

// shortKey is enough of a public key to tell it from the others.
func shortKey(key string) string {
	if len(key) < 16 {
		return key
	}
	return key[:8] + "…" + key[len(key)-6:]
}

// revokeSigner is POST /dev/signers/revoke.
func (s *site) revokeSigner(c echo.Context) error {
	op, form, err := s.act(c)
	if err != nil {
		return err
	}
	if _, err := s.Messages.RevokeSigner(c.Request().Context(), message.Owner{DenpaID: string(op.ID)}, form.Get("key")); err != nil {
		return err
	}
	return done(c, devPath+"#signers")
}
