package pages

import (
	"fmt"
	"strconv"
	"time"

	"github.com/signalcast/signalcast/services/hub/internal/grant"
)

// want is one scope in words.
type want struct {
	Word, Can, Cannot string
	Acts              bool // something is done in the user's name
}

// scopeWords says of each scope what an app may do with it and where that ends. Nobody
// who reads the page knows our words.
var scopeWords = map[grant.Scope]want{
	grant.ProfileRead: {
		Word: "See who you are", Can: "It can read your handle, name, picture and public record.",
		Cannot: "It cannot see your keys, other apps or sign-in details.",
	},
	grant.SignerCreate: {
		Word: "Add a signing key", Can: "It can sign messages for you, within the permissions on this page.", Acts: true,
		Cannot: "The key expires with this connection.",
	},
	grant.OfflineAccess: {
		Word: "Stay connected", Can: "It can act while you are not using it.",
		Cannot: "Access ends with this connection.",
	},
	grant.ProfileUpdate: {
		Word: "Change your profile", Can: "It can change your name, picture, bio and links.", Acts: true,
		Cannot: "It cannot change your handle, record or payout address.",
	},
	grant.StationCreate: {
		Word: "Register stations", Can: "It can register new stations in your name.", Acts: true,
		Cannot: "It cannot change your existing stations.",
	},
	grant.StationUpdate: {
		Word: "Change your stations", Can: "It can change their names, pictures and programmes, and pause them.", Acts: true,
		Cannot: "It cannot change stations of others.",
	},
	grant.BroadcastCreate: {
		Word: "Create broadcasts", Can: "It can announce new broadcasts in your name.", Acts: true,
		Cannot: "It cannot start them.",
	},
	grant.BroadcastGoLive: {
		Word: "Go live as you", Can: "It can start broadcasts in your name, with a stream that it chooses.", Acts: true,
		Cannot: "It cannot use your camera or microphone.",
	},
	grant.SignalCreate: {
		Word: "File calls as you", Can: "Each call is final and is scored on your public record.", Acts: true,
		Cannot: "Neither the app nor you can change or delete a call.",
	},
	grant.PredictionCreate: {
		Word: "File predictions as you", Can: "Each prediction is a call: it is final and is scored on your public record.", Acts: true,
		Cannot: "Neither the app nor you can change or delete a call.",
	},
	grant.MarketCreate: {
		Word: "Open markets", Can: "It can open a few new markets a day in your name.", Acts: true,
		Cannot: "It cannot resolve them.",
	},
	grant.ResolutionCreate: {
		Word: "Propose outcomes", Can: "It can propose the outcome of your markets.", Acts: true,
		Cannot: "Administrators of the service decide.",
	},
}

// never is what no scope lets an app do.
const never = "No app can sign in as you, create or see your keys, or connect other apps."

func wantsOf(scopes grant.Scopes) []want {
	var out []want
	for _, scope := range scopes {
		out = append(out, scopeWords[scope])
	}
	return out
}

// scopeWord is a scope in a list of words; one that we do not know stays as it is.
func scopeWord(scope any) string {
	name := fmt.Sprint(scope)
	if w, ok := scopeWords[grant.Scope(name)]; ok {
		return w.Word
	}
	return name
}

// duration says for how long a connection holds.
func duration(a grant.App, scopes grant.Scopes, now time.Time) string {
	life := a.GrantLife()
	most := strconv.Itoa(int(life/(24*time.Hour))) + " days, until " + now.Add(life).UTC().Format("2 January 2006")
	if scopes.Has(grant.OfflineAccess) {
		return "For at most " + most + ", also while you are not using it."
	}
	return "While you use it, and for at most " + most + "."
}
