package pages

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/signalcast/signalcast/pkg/apperr"
	"github.com/signalcast/signalcast/pkg/httpx"
	"github.com/signalcast/signalcast/services/hub/internal/email"
	"github.com/signalcast/signalcast/services/hub/internal/httpapi/pages/site"
	"github.com/signalcast/signalcast/services/hub/internal/notification"
	"github.com/signalcast/signalcast/services/hub/internal/operator"
)

// Paths of the form, and of the links in letters.
const (
	emailPath       = site.SettingsPath + "/email"
	confirmPath     = "/email/confirm"
	unsubscribePath = "/unsubscribe"
)

// emailSection is the section of the account page about e-mail.
type emailSection struct {
	On       bool // the installation has a mail server, or the visitor has settings
	Enabled  bool // an address can be entered
	SignIn   bool // the address of the sign-in can be used
	Settings email.Settings
	Typed    string       // address that the visitor entered
	Digest   email.Digest // choice of the form
	Error    string
	Choices  []emailChoice
}

// emailChoice is an option of the digest.
type emailChoice struct {
	Value email.Digest
	Label string
}

var emailChoices = []emailChoice{
	{email.Off, "No digest"}, {email.Daily, "Every day at 08:00 UTC"}, {email.Weekly, "Every Monday at 08:00 UTC"},
}

// readEmail returns the section of a visitor. session is the second at which the session was issued. Error: db_unavailable.
func (s *server) readEmail(ctx context.Context, me operator.ID, session time.Time) (emailSection, error) {
	set, err := s.Email.Settings(ctx, me)
	if err != nil {
		return emailSection{}, err
	}
	out := emailSection{
		On: s.Email.Enabled || set.Digest != "", Enabled: s.Email.Enabled, Settings: set, Digest: cmp.Or(set.Digest, email.Off),
		Choices: emailChoices,
	}
	out.SignIn, err = s.Email.CanUseSignInAddress(ctx, me, session, set)
	return out, err
}

// changeEmail handles POST /settings/email. With the field off it deletes the address of the visitor. With the field signin it
// replaces the address by the verified one of the sign-in. With the field address it sends a letter to this address, which replaces
// the former one when it is confirmed. Otherwise it changes the digest.
func (s *server) changeEmail(c echo.Context) error {
	v, form, err := s.ReadForm(c)
	switch {
	case err != nil && !site.IsExpired(err) && form.Has("address"):
		return s.SaveSignedOut(c, err, form, site.SettingsPath)
	case err != nil && !site.IsExpired(err):
		return err
	}
	ctx, me := c.Request().Context(), operator.ID(v.Session.UserID)
	digest, ok := email.ParseDigest(cmp.Or(form.Get("digest"), string(email.Off)))
	if !ok || (form.Has("address") || form.Has("signin")) && !s.Email.Enabled {
		return site.ErrForm
	}
	done := "digest"
	switch {
	case err != nil:
	case form.Has("off"):
		done, err = "email-off", s.Email.SwitchOff(ctx, me)
	case form.Has("signin"):
		done, err = "email-on", s.Email.UseSignInAddress(ctx, me, s.SessionStart(c), digest)
	case form.Has("address"):
		done, err = "email", s.Email.Set(ctx, me, strings.TrimSpace(form.Get("address")), digest)
	default:
		err = s.Email.SetDigest(ctx, me, digest)
	}
	if err == nil {
		return s.Finish(c, site.SettingsPath+"?done="+done)
	}
	f := apperr.Of(err)
	if f.Kind != apperr.Invalid && f.Kind != apperr.Limited && !site.IsExpired(err) {
		return err
	}
	return s.showSettings(c, httpx.Status(f.Kind), v, func(p *settingsPage) {
		p.Email.Error, p.Email.Typed, p.Email.Digest = f.Message, form.Get("address"), digest
	})
}

// letterPage is the page of a link in a letter. Button is the label of its form; empty: none.
type letterPage struct {
	site.Layout
	Heading, Text         string
	Action, Token, Button string
}

func (s *server) renderLetterPage(c echo.Context, status int, heading string, p letterPage) error {
	site.SetPrivate(c)
	p.Layout, p.Heading = s.NewLayout(c, heading, "", ""), heading
	p.Unlisted = true
	return s.Render(c, status, "letter", p)
}

// failLink renders the page of a link that is not valid. text says what the visitor can do. Other errors are returned.
func (s *server) failLink(c echo.Context, err error, text string) error {
	if !errors.Is(err, email.ErrLink) {
		return err
	}
	return s.renderLetterPage(c, http.StatusNotFound, "This link is not valid", letterPage{Text: text})
}

// Texts of pages of links that are not valid.
const (
	confirmationFailed = "The link of a confirmation letter works once, for 24 hours, and only the newest letter counts. " +
		"Enter your address again in the settings."
	unsubscriptionFailed = "Open the whole link of the letter, or switch the digest off in the settings."
)

// confirmation handles GET /email/confirm, to which the link of a confirmation letter leads. The page has a button that confirms
// the address. Opening the link changes nothing, because mail programs open links to check them.
func (s *server) confirmation(c echo.Context) error {
	token := c.QueryParam("t")
	if err := s.Email.CheckToken(c.Request().Context(), token); err != nil {
		return s.failLink(c, err, confirmationFailed)
	}
	return s.renderLetterPage(c, http.StatusOK, "Confirm your e-mail address", letterPage{
		Text:   "Messages about the account of the forecaster who entered this address are then sent to it.",
		Action: confirmPath, Token: token, Button: "Confirm address",
	})
}

// confirmEmail handles POST /email/confirm. It needs no session, because the token of the letter is secret.
func (s *server) confirmEmail(c echo.Context) error {
	if !s.OwnPage(c) {
		return site.ErrCrossOrigin
	}
	form, err := s.Form(c)
	if err != nil {
		return err
	}
	if err := s.Email.Confirm(c.Request().Context(), form.Get("t")); err != nil {
		return s.failLink(c, err, confirmationFailed)
	}
	return s.renderLetterPage(c, http.StatusOK, "Address confirmed", letterPage{
		Text: "Messages about the account are now sent to this address.",
	})
}

// unsubscription handles GET /unsubscribe, the page with the button that switches a digest off.
func (s *server) unsubscription(c echo.Context) error {
	token := c.QueryParam("t")
	if _, err := s.Email.Subscriber(token); err != nil {
		return s.failLink(c, err, unsubscriptionFailed)
	}
	return s.renderLetterPage(c, http.StatusOK, "Stop the digest", letterPage{
		Text:   "Messages about the account are still sent.",
		Action: unsubscribePath + "?t=" + url.QueryEscape(token), Button: "Stop the digest",
	})
}

// unsubscribe handles POST /unsubscribe, which switches a digest off. Mail providers send it for the user (RFC 8058), so it needs
// neither a session nor a form of this site. The token in the query permits nothing else.
func (s *server) unsubscribe(c echo.Context) error {
	user, err := s.Email.Subscriber(c.QueryParam("t"))
	if err != nil {
		return s.failLink(c, err, unsubscriptionFailed)
	}
	if err := s.Email.SetDigest(c.Request().Context(), user, email.Off); err != nil {
		return err
	}
	return s.renderLetterPage(c, http.StatusOK, "The digest is off", letterPage{
		Text: "No more digests are sent. You can turn the digest on again in the settings.",
	})
}

// NotificationLine returns the text of a notification for a letter. title is the title of its market.
func NotificationLine(e notification.Entry, title string) email.Line {
	e.ReadAt = time.Unix(0, 0) // so that the label does not say that it is new
	r := notificationRow(e, oneLine(cmp.Or(title, string(e.MarketID))), "")
	if about, ok := accountTexts[e.Kind]; ok {
		return email.Line{Label: r.Label, Text: about.sentence(e.Reason), Path: r.URL}
	}
	text := r.Title
	if r.Handle != "" && e.Kind != notification.Followed {
		text = r.Handle + ": " + text
	}
	for _, more := range []string{r.Fact, r.Text} {
		if more != "" {
			text += "\n" + oneLine(more)
		}
	}
	return email.Line{Label: r.Label, Text: text, Path: r.URL}
}

// oneLine returns a text without line breaks.
func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }
