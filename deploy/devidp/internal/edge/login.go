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

// begin answers for a request that cannot go on; else it gives the way back.
func (e edge) begin(w http.ResponseWriter, r *http.Request) (path string, ok bool) {
	if e.ReturnTo == nil {
		e.page(w, http.StatusNotFound, "fault", view{Fault: "This issuer has no site to sign in to: RETURN_TO is not set."})
		return "", false
	}
	if path, ok = e.destination(r.FormValue("return_to")); !ok {
		e.page(w, http.StatusBadRequest, "fault", view{Fault: "return_to leads to another site than " + e.ReturnTo.String() + "."})
	}
	return path, ok
}

func (e edge) loginPage(w http.ResponseWriter, r *http.Request) {
	if path, ok := e.begin(w, r); ok {
		e.page(w, http.StatusOK, "choose", view{Return: path, People: e.People.List(shown)})
	}
}

// login mints a token for the person chosen and hands it over by a form: the
// token never stands in an address.
func (e edge) login(w http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(w, r.Body, maxBody)
	path, ok := e.begin(w, r)
	if !ok {
		return
	}
	p, err := e.People.Ensure(strings.TrimSpace(r.FormValue("user")))
	if err != nil {
		e.page(w, http.StatusBadRequest, "choose", view{Return: path, People: e.People.List(shown), Fault: err.Error()})
		return
	}
	t, err := e.Mint.Issue(token.Order{Person: p, Profile: token.OIDC, TTL: loginTTL})
	if err != nil {
		refuse(w, err)
		return
	}
	e.page(w, http.StatusOK, "hand", view{Return: path, Person: p, Action: e.ReturnTo.String() + sessionAt, Token: t.Access})
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
