package liveapi

import (
	"context"
	"log/slog"
	"time"

	"github.com/labstack/echo/v4"
	"golang.org/x/sync/errgroup"

	"github.com/signalcast/signalcast/pkg/httpx"
	"github.com/signalcast/signalcast/pkg/ledgerclient"
	"github.com/signalcast/signalcast/pkg/protocol"
	"github.com/signalcast/signalcast/pkg/ratelimit"
	"github.com/signalcast/signalcast/proto/openapi"
	programv1 "github.com/signalcast/signalcast/proto/program/v1"
	"github.com/signalcast/signalcast/services/hub/internal/broadcast"
	"github.com/signalcast/signalcast/services/hub/internal/caller"
	"github.com/signalcast/signalcast/services/hub/internal/clip"
	"github.com/signalcast/signalcast/services/hub/internal/effect"
	"github.com/signalcast/signalcast/services/hub/internal/follow"
	"github.com/signalcast/signalcast/services/hub/internal/httpapi/request"
	"github.com/signalcast/signalcast/services/hub/internal/httpapi/view"
	"github.com/signalcast/signalcast/services/hub/internal/ingest"
	"github.com/signalcast/signalcast/services/hub/internal/livestream"
	"github.com/signalcast/signalcast/services/hub/internal/operator"
	"github.com/signalcast/signalcast/services/hub/internal/stream"
)

// Maximum numbers of cached responses.
const (
	programKeys = 512
	castKeys    = 512 // for the broadcast feed and the spotlight
	airKeys     = 64
)

// Server has the handlers of live broadcasts and the programme.
type Server struct {
	HubURL    string
	Videos    []string // allowed hosts of stream URLs; empty: any
	Ledger    *ledgerclient.Client
	OnAir     *livestream.Service
	Broadcast *broadcast.Service
	Creations *effect.Service
	Follows   *follow.Service
	Ingest    *ingest.Service
	Clips     *clip.Service
	Stations  stream.Store
	Programs  programv1.ProgramReadServiceClient // read API of the clock service; nil: the hub has no clock
	Audits    request.Audit
	Log       *slog.Logger
	Now       func() time.Time

	programPages, airPages, planPages view.FallbackCache
}

// New sets up the caches of s and returns s.
func New(s *Server, b *view.Caches) *Server {
	s.programPages = b.WithFallback(
		"programme", view.Every(view.ProgramTTL, view.ProgramStale, programKeys), view.ProgramLast, programKeys, "clock",
	)
	s.airPages = b.WithFallback("air", view.Every(view.QuickTTL, view.QuickTTL, castKeys), view.ProgramLast, airKeys, "")
	s.planPages = b.WithFallback("plan", view.Every(view.MovingTTL, view.MovingStale, airKeys), view.ProgramLast, airKeys, "")
	return s
}

// Maximum values in a heartbeat: the bitrate in kbit/s and the number of viewers.
const (
	maxBitrate = 1_000_000
	maxViewers = 1_000_000_000
)

// Heartbeat handles POST /api/streamer/heartbeat. The state "offline" ends the session of the caller. Any other valid heartbeat
// starts or extends the session.
func (s *Server) Heartbeat(c echo.Context, o httpx.Object) error {
	beat := livestream.Beat{Handle: request.Caller(c).Operator.Handle}
	state := o.OptEnum("state", livestream.StateLive, "offline")
	if o.Has("marketId") {
		beat.MarketID = request.MarketID(o, "marketId")
	}
	beat.Bitrate, beat.Viewers = o.OptInt("bitrateKbps", 0, maxBitrate), o.OptInt("viewers", 0, maxViewers)
	if err := o.Err(); err != nil {
		return err
	}
	ctx := c.Request().Context()
	out := openapi.Heartbeat{Ok: true, IntervalS: seconds(livestream.BeatEvery)}
	if state == "offline" {
		session, ended, err := s.OnAir.Offline(ctx, beat.Handle)
		if ended {
			out.ShowID = &session.ID
		}
		return view.OK(c, out, err)
	}
	session, err := s.OnAir.Beat(ctx, beat)
	if err != nil {
		return err
	}
	if who := request.Caller(c); who.Kind == caller.Key && session.WentLive {
		s.attestLive(ctx, who.Operator.ID, &session)
	}
	out.ShowID, out.ExpiresInS, out.Viewers = &session.ID, seconds(livestream.Life), s.OnAir.Viewers(ctx, beat.Handle)
	return httpx.OK(c, out)
}

// attestLive attests the start of a session that was started with an operator key. If the attestation fails, the session stays
// live, and a background job repeats the attestation.
func (s *Server) attestLive(ctx context.Context, who operator.ID, v *livestream.Session) {
	live := effect.Live{DenpaID: string(who), ShowID: v.ID, URL: v.URL, MarketID: v.MarketID}
	if err := s.Creations.AttestLive(ctx, live); err != nil {
		s.Log.WarnContext(ctx, "go-live attestation failed", "show", v.ID, "error", err)
	}
}

func seconds(d time.Duration) int64 { return int64(d / time.Second) }

// Live handles GET /api/streamers/live, which returns the live sessions and the recently ended sessions.
func (s *Server) Live(c echo.Context) error {
	ctx := c.Request().Context()
	shows, err := s.OnAir.Live(ctx)
	if err != nil {
		return err
	}
	past, err := s.OnAir.Recent(ctx, livestream.RecentSpan)
	if err != nil {
		return err
	}
	return httpx.Tagged(c, openapi.LiveList{
		Live: view.List(shows, func(v livestream.Show) openapi.LiveShow {
			return openapi.LiveShow{
				Handle: string(v.Handle), HlsURL: v.HLSURL, Viewers: v.Viewers, Signal: showLiveSignal(v.Signal),
				ShowID: v.ShowID, StartedAt: protocol.Stamp(v.StartedAt), Approved: v.Approved,
			}
		}),
		Recent: view.List(past, func(p livestream.Past) openapi.PastShow {
			return openapi.PastShow{
				Handle: string(p.Handle), EndedAt: protocol.Stamp(p.EndedAt),
				DurationS: seconds(p.EndedAt.Sub(p.StartedAt)), ViewersPeak: p.Peak, Signal: showLiveSignal(p.Signal),
				ShowID: p.ShowID, StartedAt: protocol.Stamp(p.StartedAt), Approved: p.Approved,
			}
		}),
	})
}

func showLiveSignal(s *livestream.Signal) *openapi.LiveSignal {
	if s == nil {
		return nil
	}
	return &openapi.LiveSignal{MarketID: string(s.MarketID), Name: s.Name}
}

// View handles POST /api/live/{handle}/view, which counts a viewer. A player sends this request repeatedly during playback.
func (s *Server) View(c echo.Context, o httpx.Object) error {
	viewer := o.String("viewerId", livestream.MaxViewerID, false)
	if err := o.Err(); err != nil {
		return err
	}
	handle, err := request.HandleParam(c)
	if err != nil {
		return err
	}
	address := ratelimit.AddressKey(c.RealIP())
	if viewer == "" {
		viewer = address + "\n" + c.Request().UserAgent()
	} else {
		viewer = "id\n" + viewer
	}
	n, err := s.OnAir.View(c.Request().Context(), handle, anonymize(handle, viewer), anonymize(handle, address))
	return view.OK(c, openapi.Viewing{Ok: true, Viewers: n, IntervalS: seconds(livestream.ViewEvery)}, err)
}

// anonymize returns a hash of a viewer id or IP address, so that Redis stores no IP address. The hash differs for each operator.
func anonymize(handle protocol.Handle, who string) string {
	return ratelimit.HashedKey(string(handle) + "\n" + who)
}

// OwnStreamer handles GET /api/streamer/me: the registration, stream and overlay of the caller.
func (s *Server) OwnStreamer(c echo.Context) error {
	ctx, me := c.Request().Context(), request.Caller(c).Operator
	streamer, err := s.OnAir.Store.Streamer(ctx, me.Handle)
	if err != nil {
		return err
	}
	var state livestream.State
	var overlay livestream.Overlay
	var set bool
	var follows follow.Totals
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() (err error) { state, err = s.OnAir.State(ctx, me.Handle); return err })
	g.Go(func() (err error) { overlay, set, err = s.OnAir.Overlay(ctx, me.Handle); return err })
	g.Go(func() (err error) { follows, err = s.Follows.Totals(ctx, me.ID); return err })
	if err := g.Wait(); err != nil {
		return err
	}
	out := openapi.OwnStreamer{
		Handle: string(me.Handle), DisplayName: me.DisplayName, Status: string(streamer.Status),
		Live:   state.Word == livestream.StateLive,
		Signal: showOverlay(overlay, set), Followers: follows.Followers,
	}
	if state.Session.Open() {
		out.ShowID = &state.Session.ID
	}
	if state.Stream != "" {
		out.Stream = &openapi.OwnStreamer_Stream{State: state.Word, HlsURL: state.Stream}
	}
	return httpx.OK(c, out)
}

// StreamState handles GET /api/streamer/stream/state?handle=. It returns whether the operator is live, and the viewers and
// playlist of the session. An unknown operator is reported as idle, not as an error.
func (s *Server) StreamState(c echo.Context, handle protocol.Handle) error {
	st, err := s.OnAir.State(c.Request().Context(), handle)
	if err != nil {
		return err
	}
	out := openapi.StreamState{
		Handle: string(handle), State: st.Word, Viewers: st.Viewers, MarketID: httpx.OrNull(string(st.MarketID)),
		UpdatedAt: protocol.Stamp(st.UpdatedAt),
		Approved:  st.Approved,
	}
	if st.Session.Open() || st.Word == livestream.StateEnded {
		out.ShowID, out.StartedAt = &st.Session.ID, httpx.OrNull(protocol.Stamp(st.Session.StartedAt))
	}
	if st.Word == livestream.StateLive {
		out.HlsURL = &st.Session.URL
	}
	tagged := out
	if st.Session.ID == "" {
		tagged.UpdatedAt = "" // the time of the request must not change the entity tag
	}
	return httpx.TaggedBy(c, out, tagged)
}
