package grant

import (
	"slices"
	"strings"
)

// Scope is a permission that a user can grant to an app. It is a message type with a colon in place of the dot, or one of
// profile:read, signer:create and offline_access.
type Scope string

// Scopes that apps can request.
const (
	ProfileRead      Scope = "profile:read"
	SignerCreate     Scope = "signer:create"
	OfflineAccess    Scope = "offline_access"
	ProfileUpdate    Scope = "profile:update"
	StationCreate    Scope = "station:create"
	StationUpdate    Scope = "station:update"
	BroadcastCreate  Scope = "broadcast:create"
	BroadcastGoLive  Scope = "broadcast:goLive"
	SignalCreate     Scope = "signal:create"
	PredictionCreate Scope = "prediction:create"
	MarketCreate     Scope = "market:create"
	ResolutionCreate Scope = "resolution:create"
)

// Scopes is a set of known scopes, in the order of AllScopes and without repetition.
type Scopes []Scope

// AllScopes returns all known scopes.
func AllScopes() Scopes {
	return Scopes{
		ProfileRead, SignerCreate, OfflineAccess, ProfileUpdate, StationCreate, StationUpdate,
		BroadcastCreate, BroadcastGoLive, SignalCreate, PredictionCreate, MarketCreate, ResolutionCreate,
	}
}

// Permissions of operator keys.
const (
	Read      = "read"
	Signal    = "signal"
	Broadcast = "broadcast"
)

// byPermission maps the permission of an operator key to its scopes on the protocol routes. No permission includes
// offline_access, profile:update, market:create or resolution:create.
var byPermission = map[string]Scopes{
	Read:      {ProfileRead},
	Signal:    {SignerCreate, SignalCreate, PredictionCreate},
	Broadcast: {StationCreate, StationUpdate, BroadcastCreate, BroadcastGoLive},
}

// PermissionFor returns the permission of operator keys that includes a scope, or "" if no permission includes it.
func PermissionFor(scope Scope) string {
	for permission, scopes := range byPermission {
		if scopes.Has(scope) {
			return permission
		}
	}
	return ""
}

// ScopesOfPermissions returns the scopes of an operator key with these permissions.
func ScopesOfPermissions(permissions []string) Scopes {
	var words Scopes
	for _, p := range permissions {
		words = append(words, byPermission[p]...)
	}
	return AllScopes().Intersect(words)
}

// NewScopes returns the set of the scopes in words. It returns invalid_scope if one of them is unknown.
func NewScopes(words []string) (Scopes, error) {
	requested := make(Scopes, len(words))
	for i, w := range words {
		requested[i] = Scope(w)
	}
	if !AllScopes().Contains(requested) {
		return nil, ErrInvalidScope
	}
	return AllScopes().Intersect(requested), nil
}

// ParseScopes parses a scope parameter: scopes that are separated by one space (RFC 6749 3.3). It returns nil for an empty text.
// Error: invalid_scope.
func ParseScopes(text string) (Scopes, error) {
	if text == "" {
		return nil, nil
	}
	return NewScopes(strings.Split(text, " "))
}

// Has reports whether the scope is in the set.
func (s Scopes) Has(scope Scope) bool { return slices.Contains(s, scope) }

// Contains reports whether all scopes of others are in the set.
func (s Scopes) Contains(others Scopes) bool {
	for _, o := range others {
		if !s.Has(o) {
			return false
		}
	}
	return true
}

// Intersect returns the scopes of s that are also in other.
func (s Scopes) Intersect(other Scopes) Scopes {
	var both Scopes
	for _, scope := range s {
		if other.Has(scope) {
			both = append(both, scope)
		}
	}
	return both
}

// Words returns the scopes as strings. The result is never nil.
func (s Scopes) Words() []string {
	words := make([]string, len(s))
	for i, scope := range s {
		words[i] = string(scope)
	}
	return words
}

// String returns the scopes, separated by spaces (RFC 6749 3.3).
func (s Scopes) String() string { return strings.Join(s.Words(), " ") }
