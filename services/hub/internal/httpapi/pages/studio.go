package pages

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/signalcast/signalcast/pkg/apperr"
	"github.com/signalcast/signalcast/pkg/protocol"
	"github.com/signalcast/signalcast/services/hub/internal/httpapi/pages/format"
	"github.com/signalcast/signalcast/services/hub/internal/httpapi/pages/site"
	"github.com/signalcast/signalcast/services/hub/internal/ingest"
	"github.com/signalcast/signalcast/services/hub/internal/livestream"
	"github.com/signalcast/signalcast/services/hub/internal/operator"
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
	IngestPath         string
	CanProvision       bool
	NewKey             *ingest.Offer // offer with the new stream key, which is shown only once
	Notice, SignInURL  string        // error message; URL to sign in again
	Label              string        // label of the stream key that was typed
	Low                bool          // low latency was chosen
	Status             livestream.Status
	StateLabel         string
	Lanes              []protocol.Lane // lanes that an application can name
	MaxLanes           int
	Form               profileForm // application that was typed
	Chosen             []string    // lanes of the application
	Errors             map[string]string
	Steps              []studioStep
	MarketID, OnScreen string // market of the overlay and its title; empty: none
	Origins            string // origins from which the page may load the playlist of the stream
}

// Approved reports whether an administrator has approved the operator as a streamer.
func (p studioPage) Approved() bool { return p.Status == livestream.Approved }

// Waits reports whether the operator has not been approved yet.
func (p studioPage) Waits() bool {
	return p.Status == livestream.Unregistered || p.Status == livestream.Pending
}

// studioStep is a step from the stream key to the recap. Here marks the first step that is not done.
type studioStep struct {
	Title, Text, URL string
	Done, Here       bool
}

// studioLabels has the label of each status of an operator who is not live.
var studioLabels = map[livestream.Status]string{
	livestream.Unregistered: "Not registered", livestream.Pending: "Waiting for approval", livestream.Approved: "Approved",
	livestream.Suspended: "Suspended",
}

// studioState is what the studio reads about an operator. Recap is that of the newest session; nil: none.
type studioState struct {
	Status  livestream.Status
	State   livestream.State
	Overlay livestream.Overlay
	Recap   *livestream.Recap
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
		MaxLanes: livestream.MaxLanes, Lanes: laneChoices(),
	}
	g := site.NewPartReader(c.Request().Context(), site.PartsTimeout)
	read := &site.Part[studioState]{}
	if s.OnAir != nil {
		read = site.ReadPart(g, "air", func(ctx context.Context) (studioState, error) { return s.readStudio(ctx, protocol.Handle(handle)) })
	}
	p.Unavailable, p.Unlisted, p.Wide = g.Wait(), true, true
	p.fill(&read.Value, s.Now())
	origins := s.videoOrigins(read.Value.State.Stream)
	p.Origins = strings.Join(origins, " ")
	set(&p)
	// The page shows the overlay in a frame, and its script reads the playlist.
	c.Response().Header().Set("Content-Security-Policy", s.videoPolicy(origins)+"; frame-src 'self'")
	return s.RenderParts(c, g, status, "studio", p)
}

// laneChoices returns the lanes that an operator can choose.
func laneChoices() []protocol.Lane {
	return slices.DeleteFunc(slices.Clone(protocol.Lanes[:]), func(lane protocol.Lane) bool { return !lane.Filterable() })
}

// applyToStream handles POST /studio, the application of an operator to stream. It changes nothing for an operator who has applied
// before.
func (s *server) applyToStream(c echo.Context) error {
	v, form, err := s.ReadForm(c, "lanes")
	if err != nil && !site.IsExpired(err) {
		return err
	}
	typed := profileFormOf(form)
	show := func(status int, set func(*studioPage)) error {
		return s.showStudio(c, status, v.Handle, func(p *studioPage) {
			p.Form, p.Chosen = typed, form["lanes"]
			set(p)
		})
	}
	if err != nil {
		return show(http.StatusForbidden, func(p *studioPage) { p.Notice = site.ErrFormExpired.Message })
	}
	if s.OnAir == nil {
		return errNoIngest
	}
	lanes, ok := livestream.ParseLanes(form["lanes"])
	if !ok {
		return show(http.StatusBadRequest, func(p *studioPage) { p.Errors = map[string]string{"lanes": "Choose at most 5 lanes."} })
	}
	ctx, handle := c.Request().Context(), protocol.Handle(v.Handle)
	streamer, err := s.OnAir.Store.Streamer(ctx, handle)
	if err != nil {
		return err
	}
	if streamer.Status == livestream.Unregistered {
		// The profile is stored first, so that an operator with an invalid profile does not apply.
		err := s.People.Profiles.Update(ctx, operator.ID(v.Session.UserID), v.Session.SignedInAt, operator.Profile{
			DisplayName: &typed.DisplayName, Bio: &typed.Bio, Links: append([]string{}, strings.Fields(typed.Links)...),
		})
		if field := fieldOf(err); field != "" {
			return show(http.StatusBadRequest, func(p *studioPage) { p.Errors = map[string]string{field: profileErrors[field]} })
		}
		if err != nil {
			return err
		}
	}
	if _, _, err := s.OnAir.Register(ctx, handle, lanes); err != nil {
		return err
	}
	return site.Redirect(c, site.StudioPath)
}

// readStudio reads the state of an operator. Errors: db_unavailable, those of the ledger.
func (s *server) readStudio(ctx context.Context, handle protocol.Handle) (out studioState, err error) {
	streamer, err := s.OnAir.Store.Streamer(ctx, handle)
	if err != nil {
		return out, err
	}
	if out.State, err = s.OnAir.State(ctx, handle); err != nil {
		return out, err
	}
	out.Status = streamer.Status
	if out.Overlay, _, err = s.OnAir.Overlay(ctx, handle); err != nil {
		return out, err
	}
	if out.State.Session.Open() || out.State.Word == livestream.StateEnded {
		out.Recap, err = s.OnAir.Recap(ctx, handle, "")
	}
	return out, err
}

// fill sets the state, the market of the overlay and the steps. The steps describe the open session, or the last session until
// livestream.RecentSpan after its end.
func (p *studioPage) fill(a *studioState, now time.Time) {
	session, ended := a.State.Session, a.State.Word == livestream.StateEnded
	p.Status, p.StateLabel = a.Status, studioLabels[a.Status]
	switch {
	case session.Live():
		p.StateLabel = "Live"
	case session.Open():
		p.StateLabel = stateTexts[stateStarting][0]
	}
	p.MarketID, p.OnScreen = string(a.Overlay.MarketID), a.Overlay.Name
	key := studioStep{
		Title: "Get a stream key", Text: "Create a key, and copy it with the server address into your encoder.", URL: "#provision-h",
		Done: a.State.Stream != "",
	}
	if !p.CanProvision {
		key.Title, key.Text, key.URL = "Connect a video stream", "Enter the playlist URL of your video host.", "#bind-h"
	}
	encoder := studioStep{
		Title: "Connect your encoder", Text: "Start the stream in your encoder, then go live.", URL: "#air-h", Done: session.Live() || ended,
	}
	if session.Open() && !session.Live() {
		encoder.Text = "You are on air, and viewers see “No picture yet”. Start the stream in your encoder."
	}
	overlay := studioStep{
		Title: "Show a market on your overlay", Text: "Add the overlay to your encoder as a browser source, and choose a market.", URL: "#signal-h",
		Done: p.MarketID != "" || ended && session.Signal != nil,
	}
	call := studioStep{Title: "Make your first call on air", Text: "Call a market while you are live.", URL: site.MarketsPath}
	if p.MarketID != "" {
		call.Text, call.URL = "Call the market on your overlay.", site.MarketPath+p.MarketID
	}
	recap := studioStep{Title: "Share the recap", Text: "Go offline, and the recap of your broadcast appears here.", URL: "#air-h", Done: ended}
	if r := a.Recap; r != nil {
		call.Done = r.Count > 0
		if ended {
			recap.URL = recapPath(protocol.Handle(p.Handle), session.ID)
			recap.Text = "Ended " + format.Ago(session.EndedAt, now) + ": " + format.CountOf(r.Count, "call") + ", " + format.Signed(int(r.Score)) +
				" points, " + peakOf(r.Peak) + "."
		}
	}
	p.Steps = []studioStep{key, encoder, overlay, call, recap}
	for i := range p.Steps {
		if p.Approved() && !p.Steps[i].Done {
			p.Steps[i].Here = true
			return
		}
	}
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
