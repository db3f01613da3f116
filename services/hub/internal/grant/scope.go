package grant

import (
	"slices"
	"strings"
)

// Scope is one thing that a user may let an app do: a message type with a colon
// for the dot, or one of three that are none.
type Scope string

// The scopes, in the order in which they are always given.
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

// Scopes is a set of scopes: known ones, each once, in the order above.
type Scopes []Scope

// AllScopes are the scopes that there are.
func AllScopes() Scopes {
	return Scopes{
		ProfileRead, SignerCreate, OfflineAccess, ProfileUpdate, StationCreate, StationUpdate,
		BroadcastCreate, BroadcastGoLive, SignalCreate, PredictionCreate, MarketCreate, ResolutionCreate,
	}
}

// The permissions of operator keys.
const (
	Read      = "read"
	Signal    = "signal"
	Broadcast = "broadcast"
)

// byPermission is what an operator key may do on the protocol routes. No
// permission stands for profile:update, market:create or resolution:create.
var byPermission = map[string]Scopes{
	Read:      {ProfileRead},
	Signal:    {SignerCreate, SignalCreate, PredictionCreate},
	Broadcast: {StationCreate, StationUpdate, BroadcastCreate, BroadcastGoLive},
}

// PermissionFor is the permission of operator keys that stands for a scope; empty: none.
func PermissionFor(scope Scope) string {
	for permission, scopes := range byPermission {
		if scopes.Has(scope) {
			return permission
		}
	}
	return ""
}

// ScopesOfPermissions gives what an operator key with these permissions may do.
func ScopesOfPermissions(permissions []string) Scopes {
	var words Scopes
	for _, p := range permissions {
		words = append(words, byPermission[p]...)
	}
	return AllScopes().Intersect(words)
}

// NewScopes makes a set of words; the same word twice counts once. Fault: invalid_scope.
func NewScopes(words []string) (Scopes, error) {
	asked := make(Scopes, len(words))
	for i, w := range words {
		asked[i] = Scope(w)
	}
	if !AllScopes().Contains(asked) {
		return nil, ErrInvalidScope
	}
	return AllScopes().Intersect(asked), nil
}

// ParseScopes reads the parameter of RFC 6749: words with a space between them.
// No words are no scopes. Fault: invalid_scope.
func ParseScopes(text string) (Scopes, error) {
	if text == "" {
		return nil, nil
	}
	return NewScopes(strings.Split(text, " "))
}

// Has reports whether the scope is in the set.
func (s Scopes) Has(scope Scope) bool { return slices.Contains(s, scope) }

// Contains reports whether every one of the others is in the set.
func (s Scopes) Contains(others Scopes) bool {
	for _, o := range others {
		if !s.Has(o) {
			return false
		}
	}
	return true
}

// Intersect gives the members that are also in the other set.
func (s Scopes) Intersect(other Scopes) Scopes {
	var both Scopes
	for _, scope := range s {
		if other.Has(scope) {
			both = append(both, scope)
		}
	}
	return both
}

// Words are the scopes as texts, never nil.
func (s Scopes) Words() []string {
	words := make([]string, len(s))
	for i, scope := range s {
		words[i] = string(scope)
	}
	return words
}

// String is the form of RFC 6749.
func (s Scopes) String() string { return strings.Join(s.Words(), " ") }
