package pages

import (
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/signalcast/signalcast/pkg/apperr"
	"github.com/signalcast/signalcast/pkg/httpx"
	"github.com/signalcast/signalcast/pkg/protocol"
	"github.com/signalcast/signalcast/services/hub/internal/account"
	"github.com/signalcast/signalcast/services/hub/internal/httpapi/pages/format"
	"github.com/signalcast/signalcast/services/hub/internal/httpapi/pages/site"
	"github.com/signalcast/signalcast/services/hub/internal/identityclaim"
	"github.com/signalcast/signalcast/services/hub/internal/livestream"
	"github.com/signalcast/signalcast/services/hub/internal/operator"
	"github.com/signalcast/signalcast/services/hub/internal/profile"
)

// changeHandle handles POST /settings/handle, which replaces the handle of the visitor.
func (s *server) changeHandle(c echo.Context, a identityclaim.Account, form url.Values) error {
	typed := handleOf(form)
	err := s.People.Handles.Change(c.Request().Context(), account.HandleChange{User: a.ID, Former: a.Handle}, typed, false)
	if message := handleError(apperr.Of(err)); message != "" {
		return s.showProfile(c, httpx.Status(apperr.Of(err).Kind), a, func(p *profilePage) {
			p.NewHandle, p.Errors["handle"] = typed, message
		})
	}
	if err != nil {
		return err
	}
	return s.Finish(c, site.ProfilePath+"?done=handle")
}

func handleOf(form url.Values) string {
	return strings.TrimPrefix(strings.TrimSpace(form.Get("handle")), "@")
}

// handleError returns the error text of a rejected handle; "" if the user cannot correct the error.
func handleError(f *apperr.Fault) string {
	switch {
	case f == nil:
		return ""
	case f.Code == protocol.ErrHandle.Code:
		return "Enter 2 to 32 characters: letters from a to z, digits and _."
	case f.Code == account.HandleTaken && f.Extra["reason"] == "reserved":
		return "This handle is reserved. Choose another one."
	case f.Code == account.HandleTaken:
		return "Another forecaster has or had this handle. Choose another one."
	case f.Code == account.ErrLive.Code:
		return "Your handle cannot change during a broadcast. End the broadcast first."
	case f.Code == account.HandleChanged:
		raw, _ := f.Extra["possibleAt"].(string)
		from, err := time.Parse(time.RFC3339, raw)
		if err == nil {
			return "You can change your handle again from " + format.When(from) + "."
		}
	}
	return ""
}

type welcomePage struct {
	site.Layout
	Handle, DisplayName string // values of the form
	Lanes               []protocol.Lane
	Chosen              []string // lanes that were chosen
	MaxLanes            int
	Back                string // path to which the sign-in returns
	Notice              string
	Errors              map[string]string // error texts by field
}

// welcome handles GET /welcome, the page on which a new operator chooses a handle, a name and lanes after the first sign-in. The
// query parameter return_to is the path that opens afterwards. Operators who have seen the page are redirected to that path.
func (s *server) welcome(c echo.Context) error {
	back := welcomeBack(c.QueryParam("return_to"))
	v, ok, err := s.RequireViewer(c, back)
	if !ok {
		return err
	}
	a, err := s.People.Payouts.Accounts.ByID(c.Request().Context(), operator.ID(v.Session.UserID))
	switch {
	case err != nil:
		return err
	case !a.ChoosesHandle(s.Now()):
		return site.Redirect(c, back)
	}
	p := welcomePage{Handle: string(a.Handle), DisplayName: a.DisplayName, Back: back}
	if form := s.Draft(c, site.WelcomePath); form != nil {
		p = welcomePageOf(form)
		p.Notice = site.DraftNotice
	}
	return s.showWelcome(c, http.StatusOK, p)
}

// welcomePageOf returns the page with the values of a sent form.
func welcomePageOf(form url.Values) welcomePage {
	return welcomePage{
		Handle: handleOf(form), DisplayName: strings.TrimSpace(form.Get("displayName")), Chosen: form["lanes"],
		Back: welcomeBack(form.Get("return_to")),
	}
}

// welcomeBack returns the path that opens after the welcome page.
func welcomeBack(path string) string {
	if site.IsReturnPath(path) {
		return path
	}
	return site.ProfilePath
}

// showWelcome renders the welcome page with the values in p.
func (s *server) showWelcome(c echo.Context, status int, p welcomePage) error {
	p.Layout = s.NewLayout(c, "Welcome", "", "")
	p.Unlisted = true
	if s.OnAir != nil { // lanes are stored with the profiles of streamers
		p.Lanes, p.MaxLanes = laneChoices(), livestream.MaxLanes
	}
	return s.Render(c, status, "welcome", p)
}

// answerWelcome handles POST /welcome, which stores the handle, name and lanes of a new operator. With the field skip, the
// derived handle is kept and the other fields are ignored.
func (s *server) answerWelcome(c echo.Context) error {
	v, form, err := s.ReadForm(c, "lanes")
	p := welcomePageOf(form)
	if err != nil && !site.IsExpired(err) {
		return s.SaveSignedOut(c, err, form, site.WelcomePath+"?"+url.Values{"return_to": {p.Back}}.Encode())
	}
	if err != nil {
		p.Notice = site.ErrFormExpired.Message
		return s.showWelcome(c, http.StatusForbidden, p)
	}
	refuse := func(status int, field, message string) error {
		p.Errors = map[string]string{field: message}
		return s.showWelcome(c, status, p)
	}
	wanted, skip := p.Handle, form.Has("skip")
	lanes, ok := livestream.ParseLanes(p.Chosen)
	name := operator.Profile{DisplayName: &p.DisplayName}
	if skip {
		wanted = ""
	} else {
		if wanted == "" {
			return refuse(http.StatusBadRequest, "handle", handleError(protocol.ErrHandle))
		}
		if _, err := profile.Check(name); err != nil {
			return refuse(http.StatusBadRequest, "displayName", profileErrors["displayName"])
		}
		if !ok {
			return refuse(http.StatusBadRequest, "lanes", "Choose at most 5 lanes.")
		}
	}
	ctx, me := c.Request().Context(), operator.ID(v.Session.UserID)
	err = s.People.Handles.Change(ctx, account.HandleChange{User: me, Former: protocol.Handle(v.Handle)}, wanted, true)
	f := apperr.Of(err)
	if message := handleError(f); message != "" {
		return refuse(httpx.Status(f.Kind), "handle", message)
	}
	switch {
	case f != nil && f.Code == account.HandleChosen, err == nil && skip:
		return s.Finish(c, p.Back)
	case err != nil:
		return err
	}
	if err := s.People.Profiles.Update(ctx, me, v.Session.SignedInAt, name); err != nil {
		return err
	}
	if len(lanes) > 0 && s.OnAir != nil {
		if err := s.OnAir.ChooseLanes(ctx, protocol.Handle(strings.ToLower(wanted)), lanes); err != nil {
			return err
		}
	}
	return s.Finish(c, p.Back)
}
