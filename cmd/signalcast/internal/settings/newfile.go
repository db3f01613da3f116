package settings

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"regexp"
	"strings"
)

// NewFile is a new, empty file with mode 0600 for one secret.
type NewFile struct{ f *os.File }

// CreateFile creates the file before its secret exists, so that a secret that cannot be stored is never created. It returns an
// error if a file with this path exists, and does not change that file.
func CreateFile(path string) (*NewFile, error) {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return nil, fmt.Errorf("%s exists, and a file with a secret is never overwritten; use another name", path)
	}
	return &NewFile{f}, err
}

// Store writes the secret, syncs the file to the disk and closes it.
func (n *NewFile) Store(secret string) error {
	_, err := n.f.WriteString(secret)
	return errors.Join(err, n.f.Sync(), n.f.Close())
}

// Remove closes and deletes the file.
func (n *NewFile) Remove() error { return errors.Join(n.f.Close(), os.Remove(n.f.Name())) }

var appToken = regexp.MustCompile(`^dat_[A-Za-z0-9_-]{16,256}$`)

// AppToken reads the access token of an app from a file. It returns an error if other users can read the file, or if it
// contains no token.
func AppToken(path string) (string, error) {
	raw, err := Private(path)
	if err != nil {
		return "", fmt.Errorf("--app-token: %w", err)
	}
	token := strings.TrimSpace(string(raw))
	if !appToken.MatchString(token) {
		return "", errors.New("--app-token: the file must contain one access token, which begins with dat_")
	}
	return token, nil
}
