package server

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/signalcast/signalcast/deploy/devidp/internal/edge"
	"github.com/signalcast/signalcast/deploy/devidp/internal/person"
	"github.com/signalcast/signalcast/deploy/devidp/internal/token"
)

const grace = 3 * time.Second

// Config is all that the issuer can be told.
type Config struct {
	Addr     string   // HTTP_ADDR
	StateDir string   // IDP_STATE_DIR: keys and users
	Issuer   string   // PUBLIC_URL; empty: the address it listens on
	Audience string   // IDP_AUDIENCE
	Secret   string   // IDP_APP_SECRET: password of the users interface
	ReturnTo *url.URL // RETURN_TO: origin of the site that logins go to
	Now      func() time.Time
}

// providerSecrets are settings of real identity providers: where one is set,
// real users sign in, and this issuer has no place.
var providerSecrets = []string{"PRIVY_APP_SECRET", "PRIVY_AUTHORIZATION_KEY", "OIDC_CLIENT_SECRET"}

// FromEnv reads the settings and reports all mistakes at once.
func FromEnv(getenv func(string) string, now func() time.Time) (Config, error) {
	c := Config{
		Addr: getenv("HTTP_ADDR"), StateDir: getenv("IDP_STATE_DIR"), Issuer: strings.TrimSuffix(getenv("PUBLIC_URL"), "/"),
		Audience: getenv("IDP_AUDIENCE"), Secret: getenv("IDP_APP_SECRET"), Now: now,
	}
	var wrong []error
	if env := getenv("ENV"); env != "development" && env != "test" {
		wrong = append(wrong, errors.New("ENV is not development or test: this issuer signs in anybody and runs nowhere else"))
	}
	for _, name := range providerSecrets {
		if getenv(name) != "" {
			wrong = append(wrong, fmt.Errorf("%s is set: this issuer does not run beside a real identity provider", name))
		}
	}
	if c.Addr == "" {
		c.Addr = "127.0.0.1:8091"
	}
	if c.Audience == "" {
		c.Audience = "signalcast-dev"
	}
	if c.Secret == "" {
		c.Secret = "signalcast-dev-secret"
	}
	if c.StateDir == "" {
		wrong = append(wrong, errors.New("IDP_STATE_DIR is required: the folder of keys and users"))
	}
	if _, err := origin(c.Issuer); c.Issuer != "" && err != nil {
		wrong = append(wrong, fmt.Errorf("PUBLIC_URL: %w", err))
	}
	if text := getenv("RETURN_TO"); text != "" {
		u, err := origin(text)
		if err != nil || strings.Trim(u.Path, "/") != "" {
			wrong = append(wrong, fmt.Errorf("RETURN_TO must be an origin such as http://127.0.0.1:8080, not %q", text))
		} else {
			c.ReturnTo = &url.URL{Scheme: u.Scheme, Host: u.Host}
		}
	}
	return c, errors.Join(wrong...)
}

func origin(text string) (*url.URL, error) {
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return nil, fmt.Errorf("%q is not an http or https address", text)
	}
	return u, nil
}

// Run serves until ctx ends. It prints one line with its address to out.
func Run(ctx context.Context, c Config, out io.Writer) (err error) {
	if err := os.MkdirAll(c.StateDir, 0o700); err != nil {
		return fmt.Errorf("make state folder: %w", err)
	}
	keys, err := token.OpenKeys(filepath.Join(c.StateDir, "keys.json"))
	if err != nil {
		return err
	}
	people, err := person.Open(filepath.Join(c.StateDir, "users.jsonl"), c.Now)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, people.Close()) }()
	ln, err := net.Listen("tcp", c.Addr)
	if err != nil {
		return fmt.Errorf("listen: %w", err)
	}
	if c.Issuer == "" {
		c.Issuer = "http://" + ln.Addr().String()
	}
	srv := &http.Server{
		ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 15 * time.Second, WriteTimeout: 15 * time.Second, IdleTimeout: 2 * time.Minute,
		Handler: edge.Handler(edge.Config{
			Issuer: c.Issuer, AppID: c.Audience, Secret: c.Secret, ReturnTo: c.ReturnTo, People: people, Keys: keys,
			Mint: &token.Mint{Keys: keys, Issuer: c.Issuer, Audience: c.Audience, Now: c.Now},
		}),
	}
	if _, err := fmt.Fprintf(out, "devidp listening on http://%s as %s: signs in anybody, for development only\n", ln.Addr(), c.Issuer); err != nil {
		return err
	}
	served := make(chan error, 1)
	go func() { served <- srv.Serve(ln) }()
	select {
	case err := <-served:
		return err
	case <-ctx.Done():
	}
	end, cancel := context.WithTimeout(context.WithoutCancel(ctx), grace)
	defer cancel()
	if err := srv.Shutdown(end); err != nil {
		_ = srv.Close()
	}
	if err := <-served; !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}
