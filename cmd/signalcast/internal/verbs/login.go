package verbs

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/signalcast/signalcast/cmd/signalcast/internal/ask"
	"github.com/signalcast/signalcast/cmd/signalcast/internal/settings"
	"github.com/signalcast/signalcast/cmd/signalcast/internal/show"
	"github.com/signalcast/signalcast/sdk/go/client"
)

// Login is the command `signalcast login`, which stores an operator key.
type Login struct {
	settings.Flags
	Label      string   `help:"Name of a new key." default:"signalcast"`
	Permission []string `help:"Permissions of a new key: read, signal, broadcast." default:"read,signal" enum:"read,signal,broadcast"`
	NoBrowser  bool     `help:"Do not open the page on which keys are created."`
}

// loggedIn is the JSON output of login and of keys mint. It does not contain the key.
type loggedIn struct {
	Hub         string   `json:"hub"`
	Stored      string   `json:"stored"` // path of the file with the key
	ID          string   `json:"id,omitempty"`
	Permissions []string `json:"permissions,omitempty"`
}

// Run reads a key or an identity token from the standard input; on a terminal it asks for it. It checks a key at the hub, or
// creates a new key with the token. It then stores the key in config.json.
func (l *Login) Run(ctx context.Context, s *Streams) error {
	if l.Key != "" {
		return errors.New("login does not accept --key; it asks on a terminal, or reads the standard input: signalcast login < FILE")
	}
	at, err := l.Address()
	if err == nil {
		err = l.MaySend(at)
	}
	if err != nil {
		return err
	}
	secret, err := l.secret(ctx, s, at)
	if err != nil {
		return err
	}
	stored, err := settings.Load()
	if err == nil {
		err = stored.Save() // fails before a key is created that cannot be stored
	}
	if err != nil {
		return err
	}
	if l.API != "" {
		if stored.API, err = l.APIAddress(); err != nil {
			return err
		}
	} else if stored.Hub != at {
		stored.API = ""
	}
	c, err := open(s, at, secret)
	if err != nil {
		return err
	}
	done := loggedIn{Hub: at}
	if !settings.IsKey(secret) {
		if secret, err = mint(ctx, c, l.Label, l.Permission, &done); err != nil {
			return err
		}
	} else if err := checkKey(ctx, c); err != nil {
		return err
	}
	return storeKey(c, stored, at, secret, done)
}

// secret returns the key or the identity token from the standard input. On a terminal it first shows the page on which keys are
// created, and opens it in a browser.
func (l *Login) secret(ctx context.Context, s *Streams, hub string) (string, error) {
	const required = "a key or an identity token"
	if !s.InTerminal {
		return settings.OneSecret(s.In, "the standard input", required)
	}
	_, _ = fmt.Fprintf(s.messages(), "Create a key at %s/dev and paste it here. It is not shown: ", show.Clean(hub))
	if !l.NoBrowser && s.Terminal {
		_ = s.Browse(hub + "/dev") // without a browser the address is enough
	}
	line, err := s.ReadHidden(ctx)
	_, _ = fmt.Fprintln(s.messages())
	if err != nil {
		return "", err
	}
	return settings.OneSecret(strings.NewReader(line), "the input", required)
}

// checkKey returns an error if the hub refuses the key. Status 403 is not an error: the key is valid but lacks the permission
// to read.
func checkKey(ctx context.Context, c *session) error {
	_, err := ask.Read(c.GetMe(ctx))
	if r := (*ask.Refused)(nil); errors.As(err, &r) && r.Status == http.StatusForbidden {
		return nil
	}
	return err
}

// mint creates a strict key with the identity token of c and returns the key. It stores the id and the permissions of the key in
// done.
func mint(ctx context.Context, c *session, label string, permissions []string, done *loggedIn) (key string, err error) {
	may := make([]client.Permission, len(permissions))
	for i, p := range permissions {
		may[i] = client.Permission(p)
	}
	strict := true // the permissions limit the key on every route
	minted, err := decoded[client.MintedKey](c.MintKey(ctx, client.KeyMint{Label: label, Permissions: &may, Strict: &strict}))
	if err != nil {
		return "", ask.AdviseUnknown(err,
			"Check with `signalcast keys list`: a created key cannot be shown again, so revoke it with `signalcast keys revoke ID`")
	}
	if !settings.IsKey(minted.Key) {
		return "", errors.New("the response of the hub contains no key; check --hub")
	}
	done.ID, done.Permissions = minted.ID.String(), permissions
	return minted.Key, nil
}

// storeKey stores a key in config.json for the hub with the given address, and shows the result of the login.
func storeKey(c *session, stored settings.File, at, key string, done loggedIn) error {
	if stored.Keys == nil {
		stored.Keys = map[string]string{}
	}
	stored.Hub, stored.Keys[at] = at, key
	if err := stored.Save(); err != nil {
		if done.ID != "" {
			err = fmt.Errorf("the key %s was created, but storing it failed; revoke it at %s/dev: %w", done.ID, at, err)
		}
		return err
	}
	var err error
	if done.Stored, err = settings.Path(); err != nil {
		return err
	}
	return done.show(c)
}

func (d *loggedIn) show(c *session) error {
	return c.answer(d, "Hub", d.Hub, "Key stored in", d.Stored, "Key id", d.ID)
}
