package pages

import (
	"net/http"
	"strings"

	"github.com/labstack/echo/v4"

	"github.com/signalcast/signalcast/pkg/apperr"
	"github.com/signalcast/signalcast/pkg/protocol"
	"github.com/signalcast/signalcast/services/hub/internal/httpapi/pages/site"
	"github.com/signalcast/signalcast/services/hub/internal/ingest"
)

const (
	// ingestPath is below the developer page, so that the cookie with the token of the provider is sent. A stream key is created
	// with this token and not with the session.
	ingestPath = "/dev/stream"
	maxLabel   = 80
)

type studioPage struct {
	site.Layout
	Handle             string
	VenueA, IngestPath string
	CanProvision       bool
	NewKey             *ingest.Offer // offer with the new stream key, which is shown only once
	Notice, SignInURL  string        // error message; URL to sign in again
	Label              string        // label of the stream key that was typed
	Low                bool          // low latency was chosen
}

// studio handles GET /studio, the page where an operator controls a broadcast.
func (s *server) studio(c echo.Context) error {
	v, ok, err := s.RequireViewer(c, site.StudioPath)
	if !ok {
		return err
	}
	return s.showStudio(c, http.StatusOK, v.Handle, func(*studioPage) {})
}

func (s *server) showStudio(c echo.Context, status int, handle string, set func(*studioPage)) error {
	p := studioPage{
		Layout: s.NewLayout(c, "Studio", "", ""), Handle: handle, CanProvision: s.Ingest != nil, IngestPath: ingestPath,
		VenueA: s.VenueA,
	}
	p.Unlisted, p.Wide = true, true
	set(&p)
	c.Response().Header().Set("Content-Security-Policy", site.PagePolicy+s.socketSource())
	return s.Render(c, status, "studio", p)
}

// provision handles POST /dev/stream, which creates a stream key. Only this response shows the key.
func (s *server) provision(c echo.Context) error {
	site.SetPrivate(c)
	if !s.OwnPage(c) {
		return site.ErrCrossOrigin
	}
	if s.Ingest == nil {
		return errNoIngest
	}
	form, err := s.Form(c)
	if err != nil {
		return err
	}
	op, err := s.developer(c)
	if err != nil && site.WantsJSON(c.Request()) {
		return err
	}
	if err == nil {
		err = s.CheckToken(c, form)
		if site.IsExpired(err) {
			return s.showStudio(c, http.StatusForbidden, string(op.Handle), func(p *studioPage) {
				p.Notice, p.Label, p.Low = site.ErrFormExpired.Message, form.Get("label"), form.Get("latency") == string(ingest.Low)
			})
		}
	}
	if f := apperr.Of(err); err != nil && f.Kind == apperr.Unauthenticated {
		v := s.Viewer(c)
		if v.Err != nil || v.Session.UserID == "" {
			return err
		}
		return s.showStudio(c, http.StatusUnauthorized, v.Handle, func(p *studioPage) { p.SignInURL = site.SignInURL(site.StudioPath) })
	}
	if err != nil {
		return err
	}
	label, latency := strings.TrimSpace(form.Get("label")), ingest.Standard
	if form.Get("latency") == string(ingest.Low) {
		latency = ingest.Low
	}
	if label != "" && !protocol.IsName(label, 1, maxLabel) {
		return s.showStudio(c, http.StatusBadRequest, string(op.Handle), func(p *studioPage) {
			p.Notice = "Enter at most 80 visible characters on one line."
		})
	}
	_, offer, err := s.Ingest.Provision(c.Request().Context(), op.Handle, label, latency)
	if err != nil && apperr.Of(err).Code == "not_approved" && !site.WantsJSON(c.Request()) {
		return s.showStudio(c, http.StatusForbidden, string(op.Handle), func(p *studioPage) {
			p.Notice = "Your application is not approved yet. A stream key requires an approved application."
		})
	}
	if err != nil {
		return err
	}
	return s.showStudio(c, http.StatusOK, string(op.Handle), func(p *studioPage) { p.NewKey = &offer })
}

var errNoIngest = apperr.New(apperr.NotFound, "not_found", "Stream keys are not available on this server.")
