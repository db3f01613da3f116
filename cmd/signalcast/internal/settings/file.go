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

// File is the content of config.json, which `signalcast login` writes.
type File struct {
	Hub  string            `json:"hub,omitempty"`
	API  string            `json:"api,omitempty"`
	Keys map[string]string `json:"keys,omitempty"` // operator keys by address of the hub
}

// errNoFolder is the error of Path if the environment names no folder.
var errNoFolder = errors.New("no folder for settings; set HOME or XDG_CONFIG_HOME")

// Path returns the path of config.json: under XDG_CONFIG_HOME, or under ~/.config.
func Path() (string, error) {
	dir := os.Getenv("XDG_CONFIG_HOME")
	if !filepath.IsAbs(dir) { // the XDG Base Directory Specification requires that a relative path is ignored
		home, err := os.UserHomeDir()
		if err != nil {
			return "", fmt.Errorf("%w: %w", errNoFolder, err)
		}
		dir = filepath.Join(home, ".config")
	}
	return filepath.Join(dir, "signalcast", "config.json"), nil
}

// Load reads config.json. It returns an empty File if the file does not exist, and an error if other users can read the file.
func Load() (File, error) {
	path, err := Path()
	var raw []byte
	if err == nil {
		raw, err = Private(path)
	}
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, errNoFolder) {
		return File{}, nil
	}
	if err != nil {
		return File{}, err
	}
	var f File
	if json.Unmarshal(raw, &f) != nil { // the error of json may contain a key
		return File{}, fmt.Errorf("%s is not a valid settings file; remove it and log in again", path)
	}
	return f, nil
}

// Save replaces config.json atomically. Only the owner can read the new file.
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

// maxSecret is the maximum number of bytes that the program reads from config.json or from a source of a key or token.
const maxSecret = 64 << 10

// Private reads a file with a secret, up to maxSecret bytes. Except on Windows, it returns an error for a regular file that
// other users can read, write or execute.
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
		return nil, fmt.Errorf(
			"%s is accessible to other users (mode %04o); run chmod 600 on it, and replace its secret if they may have read it",
			path, info.Mode().Perm())
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

// IsKey reports whether a text has the prefix of an operator key.
func IsKey(text string) bool {
	return strings.HasPrefix(text, "dk_") || strings.HasPrefix(text, "db_live_")
}

// oneKey reads an operator key from a source that must contain nothing else. Errors refer to the source by the given name.
func oneKey(from io.Reader, name string) (string, error) {
	key, err := OneSecret(from, name, "an operator key")
	if err == nil && !keyForm.MatchString(key) {
		err = fmt.Errorf("%s contains no operator key: a key is dk_ or db_live_ and 43 letters, digits, - or _", name)
	}
	if err != nil {
		return "", err
	}
	return key, nil
}

var tokenForm = regexp.MustCompile(`^[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+$`)

// OneSecret reads an operator key or an identity token from a source that must contain nothing else. Errors contain the given
// name of the source, and the parameter required, which describes the expected content. The caller must check whether the
// result is a key or a token.
func OneSecret(from io.Reader, name, required string) (string, error) {
	raw, err := io.ReadAll(io.LimitReader(from, maxSecret))
	if err != nil {
		return "", fmt.Errorf("%s: %w", name, err)
	}
	text := strings.TrimSpace(string(raw))
	switch {
	case text == "":
		return "", fmt.Errorf("%s is empty; it must contain %s", name, required)
	case keyForm.MatchString(text), tokenForm.MatchString(text):
		return text, nil
	}
	return "", fmt.Errorf("%s must contain %s, and nothing else", name, required)
}

var secrets = regexp.MustCompile(`(dk_|db_live_|dat_|drt_)[A-Za-z0-9_-]{8,}|eyJ[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)*`)

// Hide replaces keys and tokens in a text by "[secret]", so that the text can be shown.
func Hide(text string) string { return secrets.ReplaceAllString(text, "[secret]") }
