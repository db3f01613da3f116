package settings

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"regexp"
	"strings"
)

// Claimed is a new file for one secret, of mode 0600, that is there and still empty.
type Claimed struct{ f *os.File }

// Claim makes one. A file that is there already is not touched.
func Claim(path string) (*Claimed, error) {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return nil, fmt.Errorf("%s is there already, and a secret is not written over: give another name", path)
	}
	return &Claimed{f}, err
}

// Keep writes the secret, so that it outlives the machine's power.
func (c *Claimed) Keep(secret string) error {
	_, err := c.f.WriteString(secret)
	return errors.Join(err, c.f.Sync(), c.f.Close())
}

// Drop removes the file.
func (c *Claimed) Drop() error { return errors.Join(c.f.Close(), os.Remove(c.f.Name())) }

var appToken = regexp.MustCompile(`^dat_[A-Za-z0-9_-]{16,256}$`)

// AppToken reads the access token of an app from a file that only its owner may read.
func AppToken(path string) (string, error) {
	raw, err := Private(path)
	if err != nil {
		return "", fmt.Errorf("--app-token: %w", err)
	}
	token := strings.TrimSpace(string(raw))
	if !appToken.MatchString(token) {
		return "", errors.New("--app-token: the file does not hold one access token, which begins with dat_")
	}
	return token, nil
}
