package httpapi_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
)

// TestApplicationToStream checks the form of the studio with which an operator applies to stream.
func TestApplicationToStream(t *testing.T) {
	t.Parallel()
	b := withPages(t, countViewers(t))
	want(t, b.send("GET", "/studio", "", b.bySession()), 200, "", ` id="go-live" disabled`, "!Your application is waiting", ` action="/studio"`, "Connect a video stream")
	six := url.Values{"displayName": {"Mara K"}, "bio": {"Rivers."}, "lanes": {"SCIENCE", "TECH", "SPORT", "MUSIC", "WORLD", "CRYPTO"}}
	want(t, b.post("/studio", six, b.bySession()), 400, "", "Choose at most 5 lanes.", ` value="SCIENCE" checked`, `Rivers.</textarea>`)
	want(t, b.post("/studio", url.Values{"displayName": {strings.Repeat("x", 65)}}, b.bySession()), 400, "", "Enter 1 to 64 characters on one line.")
	for range 2 { // a repeated application changes nothing
		want(t, b.post("/studio", url.Values{"displayName": {"Mara K"}, "lanes": {"SCIENCE"}}, b.bySession()), http.StatusSeeOther, "")
	}
	want(t, b.send("GET", "/studio", "", b.bySession()), 200, "", "Your application is waiting", `! action="/studio"`, ` id="studio-state" role="status">Waiting for approval<`)
}
