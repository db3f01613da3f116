package main

import (
	"errors"
	"log"
	"net/http"

	"golang.org/x/oauth2"
)

// problem is an error as a person reads it. The words are ours, each of them: nothing that
// an address or an answer holds is repeated in them.
type problem struct {
	status   int
	words    string
	standing string // the call that stands in the way
	ended    bool   // there is no permission any more
}

// ourOwn are the words for what this app itself finds wrong.
var ourOwn = map[error]problem{
	errNotOurs: {status: http.StatusBadRequest, words: "This answer does not belong to a sign-in that was begun in this browser. Please sign in again."},
	errStale:   {status: http.StatusBadRequest, words: "This sign-in took too long, or was answered twice. Please sign in again."},
	errNobody:  {status: http.StatusUnauthorized, words: "Please sign in first.", ended: true},
	errEnded:   byCode["invalid_grant"],
	errPrice:   {status: http.StatusBadRequest, words: "The price is a number of cents, from 0 to 100."},
}

// byCode are the words for what the hub says no with:
// https://github.com/signalcast/signalcast/blob/main/docs/protocol/errors.md
var byCode = map[string]problem{
	"invalid_grant":      {status: http.StatusUnauthorized, words: "Your permission has ended. Please sign in again.", ended: true},
	"unauthenticated":    {status: http.StatusUnauthorized, words: "Your permission has ended. Please sign in again.", ended: true},
	"insufficient_scope": {status: http.StatusForbidden, words: "You did not allow this app to file calls."},
	"market_closed":      {status: http.StatusConflict, words: "This market takes no calls any more."},
	"already_predicted":  {status: http.StatusConflict, words: "You have a call on this market already. The first call is locked and stands."},
	"market_not_found":   {status: http.StatusNotFound, words: "There is no such market."},
	"not_found":          {status: http.StatusNotFound, words: "There is no such call."},
	"invalid_request":    {status: http.StatusBadRequest, words: "The hub cannot read this call. Look at the market's number, the side and the price; a market without a known price wants one."},
	"rate_limited":       {status: http.StatusTooManyRequests, words: "Too many requests. Wait a minute and try again."},
}

// byAnswer are the words for the answer to a sign-in that is an error (RFC 6749, 4.1.2.1,
// and RFC 8707). Anybody can write an address, so its other words are not shown either.
var byAnswer = map[string]problem{
	"access_denied":             {status: http.StatusForbidden, words: "You said no, so nothing was connected."},
	"invalid_request":           {status: http.StatusBadGateway, words: "The hub cannot read what this app asked it. Tell the people who run this app."},
	"unauthorized_client":       {status: http.StatusBadGateway, words: "The hub does not let this app sign people in. Tell the people who run this app."},
	"unsupported_response_type": {status: http.StatusBadGateway, words: "The hub does not sign people in as this app wants it. Tell the people who run this app."},
	"invalid_scope":             {status: http.StatusBadGateway, words: "This app asked for more than it is registered for. Tell the people who run this app."},
	"invalid_target":            {status: http.StatusBadGateway, words: "This app asked for a part of the hub that is not for it. Tell the people who run this app."},
	"server_error":              {status: http.StatusBadGateway, words: "Something went wrong at the hub. Try again shortly."},
	"temporarily_unavailable":   {status: http.StatusBadGateway, words: "The hub is too busy to sign you in. Try again shortly."},
}

// explainAnswer gives the words for the error of an answer.
func explainAnswer(code string) problem {
	if p, ok := byAnswer[code]; ok {
		return p
	}
	return problem{status: http.StatusBadGateway, words: "The hub did not sign you in. Please try again."}
}

func explain(err error) problem {
	for own, p := range ourOwn {
		if errors.Is(err, own) {
			return p
		}
	}
	var no refusal
	var token *oauth2.RetrieveError // the token endpoint's no, as the library has it
	switch {
	case errors.As(err, &token):
		no = refusal{Status: token.Response.StatusCode, Code: token.ErrorCode}
		if no.Code == "invalid_request" { // of the app, not of a call
			no.Code = ""
		}
	case !errors.As(err, &no):
		return problem{status: http.StatusBadGateway, words: "The hub cannot be reached. Nothing is lost; try again shortly."}
	}
	if p, ok := byCode[no.Code]; ok {
		p.standing = no.ID
		return p
	}
	log.Printf("the hub refuses: %d %.60q", no.Status, no.Code)
	switch {
	case no.Status >= 500:
		return problem{status: http.StatusBadGateway, words: "A part of the hub is away. Nothing is lost; try again shortly."}
	case no.Status == http.StatusTooManyRequests:
		return byCode["rate_limited"]
	}
	return problem{status: http.StatusBadGateway, words: "The hub said no to this app. Try again, or tell the people who run this app."}
}
