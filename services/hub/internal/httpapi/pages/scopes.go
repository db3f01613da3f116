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
		Word: "See who you are", Can: "It reads your handle, your name, your picture and your public record.",
		Cannot: "It does not see your keys, your other apps or how you sign in.",
	},
	grant.SignerCreate: {
		Word: "Add a signing key", Can: "A key of its own signs messages for you, for the things that you allow on this page.", Acts: true,
		Cannot: "It signs nothing else, and it ends with this connection.",
	},
	grant.OfflineAccess: {
		Word: "Stay connected", Can: "It works while you are away.",
		Cannot: "It does not outlive this connection.",
	},
	grant.ProfileUpdate: {
		Word: "Change your profile", Can: "It changes your name, your picture, what you say about yourself and your links.", Acts: true,
		Cannot: "It cannot change your handle, your record or where you are paid.",
	},
	grant.StationCreate: {
		Word: "Open stations", Can: "It opens new stations in your name.", Acts: true,
		Cannot: "It cannot change the stations that you have.",
	},
	grant.StationUpdate: {
		Word: "Change your stations", Can: "It changes their names, pictures and programmes, and pauses them.", Acts: true,
		Cannot: "It cannot touch the stations of others.",
	},
	grant.BroadcastCreate: {
		Word: "Create broadcasts", Can: "It announces new broadcasts in your name.", Acts: true,
		Cannot: "It cannot start them.",
	},
	grant.BroadcastGoLive: {
		Word: "Go live as you", Can: "It starts broadcasts in your name, with a stream of its choice.", Acts: true,
		Cannot: "It cannot use your camera or microphone.",
	},
	grant.SignalCreate: {
		Word: "File calls as you", Can: "A call is locked and scored on your record for ever.", Acts: true,
		Cannot: "Neither the app nor you can take one back or change it.",
	},
	grant.PredictionCreate: {
		Word: "File predictions as you", Can: "They are calls: locked, and scored on your record for ever.", Acts: true,
		Cannot: "Neither the app nor you can take one back or change it.",
	},
	grant.MarketCreate: {
		Word: "Open markets", Can: "It opens new markets in your name, a few a day.", Acts: true,
		Cannot: "It cannot settle them.",
	},
	grant.ResolutionCreate: {
		Word: "Propose outcomes", Can: "It says what your markets came to, in your name.", Acts: true,
		Cannot: "It does not decide: the people who run the service do.",
	},
}

// never is what no scope lets an app do.
const never = "No app can sign in as you, make or see your keys, or connect other apps."

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
		return "For at most " + most + ", also while you are away."
	}
	return "A quarter of an hour at a time, while you use it, and for at most " + most + "."
}
