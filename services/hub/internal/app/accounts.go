package app

import (
	"context"
	"time"

	"github.com/signalcast/signalcast/pkg/config"
	"github.com/signalcast/signalcast/pkg/oidc"
	"github.com/signalcast/signalcast/pkg/ratelimit"
	"github.com/signalcast/signalcast/services/hub/internal/digest"
	"github.com/signalcast/signalcast/services/hub/internal/email"
	"github.com/signalcast/signalcast/services/hub/internal/follow"
	"github.com/signalcast/signalcast/services/hub/internal/httpapi"
	"github.com/signalcast/signalcast/services/hub/internal/httpapi/pages"
	"github.com/signalcast/signalcast/services/hub/internal/identityclaim"
	"github.com/signalcast/signalcast/services/hub/internal/mail"
	"github.com/signalcast/signalcast/services/hub/internal/operator"
	"github.com/signalcast/signalcast/services/hub/internal/push"
)

// AccountConfig holds the settings of follows, identity claims, payouts and the daily digest.
type AccountConfig struct {
	// Partner is the only station that an identity claim may name. PartnerProfile is the URL prefix of profiles at this station;
	// the claimed username is appended to it.
	Partner        string `env:"PARTNER_STATION"     envDefault:"partner"`
	PartnerProfile string `env:"PARTNER_PROFILE_URL" envDefault:"https://partner.example/u/"`

	// ChainID is the chain on which payouts are made, in USDC. Payouts are disabled while it is 0.
	ChainID    int64  `env:"PAYOUT_CHAIN_ID"`
	ChainLabel string `env:"PAYOUT_CHAIN_LABEL"`
	USDC       string `env:"PAYOUT_USDC_ADDRESS"`

	// DigestServer is the mail server of the daily digest. Without it the digest is written to the log.
	DigestServer config.Secret `env:"DIGEST_SMTP_URL"` // smtp:// or smtps://, with user and password
	DigestFrom   string        `env:"DIGEST_FROM"`
	DigestTo     []string      `env:"DIGEST_TO"`

	// MailServer is the mail server of letters to users. Without it there is no e-mail for users.
	MailServer config.Secret `env:"MAIL_SMTP_URL"` // smtp:// or smtps://, with user and password
	MailFrom   string        `env:"MAIL_FROM"`

	// PushKey is the private key that identifies this installation to push services. Without it there is no web push.
	PushKey config.Secret `env:"WEBPUSH_PRIVATE_KEY"`
}

// check adds an error to r for each invalid account setting.
func (c *AccountConfig) check(r *config.Report) {
	if !isWord(c.Partner) {
		r.Fail("PARTNER_STATION", "must be 1 to 32 characters of a-z, 0-9 and -")
	}
	r.OptURL("PARTNER_PROFILE_URL", c.PartnerProfile, "https")
	if c.ChainID < 0 {
		r.Fail("PAYOUT_CHAIN_ID", "must not be below 0")
	}
	if c.ChainID > 0 {
		if c.ChainLabel == "" {
			r.Fail("PAYOUT_CHAIN_LABEL", "is required when PAYOUT_CHAIN_ID is set")
		}
		if a, err := identityclaim.ParseAddress(c.USDC); err != nil || a.Chain() != identityclaim.Ethereum {
			r.Fail("PAYOUT_USDC_ADDRESS", "must be 0x and 40 hex digits: the address of the USDC token on the chain of PAYOUT_CHAIN_ID")
		}
	}
	if c.PushKey.IsSet() {
		if _, err := push.ParseKey(c.PushKey.Reveal()); err != nil {
			r.Fail("WEBPUSH_PRIVATE_KEY", err.Error())
		}
	}
	if c.MailServer.IsSet() {
		if _, err := c.userMail(r.Env()); err != nil {
			r.Fail("MAIL_SMTP_URL", "or MAIL_FROM is invalid: "+err.Error())
		}
	}
	if !c.DigestServer.IsSet() {
		return
	}
	if _, err := c.mail(r.Env()); err != nil {
		r.Fail("DIGEST_SMTP_URL", "or DIGEST_FROM or DIGEST_TO is invalid: "+err.Error())
	}
}

// stations lists the stations that identity claims may name.
func (c *AccountConfig) stations() []identityclaim.Station {
	return []identityclaim.Station{{Name: c.Partner, Profile: c.PartnerProfile}}
}

// mail returns the client of the mail server that sends the digest. A connection without TLS is permitted only outside
// production.
func (c *AccountConfig) mail(env config.Env) (*mail.Server, error) {
	return mail.Parse(c.DigestServer.Reveal(), c.DigestFrom, c.DigestTo, !env.Production())
}

// userMail returns the client of the mail server of letters to users, with the same rule as the method mail.
func (c *AccountConfig) userMail(env config.Env) (*mail.Server, error) {
	return mail.ParseServer(c.MailServer.Reveal(), c.MailFrom, !env.Production())
}

// newEmail builds the service of the e-mail settings of users, and with a mail server the worker that sends letters.
func (a *App) newEmail(secrets email.Secrets) (*email.Service, error) {
	limit := ratelimit.New(a.redis, ratelimit.Config{
		Name: "email", Limit: email.MaxLetters, Window: 24 * time.Hour, Replicas: a.cfg.Replicas, Now: a.now,
		OnFallback: a.onFallback("email"),
	})
	s := &email.Service{
		Store: a.store, Secrets: secrets, Enabled: a.cfg.Accounts.MailServer.IsSet(), Now: a.now,
		Allow: func(ctx context.Context, key string) bool { return limit.Allow(ctx, key).Allowed },
	}
	if !s.Enabled {
		return s, nil
	}
	server, err := a.cfg.Accounts.userMail(a.cfg.Env)
	if err != nil {
		return nil, err
	}
	a.letters = &email.Worker{
		Service: s, Outbox: a.store, Sender: server, Markets: a.api.Markets, Describe: pages.NotificationLine,
		HubURL: a.cfg.base(), Log: a.log,
	}
	return s, nil
}

// accounts builds the services of follows, identity claims, payouts, e-mail and the digest. It returns an error if the
// settings of a mail server are invalid.
func (a *App) accounts(verifier *oidc.Verifier, secrets email.Secrets) (httpapi.Accounts, error) {
	cfg := &a.cfg.Accounts
	var sender digest.Sender = mail.Log{Log: a.log}
	if cfg.DigestServer.IsSet() {
		server, err := cfg.mail(a.cfg.Env)
		if err != nil {
			return httpapi.Accounts{}, err
		}
		sender = server
	}
	letters, err := a.newEmail(secrets)
	if err != nil {
		return httpapi.Accounts{}, err
	}
	people := identityclaim.Accounts{Ledger: a.api.Operators}
	return httpapi.Accounts{
		Follows: follow.NewService(operator.Directory{Ledger: a.api.Operators}, a.store, a.now),
		Claims:  identityclaim.NewService(cfg.stations(), people, wallets{verifier}, a.store, a.now),
		Payouts: identityclaim.Payouts{
			Money: identityclaim.Money{ChainID: cfg.ChainID, Label: cfg.ChainLabel, USDC: cfg.USDC}, Accounts: people,
			Suspended: a.store.Suspended,
		},
		Profiles:        a.profiles,
		Digests:         digest.NewService(sender, a.store, a.now),
		Notices:         a.store,
		Data:            a.store,
		Email:           letters,
		Pictures:        a.pictures,
		IdentityDetails: identityOf(verifier),
	}, nil
}

// wallets checks with the identity provider whether a user has linked a wallet. It implements identityclaim.Provider.
type wallets struct{ verifier *oidc.Verifier }

// Linked implements identityclaim.Provider.
func (w wallets) Linked(ctx context.Context, issuer, subject, token string, a identityclaim.Address) (bool, error) {
	return w.verifier.Linked(ctx, issuer, subject, token, func(linked oidc.Wallet) bool { return a.Is(linked.Address, linked.Chain) })
}

// identityOf returns a function that verifies an identity token and returns the identity with the verified username and name.
// If the token does not belong to its parameter login, the identity of the sign-in, the function returns an error.
func identityOf(verifier *oidc.Verifier) func(context.Context, operator.Identity, string) (operator.Identity, error) {
	return func(ctx context.Context, login operator.Identity, token string) (operator.Identity, error) {
		verified, err := verifier.VerifyIdentity(ctx, login.Issuer, login.Subject, token)
		return operator.Identity{
			Issuer: login.Issuer, Subject: verified.Subject, Primary: login.Primary, Username: verified.Username, Name: verified.Name,
		}, err
	}
}

// providerName returns the name that pages show for the first identity provider. The sign-in link of the pages leads to this
// provider. The name is empty if no provider is configured.
func providerName(providers oidc.Config) string {
	switch {
	case len(providers.Providers) == 0:
		return ""
	case providers.Providers[0].Name == "dev":
		return "the development issuer"
	}
	return providers.Providers[0].Name
}
