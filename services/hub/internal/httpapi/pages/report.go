package pages

import (
	"net/http"
	"net/url"
	"strings"
	"unicode/utf8"

	"github.com/labstack/echo/v4"

	"github.com/signalcast/signalcast/pkg/apperr"
	"github.com/signalcast/signalcast/pkg/httpx"
	"github.com/signalcast/signalcast/pkg/protocol"
	"github.com/signalcast/signalcast/services/hub/internal/httpapi/pages/site"
	"github.com/signalcast/signalcast/services/hub/internal/moderation"
	"github.com/signalcast/signalcast/services/hub/internal/operator"
)

const maxReported = 500 // maximum length of the id of a reported object in bytes

type reportPage struct {
	site.Layout
	Subject, Label, Back string // value of the field, name for people, and page of the reported object
	Reason, Error        string
	Notice               string
	MaxReason            int
	Sent                 bool
}

// reportKinds are the kinds of objects that a visitor can report on the pages, with the path of their pages and their names.
var reportKinds = map[string]struct{ path, label string }{
	moderation.Profile: {site.PersonPath, "the profile of @"},
	"market":           {site.MarketPath, "this market"},
	"signal":           {site.ReceiptPath, "this call"},
}

// reportOf returns the page of a report about a subject, such as profile:mara_k. ok is false if the subject is invalid.
func (s *server) reportOf(c echo.Context, subject string) (p reportPage, r moderation.Report, ok bool) {
	kind, id, _ := strings.Cut(subject, ":")
	of, ok := reportKinds[kind]
	invalid := strings.ContainsFunc(id, func(r rune) bool { return r <= ' ' || r > '~' })
	if !ok || id == "" || len(id) > maxReported || invalid {
		return reportPage{}, moderation.Report{}, false
	}
	if kind != "market" {
		id = strings.ToLower(id)
	}
	p = reportPage{
		Layout: s.NewLayout(c, "Report", "", ""), Subject: kind + ":" + id, Label: of.label, Back: of.path + url.PathEscape(id),
		MaxReason: moderation.MaxReason,
	}
	if kind == moderation.Profile {
		p.Label += id
	}
	p.Unlisted = true
	return p, moderation.Report{Kind: kind, Thing: id}, true
}

// path returns the path and query of the page.
func (p reportPage) path() string {
	return site.ReportPath + "?" + url.Values{"subject": {p.Subject}}.Encode()
}

// reportForm handles GET /report, the form with which a visitor reports a profile, a market or a call.
func (s *server) reportForm(c echo.Context) error {
	p, _, ok := s.reportOf(c, c.QueryParam("subject"))
	if !ok {
		return moderation.ErrNotFound
	}
	if _, ok, err := s.RequireViewer(c, p.path()); !ok {
		return err
	}
	if form := s.Draft(c, site.ReportPath); form.Get("subject") == p.Subject {
		p.Reason, p.Notice = form.Get("reason"), site.DraftNotice
	}
	return s.Render(c, http.StatusOK, "report", p)
}

// report handles POST /report, which sends a report to the administrators. If the form is invalid, or if the visitor has sent too many
// reports, it shows the form again.
func (s *server) report(c echo.Context) error {
	v, form, err := s.ReadForm(c)
	p, r, ok := s.reportOf(c, form.Get("subject"))
	switch {
	case err != nil && !site.IsExpired(err):
		return s.SaveSignedOut(c, err, form, p.path())
	case !ok:
		return moderation.ErrNotFound
	}
	p.Reason = strings.TrimSpace(protocol.PlainLines(form.Get("reason")))
	r.Reporter, r.Reason = operator.ID(v.Session.UserID), p.Reason
	n := utf8.RuneCountInString(r.Reason)
	if err == nil && (n < 1 || n > moderation.MaxReason || !protocol.IsText(r.Reason, true)) {
		err = apperr.New(apperr.Invalid, "invalid_reason", "Write what is wrong, in at most 500 characters.")
	}
	if err == nil {
		err = s.SendReport(c.Request().Context(), r)
	}
	f := apperr.Of(err)
	switch {
	case err == nil:
		s.DropDraft(c)
		p.Sent = true
		return s.Render(c, http.StatusOK, "report", p)
	case f.Kind == apperr.Limited:
		p.Error = "You have sent 10 reports in the last 24 hours. Try again tomorrow."
	case f.Kind == apperr.Invalid || site.IsExpired(err):
		p.Error = f.Message
	default:
		return err
	}
	return s.Render(c, httpx.Status(f.Kind), "report", p)
}
