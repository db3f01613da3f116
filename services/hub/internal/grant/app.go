package grant

import (
	"slices"
	"strings"
	"time"
)

// Limits of registered apps. Lengths of texts are in characters.
const (
	MaxApps         = 20 // active apps of one owner
	maxAppName      = 64
	maxRedirectURIs = 10
	maxLink         = 500
)

// oldSecretLife is the time for which a replaced secret stays valid. The app can switch to its new secret during this time
// without an outage.
const oldSecretLife = 24 * time.Hour

// Kind is the client type of an app (RFC 6749 2.1). It states whether the app can keep a secret confidential.
type Kind string

// Client types of apps.
const (
	Public       Kind = "public"
	Confidential Kind = "confidential"
)

// App is a client program that its owner has registered. It can request grants from users.
type App struct {
	ID               string // also the client id
	OwnerID          string
	Kind             Kind
	Name             string
	RedirectURIs     []string
	Scopes           Scopes
	Homepage         string   // empty: none
	LogoURL          string   // empty: none
	AllowedResources []string // empty: all resources
	CreatedAt        time.Time
	DisabledAt       time.Time // zero: active
	TrustedAt        time.Time // time of the review by an administrator; zero: not reviewed

	// Secret is the hash of the secret of a confidential app. OldSecret is the hash of the secret that Secret replaced; it stays
	// valid until OldSecretUntil.
	Secret         *Hash
	OldSecret      *Hash
	OldSecretUntil time.Time
}

// Active reports whether the app is enabled.
func (a App) Active() bool { return a.DisabledAt.IsZero() }

// Trusted reports whether an administrator has reviewed the app. For an app without a review, the authorization endpoint
// redirects only after the user has decided.
func (a App) Trusted() bool { return !a.TrustedAt.IsZero() }

// AppDraft holds the members that the owner sets for a new app.
type AppDraft struct {
	Name             string
	Kind             Kind
	RedirectURIs     []string
	Scopes           []string
	Homepage         string
	LogoURL          string
	AllowedResources []string
}

// AppChange holds new values for the fields of an app. A nil field keeps its value. The kind of an app cannot change.
type AppChange struct {
	Name             *string
	RedirectURIs     *[]string
	Scopes           *[]string
	Homepage         *string
	LogoURL          *string
	AllowedResources *[]string
}

// GrantLife returns the maximum lifetime of a grant to the app.
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

// hasSecret reports whether the app is confidential and secret is its current secret, or its old secret before
// OldSecretUntil. The duration of the comparison does not depend on the secret.
func (a App) hasSecret(secret string, now time.Time) bool {
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

// replaceSecret makes hash the secret of the app. The previous secret becomes invalid after oldSecretLife, or at once if
// immediate is true.
func (a *App) replaceSecret(hash Hash, now time.Time, immediate bool) {
	a.OldSecret, a.OldSecretUntil = a.Secret, now.Add(oldSecretLife)
	if immediate {
		a.OldSecret, a.OldSecretUntil = nil, time.Time{}
	}
	a.Secret = &hash
}

// apply changes the app and validates the result. resources lists the resources that the app may name. Errors: invalid_request,
// invalid_redirect_uri, invalid_scope.
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
	// A review covers the name, the redirect URIs, the homepage and the scopes. Any change of these members ends the review,
	// except the removal of scopes.
	if a.Name != before.Name || !slices.Equal(a.RedirectURIs, before.RedirectURIs) || !before.Scopes.Contains(a.Scopes) || a.Homepage != before.Homepage {
		a.TrustedAt = time.Time{}
	}
	return a.check(resources)
}

// linkForm returns the error text of a URL that goodLink refuses.
func linkForm(field string) string {
	return field + " must be an https URL of at most 500 ASCII characters, without # and without a user name"
}

func (a *App) check(resources []string) error {
	if !goodName(a.Name) {
		return invalid("name", "name must be 1 to 64 visible characters, without spaces at the start or end, "+
			"and without the name of this service")
	}
	if a.Kind != Public && a.Kind != Confidential {
		return invalid("type", "type must be public or confidential")
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
		return ErrInvalidScope.WithText("scopes must contain at least one scope")
	}
	if a.Homepage != "" && !goodLink(a.Homepage) {
		return invalid("homepage", linkForm("homepage"))
	}
	if a.LogoURL != "" && !goodLink(a.LogoURL) {
		return invalid("logoUrl", linkForm("logoUrl"))
	}
	for _, r := range a.AllowedResources {
		if !slices.Contains(resources, r) {
			return invalid("allowedResources", "allowedResources must be values of: "+strings.Join(resources, ", "))
		}
	}
	if repeats(a.AllowedResources) {
		return invalid("allowedResources", "allowedResources must not repeat a resource")
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
