package settings

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"

	"github.com/natefinch/atomic"
)

// File is config.json: what the last login left.
type File struct {
	Hub  string            `json:"hub,omitempty"`
	API  string            `json:"api,omitempty"`
	Keys map[string]string `json:"keys,omitempty"` // by the address of the hub
}

// Path returns the path of the file: under XDG_CONFIG_HOME, or ~/.config.
func Path() (string, error) {
	dir := os.Getenv("XDG_CONFIG_HOME")
	if !filepath.IsAbs(dir) { // the XDG specification wants others ignored
		home, err := os.UserHomeDir()
		if err != nil {
			return "", fmt.Errorf("no place for settings: set HOME or XDG_CONFIG_HOME (%w)", err)
		}
		dir = filepath.Join(home, ".config")
	}
	return filepath.Join(dir, "signalcast", "config.json"), nil
}

// Load reads the file. One that is not there is empty; one that others may read is refused.
func Load() (File, error) {
	path, err := Path()
	if err != nil {
		return File{}, nil //nolint:nilerr // without a home nothing is stored
	}
	raw, err := Private(path)
	if errors.Is(err, fs.ErrNotExist) {
		return File{}, nil
	}
	if err != nil {
		return File{}, err
	}
	var f File
	if json.Unmarshal(raw, &f) != nil { // its error may show the content
		return File{}, fmt.Errorf("%s is broken: remove it and log in again", path)
	}
	return f, nil
}

// Save writes the file, whole or not at all, for its owner alone.
func (f File) Save() error {
	path, err := Path()
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	raw, err := json.MarshalIndent(f, "", "  ")
	if err != nil {
		return err
	}
	return atomic.WriteFile(path, bytes.NewReader(append(raw, '\n')))
}

// maxSecret is more than a key, a token or the file of settings has, in bytes.
const maxSecret = 64 << 10

// Private reads a file that only its owner may read.
func Private(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if info.Mode().IsRegular() && info.Mode().Perm()&0o077 != 0 && runtime.GOOS != "windows" {
		return nil, fmt.Errorf("%s can be read by others (mode %04o): run chmod 600 on it; if it was so for long, revoke the key", path, info.Mode().Perm())
	}
	return io.ReadAll(io.LimitReader(f, maxSecret))
}

func keyFile(path string) (string, error) {
	raw, err := Private(path)
	if err != nil {
		return "", fmt.Errorf("--key: %w", err)
	}
	return oneKey(bytes.NewReader(raw), path)
}

var keyForm = regexp.MustCompile(`^(dk_|db_live_)[A-Za-z0-9_-]{43}$`)

// IsKey reports whether a text begins as a key does.
func IsKey(text string) bool {
	return strings.HasPrefix(text, "dk_") || strings.HasPrefix(text, "db_live_")
}

func oneKey(from io.Reader, name string) (string, error) {
	key, err := OneSecret(from, name)
	if err == nil && !keyForm.MatchString(key) {
		err = fmt.Errorf("%s holds no operator key: one is dk_ or db_live_ and 43 characters", name)
	}
	if err != nil {
		return "", err
	}
	return key, nil
}

var tokenForm = regexp.MustCompile(`^[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+$`)

// OneSecret reads one key or identity token and nothing else.
func OneSecret(from io.Reader, name string) (string, error) {
	raw, err := io.ReadAll(io.LimitReader(from, maxSecret))
	if err != nil {
		return "", fmt.Errorf("%s: %w", name, err)
	}
	text := strings.TrimSpace(string(raw))
	switch {
	case text == "":
		return "", fmt.Errorf("%s is empty; it must hold a key or an identity token", name)
	case keyForm.MatchString(text), tokenForm.MatchString(text):
		return text, nil
	}
	return "", fmt.Errorf("%s holds neither one key nor one identity token", name)
}

var secrets = regexp.MustCompile(`(dk_|db_live_|dat_|drt_)[A-Za-z0-9_-]{8,}|eyJ[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)*`)

// Hide takes keys and tokens out of a text that is shown.
func Hide(text string) string { return secrets.ReplaceAllString(text, "[secret]") }
