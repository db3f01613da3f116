package settings

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"unicode"
)

// Admin contains the flag that all commands for administrators have.
type Admin struct {
	SecretFile string `name:"secret-file" help:"File with the admin secret, mode 0600. Default: SIGNALCAST_ADMIN_SECRET." placeholder:"FILE"`
}

// ErrNoAdmin is the error for a missing admin secret, or for a control character in SIGNALCAST_ADMIN_SECRET.
var ErrNoAdmin = errors.New("no admin secret; set SIGNALCAST_ADMIN_SECRET to one line without control characters, or name " +
	"a file with --secret-file")

// AdminSecret returns the admin secret from the file of --secret-file or, without that flag, from SIGNALCAST_ADMIN_SECRET. It
// returns ErrNoAdmin if there is no secret, and the error of f.MaySend if the secret must not be sent to hub.
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

// AdminFile reads the admin secret from a file. It returns an error if other users can read the file, or if the file does not
// contain one line with the secret.
func AdminFile(path string) (string, error) {
	raw, err := Private(path)
	if err != nil {
		return "", fmt.Errorf("read the file of the admin secret: %w", err)
	}
	secret := strings.TrimSpace(string(raw))
	if secret == "" || strings.ContainsFunc(secret, unicode.IsControl) {
		return "", errors.New("the file of the admin secret must contain only the secret: one line without control characters")
	}
	return secret, nil
}
