package verbs

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/google/uuid"

	"github.com/signalcast/signalcast/cmd/signalcast/internal/ask"
	"github.com/signalcast/signalcast/cmd/signalcast/internal/settings"
	"github.com/signalcast/signalcast/cmd/signalcast/internal/show"
	"github.com/signalcast/signalcast/sdk/go/client"
)

// Keys are `signalcast keys …`. A key cannot manage keys, so each of them reads an
// identity token from the standard input.
type Keys struct {
	List   keysList   `cmd:"" help:"Your keys. The identity token comes on the standard input."`
	Mint   keysMint   `cmd:"" help:"Mint a key into a file of mode 0600. The identity token comes on the standard input."`
	Revoke keysRevoke `cmd:"" help:"Revoke a key, at once. The identity token comes on the standard input."`
}

// signedIn are the flags of a command that sends the identity token on the standard input to the hub.
type signedIn struct{ settings.Flags }

// Provide opens the hub for Run.
func (f *signedIn) Provide(s *Streams) (*session, error) {
	if f.Key != "" {
		return nil, errors.New("this wants an identity token on the standard input, and no --key: a key cannot stand for its owner here")
	}
	if s.InTerminal {
		return nil, errors.New("the identity token comes on the standard input: signalcast … < FILE")
	}
	token, err := settings.OneSecret(s.In, "the standard input")
	if err != nil {
		return nil, err
	}
	if settings.IsKey(token) {
		return nil, errors.New("the standard input holds a key; this wants an identity token, which comes from signing in")
	}
	return connect(&f.Flags, s, func(hub string) (string, error) { return token, f.MaySend(hub) })
}

type keysList struct{ signedIn }

// Run lists.
func (k *keysList) Run(ctx context.Context, at *session) error {
	a, err := at.ListKeys(ctx)
	return finish(at, a, err, func(l *client.KeyList) error {
		const none, head = "No keys. Mint one with `signalcast keys mint --out FILE`.", "ID,STATE,PERMISSIONS,LAST USED,MADE,LABEL"
		var rows [][]string
		for _, key := range l.Keys { // its type has no name
			state := "revoked"
			if key.Active {
				state = "active"
			}
			rows = append(rows, []string{
				key.ID.String(), state, mayDo(key.Permissions, key.Strict), when(key.LastUsedAt), when(&key.CreatedAt), show.Short(key.Label, 64),
			})
		}
		return show.Table(at.out, none, head, rows, func(row []string) []string { return row })
	})
}

// mayDo names the permissions of a key. A key that is not strict is held to them only where
// scopes apply.
func mayDo(permissions []client.Permission, strict bool) string {
	words := make([]string, len(permissions))
	for i, p := range permissions {
		words[i] = string(p)
	}
	if !strict {
		words = append(words, "(not strict)")
	}
	return strings.Join(words, " ")
}

type keysMint struct {
	signedIn
	Out        string   `short:"o" required:"" help:"File for the key. It must not be there yet." type:"path" placeholder:"FILE"`
	Label      string   `help:"Name of the key." default:"signalcast"`
	Permission []string `help:"What the key may do: read, signal, broadcast." default:"read,signal" enum:"read,signal,broadcast"`
}

// Run mints. The file is made first, so that no key is minted that cannot be kept.
func (k *keysMint) Run(ctx context.Context, at *session) error {
	file, err := settings.Claim(k.Out)
	if err != nil {
		return err
	}
	made := loggedIn{Hub: at.at, Stored: k.Out}
	key, err := mint(ctx, at, k.Label, k.Permission, &made)
	if err != nil {
		return errors.Join(err, file.Drop())
	}
	if err := file.Keep(key + "\n"); err != nil {
		return errors.Join(errors.New("the key "+made.ID+" was minted and could not be kept, so revoke it: signalcast keys revoke "+made.ID), err)
	}
	return made.show(at)
}

type keysRevoke struct {
	signedIn
	ID uuid.UUID `arg:"" name:"id" help:"The id of the key: signalcast keys list."`
}

// Run revokes.
func (k *keysRevoke) Run(ctx context.Context, at *session) error {
	a, err := at.RevokeKey(ctx, &client.RevokeKeyParams{ID: k.ID})
	err = finish(at, a, err, func(r *client.RevokedKey) error {
		pairs := []string{"Revoked", r.ID.String()}
		if len(r.Revoked.Signers) > 0 {
			pairs = append(pairs, "Signers revoked", strings.Join(r.Revoked.Signers, " "))
		}
		if len(r.Revoked.Webhooks) > 0 {
			pairs = append(pairs, "Webhooks stopped", fmt.Sprint(r.Revoked.Webhooks))
		}
		return show.Pairs(at.out, pairs...)
	})
	err = ask.MayHave(err, "Look with `signalcast keys list`, and run the command again where the key is active still")
	return known(err, "Look at the id: `signalcast keys list`")
}
