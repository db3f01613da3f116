package edge

import (
	_ "embed"
	"html/template"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/signalcast/signalcast/deploy/devidp/internal/person"
	"github.com/signalcast/signalcast/deploy/devidp/internal/token"
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
	State  string // the hub's own mark of this sign-in, handed back untouched
	People []person.Person
	Person person.Person
	Action string
	Token  string
	Fault  string
}

// destination holds return_to to the one origin that may be returned to and
// gives its path. Empty means its front page.
func (e edge) destination(text string) (path string, ok bool) {
	u, err := url.Parse(text)
	if err != nil || strings.ContainsAny(text, "\\\r\n\t") {
		return "", false
	}
	if u.Scheme != "" || u.Host != "" || u.User != nil {
		if u.Scheme != e.ReturnTo.Scheme || u.Host != e.ReturnTo.Host || u.User != nil {
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

// begin answers for a request that cannot go on; else it gives what goes back.
func (e edge) begin(w http.ResponseWriter, r *http.Request) (v view, ok bool) {
	if e.ReturnTo == nil {
		e.page(w, http.StatusNotFound, "fault", view{Fault: "This issuer has no site to sign in to: RETURN_TO is not set."})
		return v, false
	}
	if v.Return, ok = e.destination(r.FormValue("return_to")); !ok {
		e.page(w, http.StatusBadRequest, "fault", view{Fault: "return_to leads to another site than " + e.ReturnTo.String() + "."})
		return v, false
	}
	if v.State = r.FormValue("state"); len(v.State) > maxState {
		e.page(w, http.StatusBadRequest, "fault", view{Fault: "state is too long."})
		return v, false
	}
	return v, true
}

func (e edge) loginPage(w http.ResponseWriter, r *http.Request) {
	if v, ok := e.begin(w, r); ok {
		v.People = e.People.List(shown)
		e.page(w, http.StatusOK, "choose", v)
	}
}

// login mints a token for the person chosen and hands it over by a form: the
// token never stands in an address.
func (e edge) login(w http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(w, r.Body, maxBody)
	v, ok := e.begin(w, r)
	if !ok {
		return
	}
	p, err := e.People.Ensure(strings.TrimSpace(r.FormValue("user")))
	if err != nil {
		v.People, v.Fault = e.People.List(shown), err.Error()
		e.page(w, http.StatusBadRequest, "choose", v)
		return
	}
	t, err := e.Mint.Issue(token.Order{Person: p, Profile: token.OIDC, TTL: loginTTL})
	if err != nil {
		refuse(w, err)
		return
	}
	v.Person, v.Action, v.Token = p, e.ReturnTo.String()+sessionAt, t.Access
	e.page(w, http.StatusOK, "hand", v)
}

func (e edge) page(w http.ResponseWriter, status int, name string, v view) {
	policy := "default-src 'none'; style-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'self'"
	if e.ReturnTo != nil {
		policy += " " + e.ReturnTo.String()
	}
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
