package main

import (
	"errors"
	"log"
	"net/http"

	"golang.org/x/oauth2"
)

// problem is an error as the page shows it. The text is fixed and never repeats a part of a URL or of a response.
type problem struct {
	status       int
	text         string
	existingCall string // id of the existing call on the same market; empty: none
	endsSession  bool   // the grant has ended
}

// problemsByError maps the errors of this app to the problems that the page shows.
var problemsByError = map[error]problem{
	errUnknownSignIn: {status: http.StatusBadRequest, text: "This answer does not belong to a sign-in of this browser. Please sign in again."},
	errCodeExpired:   {status: http.StatusBadRequest, text: "This sign-in took too long or was already completed. Please sign in again."},
	errNotSignedIn:   {status: http.StatusUnauthorized, text: "Please sign in first.", endsSession: true},
	errGrantEnded:    problemsByCode["invalid_grant"],
	errPrice:         {status: http.StatusBadRequest, text: "The price must be a number of cents from 0 to 100."},
}

// problemsByCode maps the error codes of the hub to the problems that the page shows:
// https://github.com/signalcast/signalcast/blob/main/docs/protocol/errors.md
var problemsByCode = map[string]problem{
	"invalid_grant":      {status: http.StatusUnauthorized, text: "Your permission has ended. Please sign in again.", endsSession: true},
	"unauthenticated":    {status: http.StatusUnauthorized, text: "Your permission has ended. Please sign in again.", endsSession: true},
	"insufficient_scope": {status: http.StatusForbidden, text: "You did not allow this app to file calls."},
	"market_closed":      {status: http.StatusConflict, text: "This market no longer accepts calls."},
	"already_predicted":  {status: http.StatusConflict, text: "You already have a call on this market. The first call is final."},
	"market_not_found":   {status: http.StatusNotFound, text: "There is no market with this id."},
	"not_found":          {status: http.StatusNotFound, text: "There is no call with this id."},
	"invalid_request":    {status: http.StatusBadRequest, text: "This call is invalid. Check the market id, the side and the price. If the price of the market is not known, enter one."},
	"rate_limited":       {status: http.StatusTooManyRequests, text: "Too many requests. Wait a minute and try again."},
}

// problemsByAnswer maps the error codes of an authorization response (RFC 6749 section 4.1.2.1 and RFC 8707) to the problems that
// the page shows. The page does not show the parameter error_description, because anyone can create a URL with it.
var problemsByAnswer = map[string]problem{
	"access_denied":             {status: http.StatusForbidden, text: "You denied access, so nothing was connected."},
	"invalid_request":           {status: http.StatusBadGateway, text: "The sign-in request of this app is invalid. Contact the developer of this app."},
	"unauthorized_client":       {status: http.StatusBadGateway, text: "This app may not sign people in. Contact the developer of this app."},
	"unsupported_response_type": {status: http.StatusBadGateway, text: "The hub does not support the sign-in of this app. Contact the developer of this app."},
	"invalid_scope":             {status: http.StatusBadGateway, text: "This app requested more access than it is registered for. Contact the developer of this app."},
	"invalid_target":            {status: http.StatusBadGateway, text: "This app requested a part of the hub that it may not use. Contact the developer of this app."},
	"server_error":              {status: http.StatusBadGateway, text: "Something went wrong at the hub. Try again shortly."},
	"temporarily_unavailable":   {status: http.StatusBadGateway, text: "The hub is too busy to sign you in. Try again shortly."},
}

// problemOfAnswer returns the problem for an error code of an authorization response. An unknown code has a general text.
func problemOfAnswer(code string) problem {
	if p, ok := problemsByAnswer[code]; ok {
		return p
	}
	return problem{status: http.StatusBadGateway, text: "The hub did not sign you in. Please try again."}
}

// problemOf returns the problem for err. It logs an error of the hub with an unknown code. Any other unknown error means that
// the hub cannot be reached.
func problemOf(err error) problem {
	for known, p := range problemsByError {
		if errors.Is(err, known) {
			return p
		}
	}
	var failure hubError
	var token *oauth2.RetrieveError // an error answer of the token endpoint
	switch {
	case errors.As(err, &token):
		failure = hubError{Status: token.Response.StatusCode, Code: token.ErrorCode}
		if failure.Code == "invalid_request" { // an error of the app; problemsByCode has the text for an invalid call
			failure.Code = ""
		}
	case !errors.As(err, &failure):
		return problem{status: http.StatusBadGateway, text: "The hub cannot be reached. Nothing is lost; try again shortly."}
	}
	if p, ok := problemsByCode[failure.Code]; ok {
		p.existingCall = failure.ID
		return p
	}
	log.Printf("unknown error of the hub: status %d, code %.60q", failure.Status, failure.Code)
	switch {
	case failure.Status >= 500:
		return problem{status: http.StatusBadGateway, text: "A part of the hub is unavailable. Nothing is lost; try again shortly."}
	case failure.Status == http.StatusTooManyRequests:
		return problemsByCode["rate_limited"]
	}
	return problem{status: http.StatusBadGateway, text: "The hub rejected the request of this app. Try again, or contact the developer of this app."}
}
