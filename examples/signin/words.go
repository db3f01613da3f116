package main

import (
	"errors"
	"net/http"

	"golang.org/x/oauth2"
)

// problem is an error as a person reads it.
type problem struct {
	status   int
	words    string
	standing string // the call that stands in the way
	ended    bool   // there is no permission any more
}

// ourOwn are the words for what this app itself finds wrong.
var ourOwn = map[error]problem{
	errTooMany: {status: http.StatusServiceUnavailable, words: "Too many people are signing in right now. Try again in a few minutes."},
	errNotOurs: {status: http.StatusBadRequest, words: "This answer does not belong to a sign-in that was begun in this browser. Please sign in again."},
	errNobody:  {status: http.StatusUnauthorized, words: "Please sign in first.", ended: true},
	errPrice:   {status: http.StatusBadRequest, words: "The price is a number of cents, from 0 to 100."},
}

// byCode are the words for what the hub says no with. What is missing here is told by its
// code: https://github.com/signalcast/signalcast/blob/main/docs/protocol/errors.md
var byCode = map[string]problem{
	"access_denied":      {status: http.StatusForbidden, words: "You said no, so nothing was connected."},
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
		no.Code = token.ErrorCode
	case !errors.As(err, &no):
		return problem{status: http.StatusBadGateway, words: "The hub cannot be reached. Nothing is lost; try again shortly."}
	}
	if p, ok := byCode[no.Code]; ok {
		p.standing = no.ID
		return p
	}
	if no.Status >= 500 {
		return problem{status: http.StatusBadGateway, words: "A part of the hub is away. Nothing is lost; try again shortly."}
	}
	return problem{status: http.StatusBadGateway, words: "The hub said no: " + or(no.Code, "without a reason")}
}
