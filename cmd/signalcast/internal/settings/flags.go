package settings

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"strings"
)

// Home contains the flag with the address of the hub.
type Home struct {
	Hub string `help:"Address of the hub. Default: hub of the last login, or http://127.0.0.1:8080." env:"SIGNALCAST_HUB" placeholder:"URL"`
}

// Flags contains the flags of most commands that send requests.
type Flags struct {
	Home
	API       string `name:"api" help:"Address of the api. Default: api of the last login at this hub, or http://127.0.0.1:8081 with the default hub." env:"SIGNALCAST_API" placeholder:"URL"`
	Key       string `help:"File with the key, mode 0600, or - for the standard input. Default: SIGNALCAST_KEY, then the stored key of this hub." placeholder:"FILE"`
	PlainHTTP bool   `name:"plain-http" help:"Allow sending a key without encryption to another machine."`
}

const (
	defaultHub = "http://127.0.0.1:8080"
	defaultAPI = "http://127.0.0.1:8081"
)

// Address returns the address of the hub, without a slash at the end. It uses the flag or the environment, then config.json,
// then the default.
func (h Home) Address() (string, error) {
	f, err := Load()
	if err != nil && h.Hub == "" {
		return "", err
	}
	return Service("--hub", h.Hub, f.Hub, defaultHub)
}

// APIAddress returns the address of the api, without a slash at the end. It uses the flag or the environment, then the api in
// config.json if config.json has the same hub as the command. The default address belongs to the default hub only; for another
// hub without an address, it returns an error.
func (f *Flags) APIAddress() (string, error) {
	if f.API != "" {
		return Service("--api", f.API)
	}
	hub, err := f.Address()
	if err != nil {
		return "", err
	}
	stored, err := Load()
	if err != nil {
		return "", err
	}
	if stored.Hub != hub {
		stored.API = ""
	}
	if stored.API == "" && hub != defaultHub {
		return "", fmt.Errorf("the address of the api of %s is unknown; set it with --api or SIGNALCAST_API", hub)
	}
	return Service("--api", stored.API, defaultAPI)
}

// Service returns the first non-empty address of the parameter given, without a slash at the end. It returns an error if
// there is none, if the address is not an http or https URL, or if it has a user, a query or a fragment. Errors refer to the
// setting by the name in flag.
func Service(flag string, given ...string) (string, error) {
	for _, text := range given {
		if text == "" {
			continue
		}
		u, err := url.Parse(text)
		// The text may be a key, so the error does not contain it.
		if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil || u.RawQuery != "" ||
			u.Fragment != "" {
			return "", errors.New(flag +
				" must be an http or https URL without user name, query and fragment, such as https://hub.example")
		}
		return strings.TrimRight(text, "/"), nil
	}
	return "", errors.New(flag + " is missing; it must be a URL such as https://hub.example")
}

// ErrNoKey is the error for a missing key: a command requires a key, but none is set or stored.
var ErrNoKey = errors.New("a key is required: run `signalcast login`, or set SIGNALCAST_KEY or --key FILE")

// Secret returns the key for a hub from --key, SIGNALCAST_KEY or config.json. It returns ErrNoKey if there is none, and the
// error of MaySend if the key must not be sent to hub. The parameter in is the standard input, from which it reads the key
// for --key -.
func (f *Flags) Secret(hub string, in io.Reader) (string, error) {
	key, err := f.find(hub, in)
	if err != nil {
		return "", err
	}
	return key, f.MaySend(hub)
}

func (f *Flags) find(hub string, in io.Reader) (string, error) {
	switch {
	case IsKey(f.Key):
		return "", errors.New("--key must be the name of a file, not a key: other users of this machine can read the command line. " +
			"Revoke this key")
	case f.Key == "-":
		return oneKey(in, "the standard input")
	case f.Key != "":
		return keyFile(f.Key)
	}
	if key, given := os.LookupEnv("SIGNALCAST_KEY"); given && key != "" {
		return oneKey(strings.NewReader(key), "SIGNALCAST_KEY")
	}
	stored, err := Load()
	if err != nil {
		return "", err
	}
	if key := stored.Keys[hub]; key != "" {
		return key, nil
	}
	if len(stored.Keys) > 0 {
		return "", fmt.Errorf("no key is stored for %s; %w", hub, ErrNoKey)
	}
	return "", ErrNoKey
}

// MaySend returns an error if a secret must not be sent to an address. It allows https, addresses of this machine and, with
// --plain-http, every address.
func (f *Flags) MaySend(to string) error {
	u, err := url.Parse(to)
	if err != nil {
		return errors.New("the address must be a URL such as https://hub.example")
	}
	host := u.Hostname()
	ip := net.ParseIP(host)
	if u.Scheme == "https" || f.PlainHTTP || host == "localhost" || ip != nil && ip.IsLoopback() {
		return nil
	}
	return fmt.Errorf("%s is not encrypted, so others can read the credential; use https, or --plain-http if you trust the network",
		to)
}
