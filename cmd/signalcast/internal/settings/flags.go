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

// Home is the address of the hub, for commands that need nothing else.
type Home struct {
	Hub string `help:"Address of the hub; without it that of the last login, or http://localhost:8080." env:"SIGNALCAST_HUB" placeholder:"URL"`
}

// Flags are what every command that asks a service takes.
type Flags struct {
	Home
	API       string `name:"api" help:"Address of the api; without it that of the last login, or http://localhost:8081." env:"SIGNALCAST_API" placeholder:"URL"`
	Key       string `help:"File with the key, mode 0600, or - for the standard input. Without it SIGNALCAST_KEY, then the key of the last login at this hub." placeholder:"FILE"`
	PlainHTTP bool   `name:"plain-http" help:"Send a key without encryption to a machine that is not this one."`
	JSON      bool   `name:"json" xor:"form" help:"Answer as JSON; so it is where the output is no terminal."`
	Table     bool   `xor:"form" help:"Answer as a table, also where the output is no terminal."`
}

const (
	defaultHub = "http://localhost:8080"
	defaultAPI = "http://localhost:8081"
)

// Address is the hub's, without a slash at its end.
func (h Home) Address() (string, error) {
	f, err := Load()
	if err != nil && h.Hub == "" {
		return "", err
	}
	return Service("--hub", h.Hub, f.Hub, defaultHub)
}

// APIAddress is the api's. The one that was stored belongs to the stored hub.
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
		if hub != defaultHub {
			return "", fmt.Errorf("which api belongs to %s? Give it with --api or SIGNALCAST_API", hub)
		}
		stored.API = ""
	}
	return Service("--api", stored.API, defaultAPI)
}

// Service is the first address of a service that is given, without a slash at its end.
func Service(flag string, given ...string) (string, error) {
	for _, text := range given {
		if text == "" {
			continue
		}
		u, err := url.Parse(text)
		// The text may be a key, so the error does not contain it.
		if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
			return "", errors.New(flag + " is no address of a service; write it like https://hub.example")
		}
		return strings.TrimRight(text, "/"), nil
	}
	return "", errors.New(flag + " is missing")
}

// ErrNoKey is the error of a command that needs a key and has none.
var ErrNoKey = errors.New("no key: run `signalcast login < FILE` with a key or an identity token in the file, or set SIGNALCAST_KEY or --key FILE")

// Secret finds the key for a hub.
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
		return "", errors.New("--key takes the name of a file: a key on the command line can be read by everybody on this machine. Take that key for lost, and revoke it")
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
		return "", fmt.Errorf("the stored keys are for other hubs than %s; %w", hub, ErrNoKey)
	}
	return "", ErrNoKey
}

// MaySend refuses what would show a secret to the network.
func (f *Flags) MaySend(to string) error {
	u, err := url.Parse(to)
	if err != nil {
		return errors.New("the address is none")
	}
	host := u.Hostname()
	ip := net.ParseIP(host)
	if u.Scheme == "https" || f.PlainHTTP || host == "localhost" || ip != nil && ip.IsLoopback() {
		return nil
	}
	return fmt.Errorf("%s is not encrypted, and a key would be seen on the way: use https, or --plain-http if you trust the network", to)
}
