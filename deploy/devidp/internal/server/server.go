package server

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/signalcast/signalcast/deploy/devidp/internal/person"
	"github.com/signalcast/signalcast/pkg/config"
	"github.com/signalcast/signalcast/pkg/httpx"
	"github.com/signalcast/signalcast/pkg/run"
)

// Config is the configuration of the issuer.
type Config struct {
	Env      config.Env       `env:"ENV"`
	Addr     string           `env:"HTTP_ADDR" envDefault:"127.0.0.1:8091"`
	StateDir string           `env:"IDP_STATE_DIR"` // directory of keys and users
	Issuer   string           `env:"PUBLIC_URL"`    // empty: the URL of the listener
	Audience string           `env:"IDP_AUDIENCE" envDefault:"signalcast-dev"`
	Secret   string           `env:"IDP_APP_SECRET" envDefault:"signalcast-dev-secret"` // password of the users API
	ReturnTo string           `env:"RETURN_TO"`                                         // origin of the hub, to which the login page returns
	Now      func() time.Time `env:"-"`

	// Settings of real identity providers. This issuer must not run where one of them is set.
	PrivySecret string `env:"PRIVY_APP_SECRET"`
	PrivyKey    string `env:"PRIVY_AUTHORIZATION_KEY"`
	OIDCSecret  string `env:"OIDC_CLIENT_SECRET"`
}

// Check implements config.Checker.
func (c *Config) Check(r *config.Report) {
	if c.Env.SecureCookies() {
		r.Fail("ENV", "must be development or test, because this issuer signs in any name without a password")
	}
	for name, value := range map[string]string{
		"PRIVY_APP_SECRET": c.PrivySecret, "PRIVY_AUTHORIZATION_KEY": c.PrivyKey, "OIDC_CLIENT_SECRET": c.OIDCSecret,
	} {
		if value != "" {
			r.Fail(name, "must not be set: this issuer does not run together with a real identity provider")
		}
	}
	if c.StateDir == "" {
		r.Fail("IDP_STATE_DIR", "is required: the directory of keys and users")
	}
	r.OptURL("PUBLIC_URL", c.Issuer, "http", "https")
	if c.ReturnTo != "" {
		r.PublicURL("RETURN_TO", c.ReturnTo)
	}
	c.Issuer, c.ReturnTo = strings.TrimSuffix(c.Issuer, "/"), strings.TrimSuffix(c.ReturnTo, "/")
}

// Run serves requests until ctx ends or the process receives a signal. It writes one line with the URL of the listener to out.
func Run(ctx context.Context, c Config, out io.Writer) error {
	if err := os.MkdirAll(c.StateDir, 0o700); err != nil {
		return fmt.Errorf("create state directory: %w", err)
	}
	keys, err := openKeys(filepath.Join(c.StateDir, "keys.json"))
	if err != nil {
		return err
	}
	people, err := person.Open(filepath.Join(c.StateDir, "users.jsonl"), c.Now)
	if err != nil {
		return err
	}
	e := &issuer{Config: c, people: people, keys: keys}
	log := slog.New(slog.DiscardHandler)
	limits := httpx.Limits{ReadHeader: 5 * time.Second, Read: 15 * time.Second, Write: 15 * time.Second, Idle: 2 * time.Minute}
	server := httpx.NewServer(c.Addr, e.handler(), limits, log)
	part := run.Of("http", server)
	part.Start = func(ctx context.Context) error {
		err := server.Start(ctx)
		e.Issuer = cmp.Or(c.Issuer, "http://"+server.Addr())
		return err
	}
	err = run.Run(ctx, run.Options{Log: log, Up: func() {
		_, _ = fmt.Fprintf(out, "devidp listening on http://%s as issuer %s: no passwords, for development only\n", server.Addr(), e.Issuer)
	}}, part)
	return errors.Join(err, people.Close())
}
