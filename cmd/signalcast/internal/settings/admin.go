package settings

import (
	"errors"
	"fmt"
	"strings"
	"unicode"
)

// Service is the address of a service, without a slash at its end.
func Service(name, text string) (string, error) { return address(name, text) }

// AdminFile reads the admin secret from a file that nobody else may read.
func AdminFile(path string) (string, error) {
	raw, err := readPrivate(path)
	if err != nil {
		return "", fmt.Errorf("--admin-secret: %w", err)
	}
	secret := strings.TrimSpace(string(raw))
	if secret == "" || strings.ContainsFunc(secret, unicode.IsControl) {
		return "", errors.New("--admin-secret: the file does not hold one secret on one line")
	}
	return secret, nil
}
