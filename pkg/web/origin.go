package web

import "net/http"

// SameOrigin reports that the browser says our own page asks; origin is the one
// that our pages are published under, scheme included. The name that the request
// was sent to proves nothing: behind a proxy it is the sender's, and it has no
// scheme. Origin decides when it is there; a request with neither header is not
// from a page of ours.
func SameOrigin(r *http.Request, origin string) bool {
	if origins := r.Header["Origin"]; len(origins) > 0 {
		return len(origins) == 1 && origins[0] == origin
	}
	return r.Header.Get("Sec-Fetch-Site") == "same-origin"
}
