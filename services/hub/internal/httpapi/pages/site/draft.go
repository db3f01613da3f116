package site

import (
	"encoding/json"
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
	Path  string      `json:"path"`            // page that has the form
	Owner operator.ID `json:"owner,omitempty"` // operator of the session that has ended; empty: there was none
	Until time.Time   `json:"until"`
	Form  url.Values  `json:"form"`
}

// SaveDraft stores a form in an encrypted cookie until the visitor has signed in. The page at the path then shows the form again. A
// form that does not fit in the cookie is not stored.
func (s *Site) SaveDraft(c echo.Context, path string, form url.Values) error {
	plain, err := json.Marshal(draft{Path: path, Owner: s.SessionOwner(c), Until: s.Now().Add(draftLife), Form: form})
	if err != nil {
		return err
	}
	if sealed := s.Seal(plain); len(sealed) <= maxDraft {
		s.SetCookie(c, "/", cookieDraft, sealed, draftLife)
	}
	return nil
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
