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
	shown     = 40 // people on the login page
	maxState  = 512
	loginTTL  = time.Hour
	sessionAt = "/dev/session"
)

var (
	//go:embed login.html
	pages string
	//go:embed login.css
	style []byte

	templates = template.Must(template.New("").Parse(pages))
)

// view is what a page shows.
type view struct {
	Return string // path at the hub to go on to
	State  string // state of the hub for this sign-in, returned unchanged
	People []person.Person
	Person person.Person
	Action string
	Token  string
	Fault  string
}

// destination returns the path of return_to, or "/" if it has none. It is false unless return_to is relative or has the
// origin of ReturnTo.
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

// begin reads return_to and state. If one of them is refused, begin writes the answer and returns false.
func (e *issuer) begin(w http.ResponseWriter, r *http.Request) (v view, ok bool) {
	if e.ReturnTo == "" {
		e.page(w, http.StatusNotFound, "fault", view{Fault: "This issuer has no site to sign in to: RETURN_TO is not set."})
		return v, false
	}
	if v.Return, ok = e.destination(r.FormValue("return_to")); !ok {
		e.page(w, http.StatusBadRequest, "fault", view{Fault: "return_to leads to another site than " + e.ReturnTo + "."})
		return v, false
	}
	if v.State = r.FormValue("state"); len(v.State) > maxState {
		e.page(w, http.StatusBadRequest, "fault", view{Fault: "state is too long."})
		return v, false
	}
	return v, true
}

func (e *issuer) loginPage(w http.ResponseWriter, r *http.Request) {
	if v, ok := e.begin(w, r); ok {
		v.People = e.people.List(shown)
		e.page(w, http.StatusOK, "choose", v)
	}
}

// login issues a token for the chosen person and answers with a form that posts it: the token is never part of an address.
func (e *issuer) login(w http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(w, r.Body, maxBody)
	v, ok := e.begin(w, r)
	if !ok {
		return
	}
	p, err := e.people.Ensure(strings.TrimSpace(r.FormValue("user")))
	if err != nil {
		v.People, v.Fault = e.people.List(shown), err.Error()
		e.page(w, http.StatusBadRequest, "choose", v)
		return
	}
	t, err := e.issue(order{Person: p, Profile: oidc, TTL: loginTTL})
	if err != nil {
		refuse(w, err)
		return
	}
	v.Person, v.Action, v.Token = p, e.ReturnTo+sessionAt, t.Access
	e.page(w, http.StatusOK, "hand", v)
}

func (e *issuer) page(w http.ResponseWriter, status int, name string, v view) {
	policy := strings.TrimSpace("default-src 'none'; style-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'self' " + e.ReturnTo)
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Content-Security-Policy", policy)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "origin") // the hub checks where a form comes from
	h.Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_ = templates.ExecuteTemplate(w, name, v)
}

func stylesheet(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/css; charset=utf-8")
	_, _ = w.Write(style)
}
