package site

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"maps"
	"net/url"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/signalcast/signalcast/services/hub/internal/operator"
)

const (
	cookieDraft = "sc_draft"
	draftLife   = 15 * time.Minute
	maxDraft    = 4 << 10 // maximum length of the cookie's value in bytes
)

// draft is a form that waits for a sign-in.
type draft struct {
	Path  string      `json:"path"`            // page that has the form, or the path to which a form of an account page is sent
	Owner operator.ID `json:"owner,omitempty"` // operator of the session that has ended; empty: there was none
	Until time.Time   `json:"until"`
	Form  url.Values  `json:"form"`
}

// DraftNotice is the text of a page with a form that waited for a sign-in.
const DraftNotice = "You had to sign in, so nothing was saved yet. Check the form and send it again."

// SaveDraft stores a form in an encrypted cookie until the visitor has signed in. The page at the path then shows the form again. It
// returns false for a form that does not fit in the cookie, which is not stored.
func (s *Site) SaveDraft(c echo.Context, path string, form url.Values) (bool, error) {
	kept := maps.Clone(form)
	delete(kept, "csrf")
	delete(kept, "picture")
	var plain bytes.Buffer
	out := json.NewEncoder(&plain)
	out.SetEscapeHTML(false) // a take of 500 characters < must fit
	if err := out.Encode(draft{Path: path, Owner: s.SessionOwner(c), Until: s.Now().Add(draftLife), Form: kept}); err != nil {
		return false, err
	}
	sealed := s.Seal(plain.Bytes())
	if len(sealed) > maxDraft {
		s.DropDraft(c)
		return false, nil
	}
	s.SetCookie(c, "/", cookieDraft, sealed, draftLife)
	return true, nil
}

// SaveSignedOut stores a form of an account page whose session has ended, and redirects to the sign-in, which returns to the page back.
// It returns reason for other errors, for a client that prefers JSON, for a form that does not fit in the cookie, and for one that was
// not on a page of a session, because it has no token.
func (s *Site) SaveSignedOut(c echo.Context, reason error, form url.Values, back string) error {
	if !errors.Is(reason, ErrSignedOut) || WantsJSON(c.Request()) || form.Get("csrf") == "" {
		return reason
	}
	if ok, err := s.SaveDraft(c, c.Request().URL.Path, form); err != nil || !ok {
		return cmp.Or(err, reason)
	}
	return Redirect(c, SignInURL(back))
}

// Finish redirects after a form was carried out, and deletes the form that waits for a sign-in.
func (s *Site) Finish(c echo.Context, to string) error {
	s.DropDraft(c)
	return Redirect(c, to)
}

// Draft returns the form of the page at the path that waits for the signed-in visitor; nil if there is none.
func (s *Site) Draft(c echo.Context, path string) url.Values {
	v := s.Viewer(c)
	if v.Session.UserID == "" {
		return nil
	}
	d, ok := s.readDraft(c)
	if !ok || d.Path != path || !d.belongsTo(operator.ID(v.Session.UserID)) {
		return nil
	}
	return d.Form
}

// DropDraft deletes the form that waits for a sign-in.
func (s *Site) DropDraft(c echo.Context) {
	if _, err := c.Cookie(cookieDraft); err == nil {
		s.SetCookie(c, "/", cookieDraft, "", Expired)
	}
}

// DropDraftOfOthers deletes the form that waits for a sign-in if its session was that of another operator.
func (s *Site) DropDraftOfOthers(c echo.Context, id operator.ID) {
	if d, ok := s.readDraft(c); !ok || !d.belongsTo(id) {
		s.DropDraft(c)
	}
}

func (s *Site) readDraft(c echo.Context) (d draft, ok bool) {
	cookie, err := c.Cookie(cookieDraft)
	if err != nil {
		return d, false
	}
	plain, err := s.Unseal(cookie.Value)
	if err != nil || json.Unmarshal(plain, &d) != nil {
		return d, false
	}
	return d, s.Now().Before(d.Until)
}

func (d draft) belongsTo(id operator.ID) bool { return d.Owner == "" || d.Owner == id }
