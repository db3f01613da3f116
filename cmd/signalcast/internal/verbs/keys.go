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

// Keys groups the commands of `signalcast keys`. A key cannot manage keys, so each of these commands reads an identity token
// from the standard input.
type Keys struct {
	List   keysList   `cmd:"" help:"List your keys. Reads the identity token from the standard input."`
	Mint   keysMint   `cmd:"" help:"Create a key in a new file of mode 0600. Reads the identity token from the standard input."`
	Revoke keysRevoke `cmd:"" help:"Revoke a key at once. Reads the identity token from the standard input."`
}

// signedIn contains the flags of a command that reads an identity token from the standard input and sends it to the hub.
type signedIn struct{ settings.Flags }

// Provide returns a session that sends the identity token to the hub. kong passes it to Run.
func (f *signedIn) Provide(s *Streams) (*session, error) {
	if f.Key != "" {
		return nil, errors.New("this command does not accept --key; it reads an identity token from the standard input")
	}
	if s.InTerminal {
		return nil, errors.New(
			"this command reads an identity token from the standard input; redirect a file to it, for example: " +
				"signalcast keys list < FILE")
	}
	token, err := settings.OneSecret(s.In, "the standard input", "an identity token")
	if err != nil {
		return nil, err
	}
	if settings.IsKey(token) {
		return nil, errors.New("the standard input contains a key; this command requires an identity token, which sign-in returns")
	}
	return connect(&f.Flags, s, func(hub string) (string, error) { return token, f.MaySend(hub) })
}

type keysList struct{ signedIn }

// Run reads and shows the keys of the caller.
func (k *keysList) Run(ctx context.Context, at *session) error {
	a, err := at.ListKeys(ctx)
	return showResponse(at, a, err, func(l *client.KeyList) error {
		const none, head = "No keys. Create one with `signalcast keys mint --out FILE`.", "ID,STATE,PERMISSIONS,LAST USED,CREATED,LABEL"
		var rows [][]string
		for _, key := range l.Keys { // the type of key has no name, so Table cannot take the list
			state := "revoked"
			if key.Active {
				state = "active"
			}
			rows = append(rows, []string{
				key.ID.String(), state, permissionsText(key.Permissions, key.Strict),
				when(key.LastUsedAt), when(&key.CreatedAt), show.Short(key.Label, 64),
			})
		}
		return show.Table(at.out, none, head, rows, func(row []string) []string { return row })
	})
}

// permissionsText returns the permissions of a key as text. For a key that is not strict it adds "(not strict)", because its
// permissions apply only on routes with scopes.
func permissionsText(permissions []client.Permission, strict bool) string {
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
	Out        string   `short:"o" required:"" help:"New file for the key. An existing file is not overwritten." type:"path" placeholder:"FILE"`
	Label      string   `help:"Name of the key." default:"signalcast"`
	Permission []string `help:"Permissions of the key: read, signal, broadcast." default:"read,signal" enum:"read,signal,broadcast"`
}

// Run creates the file before it creates the key, so that it never creates a key that cannot be stored.
func (k *keysMint) Run(ctx context.Context, at *session) error {
	file, err := settings.CreateFile(k.Out)
	if err != nil {
		return err
	}
	minted := loggedIn{Hub: at.at, Stored: k.Out}
	key, err := mint(ctx, at, k.Label, k.Permission, &minted)
	if err != nil {
		return errors.Join(err, file.Remove())
	}
	if err := file.Store(key + "\n"); err != nil {
		const text = "the key %s was created, but storing it failed; revoke it with `signalcast keys revoke %[1]s`"
		return errors.Join(fmt.Errorf(text, minted.ID), err)
	}
	return minted.show(at)
}

// keyID is the id of a key.
type keyID uuid.UUID

// UnmarshalText implements encoding.TextUnmarshaler.
func (id *keyID) UnmarshalText(raw []byte) error {
	if (*uuid.UUID)(id).UnmarshalText(raw) != nil {
		return errors.New("the id of a key must be a UUID, such as the ids that `signalcast keys list` prints")
	}
	return nil
}

type keysRevoke struct {
	signedIn
	ID keyID `arg:"" name:"id" help:"Id of the key, as in: signalcast keys list."`
}

// Run revokes the key at the hub and shows what else the hub revoked with it.
func (k *keysRevoke) Run(ctx context.Context, at *session) error {
	a, err := at.RevokeKey(ctx, &client.RevokeKeyParams{ID: uuid.UUID(k.ID)})
	err = showResponse(at, a, err, func(r *client.RevokedKey) error {
		pairs := []string{"Revoked", r.ID.String()}
		if len(r.Revoked.Signers) > 0 {
			pairs = append(pairs, "Signers revoked", strings.Join(r.Revoked.Signers, " "))
		}
		if len(r.Revoked.Webhooks) > 0 {
			pairs = append(pairs, "Webhooks stopped", fmt.Sprint(r.Revoked.Webhooks))
		}
		return show.Pairs(at.out, pairs...)
	})
	err = ask.AdviseUnknown(err, "Check with `signalcast keys list`, and run the command again if the key is still active")
	return adviseNotFound(err, "Check the id with `signalcast keys list`")
}
