package oidc

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/signalcast/signalcast/pkg/config"
)

// Provider is the configuration of one identity provider, an element of the setting IDP_PROVIDERS.
type Provider struct {
	Name        string        `json:"name"`
	Issuer      string        `json:"issuer"`   // exact claim iss of its tokens; need not be a URL
	Audience    string        `json:"audience"` // id of this installation at the provider
	JWKSURL     string        `json:"jwksURL"`  // empty: found by OpenID discovery at Issuer
	Algs        []string      `json:"algs"`     // signature algorithms; empty: ES256
	WalletsFrom string        `json:"walletsFrom"`
	UsersAPI    string        `json:"usersAPI"`    // base URL of the users API; the user name is Audience
	UsersSecret config.Secret `json:"usersSecret"` // password for the users API; empty: no user name and password
}

// DevelopmentAudience is the audience of the tokens of the development issuer, which issues tokens for any user.
const DevelopmentAudience = "signalcast-dev"

// Values of Provider.WalletsFrom, which states where the wallets of a user are found. The path of a claim follows the prefix
// walletsClaim. With WalletsIdentityToken and WalletsUsersAPI, a recent identity token with linked accounts (as issued by Privy)
// is accepted. If it does not list the wallet and a users API is configured, that API is queried.
const (
	WalletsNone          = "none"
	WalletsIdentityToken = "identityToken"
	WalletsUsersAPI      = "usersAPI"
	walletsClaim         = "claim:"
)

// Config is the list of identity providers. The first one is the primary provider.
type Config struct{ Providers []Provider }

// asymmetric contains the algorithms that may be configured. Other algorithms are unsafe: with HS256 the public key
// would be accepted as a secret, and "none" has no signature.
var asymmetric = []string{"ES256", "ES384", "ES512", "RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "EdDSA"}

// ParseConfig parses the JSON list in IDP_PROVIDERS. It reports all errors at once and identifies a provider by its
// position. The list contains secrets, so no error contains a part of it.
func ParseConfig(text string) (Config, error) {
	var c Config
	dec := json.NewDecoder(bytes.NewReader([]byte(text)))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&c.Providers); err != nil {
		return Config{}, fmt.Errorf(
			"identity providers: must be a JSON list of providers with known members only; error at byte %d", dec.InputOffset())
	}
	if dec.More() {
		return Config{}, errors.New("identity providers: more than one JSON value")
	}
	if len(c.Providers) == 0 {
		return Config{}, errors.New("identity providers: the list is empty")
	}
	var wrong []error
	names, issuers := map[string]bool{}, map[string]bool{}
	for i := range c.Providers {
		p := &c.Providers[i]
		for _, err := range p.check() {
			wrong = append(wrong, fmt.Errorf("identity provider %d: %w", i+1, err))
		}
		if names[p.Name] || issuers[p.Issuer] {
			wrong = append(wrong, fmt.Errorf("identity provider %d: name or issuer is used by another provider", i+1))
		}
		names[p.Name], issuers[p.Issuer] = true, true
	}
	return c, errors.Join(wrong...)
}

// UsesPlainHTTP reports whether a provider has a URL that uses http instead of https: that of its issuer, its keys or its users
// API.
func (c Config) UsesPlainHTTP() bool {
	return slices.ContainsFunc(c.Providers, func(p Provider) bool {
		return slices.ContainsFunc([]string{p.Issuer, p.JWKSURL, p.UsersAPI}, func(u string) bool { return strings.HasPrefix(u, "http://") })
	})
}

// Development reports whether a provider has DevelopmentAudience. A provider with this audience issues tokens for any
// user.
func (c Config) Development() bool {
	return slices.ContainsFunc(c.Providers, func(p Provider) bool { return p.Audience == DevelopmentAudience })
}

// check returns the errors of a provider and sets the defaults of absent members.
func (p *Provider) check() (wrong []error) {
	if p.Name == "" || p.Issuer == "" || p.Audience == "" {
		wrong = append(wrong, errors.New("name, issuer and audience are required"))
	}
	if len(p.Algs) == 0 {
		p.Algs = []string{"ES256"}
	}
	for _, alg := range p.Algs {
		if !slices.Contains(asymmetric, alg) {
			wrong = append(wrong, fmt.Errorf("algs must contain only %s", strings.Join(asymmetric, ", ")))
		}
	}
	if p.JWKSURL == "" && !isWebURL(p.Issuer) {
		wrong = append(wrong, errors.New("jwksURL is required when the issuer is not a URL"))
	}
	for member, u := range map[string]string{"jwksURL": p.JWKSURL, "usersAPI": p.UsersAPI} {
		if u != "" && !isWebURL(u) {
			wrong = append(wrong, fmt.Errorf("%s must be an http or https URL", member))
		}
	}
	switch p.WalletsFrom {
	case "":
		p.WalletsFrom = WalletsNone
	case WalletsNone, WalletsIdentityToken:
	case WalletsUsersAPI:
		if p.UsersAPI == "" {
			wrong = append(wrong, errors.New("usersAPI is required for walletsFrom usersAPI"))
		}
	default:
		if path, ok := strings.CutPrefix(p.WalletsFrom, walletsClaim); !ok || path == "" {
			wrong = append(wrong, errors.New("walletsFrom must be none, identityToken, usersAPI or claim:<path>"))
		}
	}
	return wrong
}

func isWebURL(s string) bool {
	u, err := url.Parse(s)
	return err == nil && (u.Scheme == "https" || u.Scheme == "http") && u.Host != "" && u.User == nil
}
