package settings

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"unicode"
)

// Admin is for commands of the people who run a service.
type Admin struct {
	SecretFile string `name:"secret-file" help:"File with the admin secret, mode 0600. Without it SIGNALCAST_ADMIN_SECRET." placeholder:"FILE"`
}

// ErrNoAdmin is the error of a command that needs the admin secret and has none.
var ErrNoAdmin = errors.New("no admin secret: set SIGNALCAST_ADMIN_SECRET, or give a file with --secret-file")

// AdminSecret finds the secret, to be sent to a hub.
func (a *Admin) AdminSecret(f *Flags, hub string) (string, error) {
	secret := os.Getenv("SIGNALCAST_ADMIN_SECRET")
	if a.SecretFile != "" {
		var err error
		if secret, err = AdminFile(a.SecretFile); err != nil {
			return "", err
		}
	}
	if secret == "" || strings.ContainsFunc(secret, unicode.IsControl) {
		return "", ErrNoAdmin
	}
	return secret, f.MaySend(hub)
}

// AdminFile reads the admin secret from a file that only its owner may read.
func AdminFile(path string) (string, error) {
	raw, err := Private(path)
	if err != nil {
		return "", fmt.Errorf("the file of the admin secret: %w", err)
	}
	secret := strings.TrimSpace(string(raw))
	if secret == "" || strings.ContainsFunc(secret, unicode.IsControl) {
		return "", errors.New("the file of the admin secret does not hold one secret on one line")
	}
	return secret, nil
}
