package edge

import (
	"context"
	"net/http"

	"github.com/labstack/echo/v4"
	"golang.org/x/sync/errgroup"

	"github.com/signalcast/signalcast/pkg/fault"
	"github.com/signalcast/signalcast/pkg/syntax"
	"github.com/signalcast/signalcast/pkg/web"
	"github.com/signalcast/signalcast/proto/openapi"
	"github.com/signalcast/signalcast/services/hub/internal/follow"
	"github.com/signalcast/signalcast/services/hub/internal/onair"
	"github.com/signalcast/signalcast/services/hub/internal/operator"
	"github.com/signalcast/signalcast/services/hub/internal/profile"
)

type registeredJSON struct {
	OK     bool   `json:"ok"`
	Handle string `json:"handle"`
	Status string `json:"status"`
}

// errLanes refuses what is no lane of the programme.
var errLanes = fault.New(fault.Invalid, "invalid_lanes", "lanes are at most 5 lanes of the programme, each once").With("field", "lanes")

// readLanes reads chosen lanes; nil when they are left out.
func readLanes(o web.Object) ([]string, error) {
	if !o.Has("lanes") {
		return nil, nil
	}
	list := o.Strings("lanes", maxListed, maxWord)
	if err := o.Err(); err != nil {
		return nil, err
	}
	keys, ok := onair.ParseLanes(list)
	if !ok {
		return nil, errLanes
	}
	return keys, nil
}

// registerStreamer is POST /api/streamer/register.
func (s *server) registerStreamer(c echo.Context) error {
	o, _, err := web.DecodeOptional(c, web.BodyLimit)
	if err != nil {
		return err
	}
	said := operator.Profile{DisplayName: o.OptString("displayName", web.BodyLimit), Bio: o.OptString("bio", web.BodyLimit)}
	if o.Has("links") {
		said.Links = append([]string{}, o.Strings("links", maxListed, maxWord)...)
	}
	if err := o.Err(); err != nil {
		return err
	}
	lanes, err := readLanes(o)
	if err != nil {
		return err
	}
	if _, err := profile.Check(said); err != nil { // the second time too, when nothing of it is kept
		return err
	}
	ctx, me := c.Request().Context(), callerOf(c).Operator
	standing, err := s.OnAir.Streamer(ctx, me.Handle)
	if err != nil {
		return err
	}
	if standing.Status == onair.Unregistered {
		// What is said of oneself comes first: when it does not fit, nobody is registered.
		if err := s.Accounts.Profiles.Update(ctx, me.ID, callerOf(c).SignedInAt, said); err != nil {
			return err
		}
	}
	status, first, err := s.OnAir.Register(ctx, me.Handle, lanes)
	if err != nil {
		return err
	}
	code := http.StatusOK
	if first {
		code = http.StatusCreated
	}
	return web.JSON(c, code, registeredJSON{OK: true, Handle: string(me.Handle), Status: string(status)})
}

// approveStreamer is POST /api/admin/streamers.
func (s *server) approveStreamer(c echo.Context) error {
	o, err := web.Decode(c, web.BodyLimit)
	if err != nil {
		return err
	}
	var handle syntax.Handle
	if raw := o.String("handle", web.BodyLimit, true); raw != "" {
		if handle, err = syntax.ParseHandle(raw); err != nil {
			o.Invalid("handle", "must be 2 to 32 of a-z, 0-9 and _")
		}
	}
	status := onair.Status(o.Enum("status", string(onair.Pending), string(onair.Approved), string(onair.Suspended)))
	if err := o.Err(); err != nil {
		return err
	}
	err = s.audited(c, act{target: string(handle), detail: map[string]any{"status": status}}, func(ctx context.Context) error {
		if _, err := s.Directory.OperatorByHandle(ctx, handle); err != nil {
			return err
		}
		return s.OnAir.Decide(ctx, handle, status)
	})
	if err != nil {
		return err
	}
	return web.OK(c, registeredJSON{OK: true, Handle: string(handle), Status: string(status)})
}

// ownStreamer is GET /api/streamer/me.
func (s *server) ownStreamer(c echo.Context) error {
	ctx, me := c.Request().Context(), callerOf(c).Operator
	standing, err := s.OnAir.Streamer(ctx, me.Handle)
	if err != nil {
		return err
	}
	var state onair.State
	var overlay onair.Overlay
	var set bool
	var follows follow.Totals
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() (err error) { state, err = s.OnAir.State(ctx, me.Handle); return err })
	g.Go(func() (err error) { overlay, set, err = s.OnAir.Overlay(ctx, me.Handle); return err })
	g.Go(func() (err error) { follows, err = s.Accounts.Follows.Totals(ctx, me.ID); return err })
	if err := g.Wait(); err != nil {
		return err
	}
	out := openapi.OwnStreamer{
		Handle: string(me.Handle), DisplayName: me.DisplayName, Status: string(standing.Status), Live: state.Word == onair.StateLive,
		Signal: showOverlay(overlay, set), Followers: follows.Followers,
	}
	if state.Session.Open() {
		out.ShowID = &state.Session.ID
	}
	if state.Stream != "" {
		out.Stream = &openapi.OwnStreamer_Stream{State: state.Word, HlsURL: state.Stream}
	}
	return web.OK(c, out)
}

// streamState is GET /api/streamer/stream/state?handle=.
func (s *server) streamState(c echo.Context) error {
	handle, err := readHandle(c)
	if err != nil {
		return err
	}
	st, err := s.OnAir.State(c.Request().Context(), handle)
	if err != nil {
		return err
	}
	out := openapi.StreamState{
		Handle: string(handle), State: st.Word, Viewers: st.Viewers, MarketID: orNull(string(st.MarketID)),
		UpdatedAt: syntax.Stamp(st.UpdatedAt),
		Approved:  st.Approved,
	}
	if st.Session.Open() || st.Word == onair.StateEnded {
		out.ShowID, out.StartedAt = &st.Session.ID, orNull(syntax.Stamp(st.Session.StartedAt))
	}
	if st.Word == onair.StateLive {
		out.HlsURL = &st.Session.URL
	}
	part := out
	if st.Session.ID == "" {
		part.UpdatedAt = "" // it is the time of the question
	}
	return taggedBy(c, out, part)
}
