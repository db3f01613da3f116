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

// Provider is one row of the configuration.
type Provider struct {
	Name        string        `json:"name"`
	Issuer      string        `json:"issuer"`   // the exact iss of its tokens, a URL or not
	Audience    string        `json:"audience"` // our id at the provider
	JWKSURL     string        `json:"jwksURL"`  // empty: found by discovery at the issuer
	Algs        []string      `json:"algs"`     // empty: ES256
	WalletsFrom string        `json:"walletsFrom"`
	UsersAPI    string        `json:"usersAPI"`    // base of its users interface, asked as Audience with UsersSecret
	UsersSecret config.Secret `json:"usersSecret"` // empty: the interface asks for none
}

// DevelopmentAudience is our id at the development issuer, which signs in anybody.
const DevelopmentAudience = "signalcast-dev"

// Where the wallets of a user come from; claim:<path> is the fourth form. The
// word of a fresh identity token in the Privy form counts under the second and
// third alike; where it does not name the wallet, the users interface is asked if
// there is one.
const (
	WalletsNone          = "none"
	WalletsIdentityToken = "identityToken"
	WalletsUsersAPI      = "usersAPI"
	walletsClaim         = "claim:"
)

// Config is the configured providers; the first is the primary one.
type Config struct{ Providers []Provider }

// asymmetric are the algorithms that may be configured: with any other a public
// key, or nothing at all, would do as a secret.
var asymmetric = []string{"ES256", "ES384", "ES512", "RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "EdDSA"}

// ParseConfig reads the JSON list of IDP_PROVIDERS and reports every mistake in
// it at once, by the number of the provider: the list holds secrets, so no error
// repeats what stands in it.
func ParseConfig(text string) (Config, error) {
	var c Config
	dec := json.NewDecoder(bytes.NewReader([]byte(text)))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&c.Providers); err != nil {
		return Config{}, fmt.Errorf("identity providers: not a JSON list of providers with the known members, at byte %d", dec.InputOffset())
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
			wrong = append(wrong, fmt.Errorf("identity provider %d: name or issuer is there twice", i+1))
		}
		names[p.Name], issuers[p.Issuer] = true, true
	}
	return c, errors.Join(wrong...)
}

// Plain tells whether anything is fetched from a provider, or named after one,
// over plain http.
func (c Config) Plain() bool {
	return slices.ContainsFunc(c.Providers, func(p Provider) bool {
		return slices.ContainsFunc([]string{p.Issuer, p.JWKSURL, p.UsersAPI}, func(u string) bool { return strings.HasPrefix(u, "http://") })
	})
}

// Development tells whether the development issuer is among them.
func (c Config) Development() bool {
	return slices.ContainsFunc(c.Providers, func(p Provider) bool { return p.Audience == DevelopmentAudience })
}

// check reports what is wrong with a provider and fills in what may be left out.
func (p *Provider) check() (wrong []error) {
	if p.Name == "" || p.Issuer == "" || p.Audience == "" {
		wrong = append(wrong, errors.New("name, issuer and audience are required"))
	}
	if len(p.Algs) == 0 {
		p.Algs = []string{"ES256"}
	}
	for _, alg := range p.Algs {
		if !slices.Contains(asymmetric, alg) {
			wrong = append(wrong, fmt.Errorf("an algorithm is not one of %s", strings.Join(asymmetric, ", ")))
		}
	}
	if p.JWKSURL == "" && !isWebURL(p.Issuer) {
		wrong = append(wrong, errors.New("jwksURL is required when the issuer is not a URL"))
	}
	for member, u := range map[string]string{"jwksURL": p.JWKSURL, "usersAPI": p.UsersAPI} {
		if u != "" && !isWebURL(u) {
			wrong = append(wrong, fmt.Errorf("%s is not an http or https URL", member))
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
			wrong = append(wrong, errors.New("walletsFrom is not known"))
		}
	}
	return wrong
}

func isWebURL(s string) bool {
	u, err := url.Parse(s)
	return err == nil && (u.Scheme == "https" || u.Scheme == "http") && u.Host != "" && u.User == nil
}
