package grant

import (
	"slices"
	"time"
)

// Bounds of an app.
const (
	MaxApps         = 20 // active ones of one owner
	maxAppName      = 64
	maxRedirectURIs = 10
	maxLink         = 500
)

// oldSecretLife is how long a replaced secret still works, so that an app can be
// given the new one without a gap.
const oldSecretLife = 24 * time.Hour

// Kind tells whether an app can keep a secret.
type Kind string

// The kinds.
const (
	Public       Kind = "public"
	Confidential Kind = "confidential"
)

// App is a program that may ask users for grants.
type App struct {
	ID               string // also its client id
	OwnerID          string
	Kind             Kind
	Name             string
	RedirectURIs     []string
	Scopes           Scopes
	Homepage         string   // empty: none
	LogoURL          string   // empty: none
	AllowedResources []string // empty: every one
	CreatedAt        time.Time
	DisabledAt       time.Time // zero: active
	TrustedAt        time.Time // when an administrator reviewed it; zero: not reviewed

	// Secret is the hash of a confidential app's secret; OldSecret, the one
	// before, works until OldSecretUntil.
	Secret         *Hash
	OldSecret      *Hash
	OldSecretUntil time.Time
}

// Active reports an app that has not been disabled.
func (a App) Active() bool { return a.DisabledAt.IsZero() }

// Trusted reports an app that an administrator has reviewed: answers of the authorization
// endpoint reach its redirect URI without the user.
func (a App) Trusted() bool { return !a.TrustedAt.IsZero() }

// AppDraft is what an owner says of an app.
type AppDraft struct {
	Name             string
	Kind             Kind
	RedirectURIs     []string
	Scopes           []string
	Homepage         string
	LogoURL          string
	AllowedResources []string
}

// AppChange is what an owner changes; nil members stay. The kind of an app is final.
type AppChange struct {
	Name             *string
	RedirectURIs     *[]string
	Scopes           *[]string
	Homepage         *string
	LogoURL          *string
	AllowedResources *[]string
}

// GrantLife is how long a grant to the app holds at most.
func (a App) GrantLife() time.Duration {
	absolute, _ := lifeOf(a.Kind)
	return absolute
}

func (a App) matches(redirectURI string) bool {
	return slices.ContainsFunc(a.RedirectURIs, func(r string) bool { return matchRedirectURI(r, redirectURI) })
}

func (a App) allows(resource string) bool {
	return len(a.AllowedResources) == 0 || slices.Contains(a.AllowedResources, resource)
}

// proves tells whether the secret is the app's, in the same time for every wrong one.
func (a App) proves(secret string, now time.Time) bool {
	given := hashOf(secret)
	var ok bool
	if a.Secret != nil && given.equal(*a.Secret) {
		ok = true
	}
	if a.OldSecret != nil && given.equal(*a.OldSecret) && now.Before(a.OldSecretUntil) {
		ok = true
	}
	return ok && a.Kind == Confidential
}

// renew gives the app another secret.
func (a *App) renew(hash Hash, now time.Time, immediate bool) {
	a.OldSecret, a.OldSecretUntil = a.Secret, now.Add(oldSecretLife)
	if immediate {
		a.OldSecret, a.OldSecretUntil = nil, time.Time{}
	}
	a.Secret = &hash
}

// apply checks and makes a change. Faults: invalid_request, invalid_redirect_uri, invalid_scope.
func (a *App) apply(c AppChange, resources []string) error {
	before := *a
	if c.Name != nil {
		a.Name = *c.Name
	}
	if c.RedirectURIs != nil {
		a.RedirectURIs = *c.RedirectURIs
	}
	if c.Homepage != nil {
		a.Homepage = *c.Homepage
	}
	if c.LogoURL != nil {
		a.LogoURL = *c.LogoURL
	}
	if c.AllowedResources != nil {
		a.AllowedResources = *c.AllowedResources
	}
	if c.Scopes != nil {
		scopes, err := NewScopes(*c.Scopes)
		if err != nil {
			return err
		}
		a.Scopes = scopes
	}
	// The review was of this name, these addresses and these scopes.
	if a.Name != before.Name || !slices.Equal(a.RedirectURIs, before.RedirectURIs) || !before.Scopes.Contains(a.Scopes) || a.Homepage != before.Homepage {
		a.TrustedAt = time.Time{}
	}
	return a.check(resources)
}

func (a *App) check(resources []string) error {
	if !goodName(a.Name) {
		return invalid("name", "name must be 1 to 64 visible characters and must not contain the name of this service")
	}
	if a.Kind != Public && a.Kind != Confidential {
		return invalid("type", "type is public or confidential")
	}
	if n := len(a.RedirectURIs); n < 1 || n > maxRedirectURIs || repeats(a.RedirectURIs) {
		return ErrRedirectURI
	}
	for _, uri := range a.RedirectURIs {
		if !checkRedirectURI(uri) {
			return ErrRedirectURI
		}
	}
	if len(a.Scopes) == 0 {
		return ErrInvalidScope.Say("an app asks for one scope at least")
	}
	if a.Homepage != "" && !goodLink(a.Homepage) {
		return invalid("homepage", "homepage is an https address of at most 500 characters")
	}
	if a.LogoURL != "" && !goodLink(a.LogoURL) {
		return invalid("logoUrl", "logoUrl is an https address of at most 500 characters")
	}
	for _, r := range a.AllowedResources {
		if !slices.Contains(resources, r) {
			return invalid("allowedResources", "allowedResources are resources of this service")
		}
	}
	if repeats(a.AllowedResources) {
		return invalid("allowedResources", "allowedResources are different from each other")
	}
	return nil
}

func repeats(list []string) bool {
	return len(slices.Compact(slices.Sorted(slices.Values(list)))) != len(list)
}

func goodLink(text string) bool {
	u, ok := plainURI(text)
	return ok && len(text) <= maxLink && u.Scheme == "https" && u.Hostname() != "" && goodPort(u)
}
