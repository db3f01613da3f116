package pages

import (
	"fmt"
	"strconv"
	"time"

	"github.com/signalcast/signalcast/services/hub/internal/grant"
)

// permission describes a scope to the user on the consent page.
type permission struct {
	Title, Can, Cannot string
	Acts               bool // the app acts in the name of the user
}

// scopePermissions states what an app can do with each scope, and what it cannot do. The texts are for users who do not know the
// names of scopes.
var scopePermissions = map[grant.Scope]permission{
	grant.ProfileRead: {
		Title: "See who you are", Can: "It can read your handle, name, picture and public record.",
		Cannot: "It cannot see your keys, other apps or sign-in details.",
	},
	grant.SignerCreate: {
		Title: "Add a signing key", Can: "It can sign messages for you, within the permissions on this page.", Acts: true,
		Cannot: "It cannot sign after this connection ends.",
	},
	grant.OfflineAccess: {
		Title: "Stay connected", Can: "It can act while you are not using it.",
		Cannot: "It cannot act after this connection ends.",
	},
	grant.ProfileUpdate: {
		Title: "Change your profile", Can: "It can change your name, picture, bio and links.", Acts: true,
		Cannot: "It cannot change your handle, record or payout address.",
	},
	grant.StationCreate: {
		Title: "Register stations", Can: "It can register new stations in your name.", Acts: true,
		Cannot: "It cannot change your existing stations.",
	},
	grant.StationUpdate: {
		Title: "Change your stations", Can: "It can change their names, pictures and programmes, and pause them.", Acts: true,
		Cannot: "It cannot change stations of others.",
	},
	grant.BroadcastCreate: {
		Title: "Create broadcasts", Can: "It can announce new broadcasts in your name.", Acts: true,
		Cannot: "It cannot start them.",
	},
	grant.BroadcastGoLive: {
		Title: "Go live as you", Can: "It can start broadcasts in your name, with a stream that it chooses.", Acts: true,
		Cannot: "It cannot use your camera or microphone.",
	},
	grant.SignalCreate: {
		Title: "File calls as you", Can: "Each call is final and is scored on your public record.", Acts: true,
		Cannot: "Neither the app nor you can change or delete a call.",
	},
	grant.PredictionCreate: {
		Title: "File predictions as you", Can: "Each prediction is a call: it is final and is scored on your public record.",
		Acts:   true,
		Cannot: "Neither the app nor you can change or delete a call.",
	},
	grant.MarketCreate: {
		Title: "Open markets", Can: "It can open a few new markets a day in your name.", Acts: true,
		Cannot: "It cannot resolve them.",
	},
	grant.ResolutionCreate: {
		Title: "Propose outcomes", Can: "It can propose the outcome of your markets.", Acts: true,
		Cannot: "It cannot decide the outcome. Administrators of the service do.",
	},
}

// appLimits states what no app can do.
const appLimits = "No app can sign in as you, create or see your keys, or connect other apps."

func permissionsOf(scopes grant.Scopes) []permission {
	var out []permission
	for _, scope := range scopes {
		out = append(out, scopePermissions[scope])
	}
	return out
}

// scopeTitle returns the title of a scope; an unknown scope is returned unchanged.
func scopeTitle(scope any) string {
	name := fmt.Sprint(scope)
	if w, ok := scopePermissions[grant.Scope(name)]; ok {
		return w.Title
	}
	return name
}

// duration describes to the user how long a connection to the app lasts.
func duration(a grant.App, scopes grant.Scopes, now time.Time) string {
	life := a.GrantLife()
	limit := strconv.Itoa(int(life/(24*time.Hour))) + " days, until " + now.Add(life).UTC().Format("2 January 2006")
	if scopes.Has(grant.OfflineAccess) {
		return "For at most " + limit + ", also while you are not using it."
	}
	return "While you use it, and for at most " + limit + "."
}
