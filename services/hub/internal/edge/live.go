package edge

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/signalcast/signalcast/pkg/syntax"
	"github.com/signalcast/signalcast/pkg/web"
	"github.com/signalcast/signalcast/proto/openapi"
	"github.com/signalcast/signalcast/services/hub/internal/caller"
	"github.com/signalcast/signalcast/services/hub/internal/creation"
	"github.com/signalcast/signalcast/services/hub/internal/onair"
	"github.com/signalcast/signalcast/services/hub/internal/operator"
)

// The states that a heartbeat may say.
const (
	stateLive    = "live"
	stateOffline = "offline"
)

// Bounds of what a client says of its stream.
const (
	maxBitrate = 1_000_000
	maxViewers = 1_000_000_000
)

// heartbeat is POST /api/streamer/heartbeat.
func (s *server) heartbeat(c echo.Context) error {
	o, _, err := web.DecodeOptional(c, web.BodyLimit)
	if err != nil {
		return err
	}
	beat := onair.Beat{Handle: callerOf(c).Operator.Handle}
	state := o.OptEnum("state", stateLive, stateOffline)
	if o.Has("marketId") {
		beat.MarketID = readMarketID(o, "marketId")
	}
	beat.Bitrate, beat.Viewers = o.OptInt("bitrateKbps", 0, maxBitrate), o.OptInt("viewers", 0, maxViewers)
	if err := o.Err(); err != nil {
		return err
	}
	ctx := c.Request().Context()
	out := openapi.Heartbeat{Ok: true, IntervalS: int64(inSeconds(onair.BeatEvery))}
	if state == stateOffline {
		session, ended, err := s.OnAir.Offline(ctx, beat.Handle)
		if err != nil {
			return err
		}
		if ended {
			out.ShowID = &session.ID
		}
		return web.OK(c, out)
	}
	session, err := s.OnAir.Beat(ctx, beat)
	if err != nil {
		return err
	}
	if who := callerOf(c); who.Kind == caller.Key && session.WentLive {
		s.attestLive(ctx, who.Operator.ID, &session)
	}
	out.ShowID, out.ExpiresInS, out.Viewers = &session.ID, int64(inSeconds(onair.Life)), s.OnAir.Viewers(ctx, beat.Handle)
	return web.OK(c, out)
}

// attestLive attests a go-live with a key. The session stands without it, and what is
// noted and not done the sweep does.
func (s *server) attestLive(ctx context.Context, who operator.ID, v *onair.Session) {
	if err := s.Creations.AttestLive(ctx, creation.Live{DenpaID: string(who), ShowID: v.ID, URL: v.URL, MarketID: v.MarketID}); err != nil {
		s.Log.WarnContext(ctx, "a go-live is not attested yet", "show", v.ID, "error", err)
	}
}

func inSeconds(d time.Duration) int { return int(d / time.Second) }

// live is GET /api/streamers/live.
func (s *server) live(c echo.Context) error {
	ctx := c.Request().Context()
	shows, err := s.OnAir.Live(ctx)
	if err != nil {
		return err
	}
	past, err := s.OnAir.Recent(ctx)
	if err != nil {
		return err
	}
	out := openapi.LiveList{Live: make([]openapi.LiveShow, 0, len(shows)), Recent: make([]openapi.PastShow, 0, len(past))}
	for i := range shows {
		v := &shows[i]
		out.Live = append(out.Live, openapi.LiveShow{
			Handle: string(v.Handle), HlsURL: v.HLSURL, Viewers: v.Viewers, Signal: showLiveSignal(v.Signal),
			ShowID: v.ShowID, StartedAt: syntax.Stamp(v.StartedAt), Approved: v.Approved,
		})
	}
	for i := range past {
		p := &past[i]
		out.Recent = append(out.Recent, openapi.PastShow{
			Handle: string(p.Handle), EndedAt: syntax.Stamp(p.EndedAt), DurationS: int64(p.EndedAt.Sub(p.StartedAt) / time.Second),
			ViewersPeak: p.Peak, Signal: showLiveSignal(p.Signal), ShowID: p.ShowID, StartedAt: syntax.Stamp(p.StartedAt),
			Approved: p.Approved,
		})
	}
	return tagged(c, out)
}

func emptyLive(echo.Context) any {
	return openapi.LiveList{Live: []openapi.LiveShow{}, Recent: []openapi.PastShow{}}
}

func showLiveSignal(s *onair.Signal) *openapi.LiveSignal {
	if s == nil {
		return nil
	}
	return &openapi.LiveSignal{MarketID: string(s.MarketID), Name: s.Name}
}

// view is POST /api/live/{handle}/view: a player runs.
func (s *server) view(c echo.Context) error {
	o, _, err := web.DecodeOptional(c, web.BodyLimit)
	if err != nil {
		return err
	}
	viewer := o.String("viewerId", onair.MaxViewerID, false)
	if err := o.Err(); err != nil {
		return err
	}
	handle, err := handleParam(c)
	if err != nil {
		return err
	}
	address := addressKey(c.RealIP())
	if viewer == "" {
		viewer = address + "\n" + c.Request().UserAgent()
	} else {
		viewer = "id\n" + viewer
	}
	n, err := s.OnAir.View(c.Request().Context(), handle, unnamed(handle, viewer), unnamed(handle, address))
	if err != nil {
		return err
	}
	return web.OK(c, openapi.Viewing{Ok: true, Viewers: n, IntervalS: int64(inSeconds(onair.ViewEvery))})
}

// unnamed is a name that says nothing about whom it is of: Redis learns no address.
func unnamed(handle syntax.Handle, who string) string {
	sum := sha256.Sum256([]byte(string(handle) + "\n" + who))
	return hex.EncodeToString(sum[:16])
}
