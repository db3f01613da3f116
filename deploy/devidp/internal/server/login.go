package server

import (
	_ "embed"
	"html/template"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/signalcast/signalcast/deploy/devidp/internal/person"
)

const (
	maxShown  = 40  // maximum number of people on the login page
	maxState  = 512 // maximum length of the parameter state in bytes
	loginTTL  = time.Hour
	sessionAt = "/dev/session" // path of the hub that receives the token
)

var (
	//go:embed login.html
	pages string
	//go:embed login.css
	style []byte

	templates = template.Must(template.New("").Parse(pages))
)

// view contains the values for the page templates.
type view struct {
	Return string // path of the hub to which the sign-in returns
	State  string // state of the hub for this sign-in, returned unchanged
	Scope  string // scopes of this sign-in, separated by spaces
	People []person.Person
	Person person.Person
	Action string // URL of the hub that receives the token
	Token  string
	Fault  string // error message
}

// destination converts the URL in text to the path to which the sign-in returns. The path is "/" if the URL has none. ok is
// false if the URL is invalid, has a user or another origin than ReturnTo, or has a path that does not begin with exactly one
// slash.
func (e *issuer) destination(text string) (path string, ok bool) {
	u, err := url.Parse(text)
	if err != nil || strings.ContainsAny(text, "\\\r\n\t") {
		return "", false
	}
	if u.Scheme != "" || u.Host != "" || u.User != nil {
		if u.Scheme+"://"+u.Host != e.ReturnTo || u.User != nil {
			return "", false
		}
		u.Scheme, u.Host = "", ""
	}
	if u.Path == "" {
		u.Path = "/"
	}
	if path = u.String(); !strings.HasPrefix(path, "/") || strings.HasPrefix(path, "//") {
		return "", false
	}
	return path, true
}

// begin reads the parameters return_to and state of a sign-in. If one of them is invalid, or if sign-in is disabled, begin writes
// the error page and returns false.
func (e *issuer) begin(w http.ResponseWriter, r *http.Request) (v view, ok bool) {
	if e.ReturnTo == "" {
		e.page(w, http.StatusNotFound, "fault", view{Fault: "Sign-in is disabled because RETURN_TO is not set."})
		return v, false
	}
	if v.Return, ok = e.destination(r.FormValue("return_to")); !ok {
		e.page(w, http.StatusBadRequest, "fault", view{Fault: "return_to must be a path or a URL of " + e.ReturnTo + "."})
		return v, false
	}
	if v.State = r.FormValue("state"); len(v.State) > maxState {
		e.page(w, http.StatusBadRequest, "fault", view{Fault: "state must be at most 512 bytes."})
		return v, false
	}
	v.Scope = r.FormValue("scope")
	return v, true
}

func (e *issuer) loginPage(w http.ResponseWriter, r *http.Request) {
	if v, ok := e.begin(w, r); ok {
		v.People = e.people.List(maxShown)
		e.page(w, http.StatusOK, "choose", v)
	}
}

// login issues a token for the chosen person. The response is a form that posts the token to the hub, so that no URL contains
// the token. If there is no such person and none can be created, the response is the login page with an error message.
func (e *issuer) login(w http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(w, r.Body, maxBody)
	v, ok := e.begin(w, r)
	if !ok {
		return
	}
	p, err := e.people.Ensure(strings.TrimSpace(r.FormValue("user")))
	if err != nil {
		v.People, v.Fault = e.people.List(maxShown), err.Error()
		e.page(w, http.StatusBadRequest, "choose", v)
		return
	}
	t, err := e.issue(tokenRequest{Person: p, Profile: oidc, TTL: loginTTL, Scope: v.Scope})
	if err != nil {
		refuse(w, err)
		return
	}
	v.Person, v.Action, v.Token = p, e.ReturnTo+sessionAt, t.Access
	e.page(w, http.StatusOK, "signed-in", v)
}

func (e *issuer) page(w http.ResponseWriter, status int, name string, v view) {
	policy := strings.TrimSpace("default-src 'none'; style-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'self' " + e.ReturnTo)
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Content-Security-Policy", policy)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "origin") // the hub checks the origin of a form
	h.Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_ = templates.ExecuteTemplate(w, name, v)
}

func stylesheet(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/css; charset=utf-8")
	_, _ = w.Write(style)
}
