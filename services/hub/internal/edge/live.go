package edge

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/signalcast/signalcast/pkg/syntax"
	"github.com/signalcast/signalcast/pkg/web"
	"github.com/signalcast/signalcast/services/hub/internal/caller"
	"github.com/signalcast/signalcast/services/hub/internal/creation"
	"github.com/signalcast/signalcast/services/hub/internal/onair"
	"github.com/signalcast/signalcast/services/hub/internal/operator"
)

type liveJSON struct {
	Live   []showJSON `json:"live"`
	Recent []pastJSON `json:"recent"`
}

type showJSON struct {
	Handle    string          `json:"handle"`
	HLSURL    string          `json:"hlsUrl"`
	Viewers   int64           `json:"viewers"`
	Signal    *liveSignalJSON `json:"signal"`
	ShowID    string          `json:"showId"`
	StartedAt string          `json:"startedAt"`
	Approved  bool            `json:"approved"`
}

type liveSignalJSON struct {
	MarketID string `json:"marketId"`
	Name     string `json:"name"`
}

type pastJSON struct {
	Handle      string          `json:"handle"`
	EndedAt     string          `json:"endedAt"`
	DurationS   int64           `json:"durationS"`
	ViewersPeak int64           `json:"viewersPeak"`
	Signal      *liveSignalJSON `json:"signal"`
	ShowID      string          `json:"showId"`
	StartedAt   string          `json:"startedAt"`
	Approved    bool            `json:"approved"`
}

type beatJSON struct {
	OK         bool    `json:"ok"`
	ShowID     *string `json:"showId"` // null: nothing is on the air
	IntervalS  int     `json:"intervalS"`
	ExpiresInS int     `json:"expiresInS"`
	Viewers    int64   `json:"viewers"`
}

type viewingJSON struct {
	OK        bool  `json:"ok"`
	Viewers   int64 `json:"viewers"`
	IntervalS int   `json:"intervalS"`
}

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
	out := beatJSON{OK: true, IntervalS: inSeconds(onair.BeatEvery)}
	if state == stateOffline {
		session, ended, err := s.onair.Offline(ctx, beat.Handle)
		if err != nil {
			return err
		}
		if ended {
			out.ShowID = &session.ID
		}
		return web.OK(c, out)
	}
	session, err := s.onair.Beat(ctx, beat)
	if err != nil {
		return err
	}
	if who := callerOf(c); who.Kind == caller.Key && session.WentLive {
		s.attestLive(ctx, who.Operator.ID, &session)
	}
	out.ShowID, out.ExpiresInS, out.Viewers = &session.ID, inSeconds(onair.Life), s.onair.Viewers(ctx, beat.Handle)
	return web.OK(c, out)
}

// attestLive attests a go-live with a key. The session stands without it, and what is
// noted and not done the sweep does.
func (s *server) attestLive(ctx context.Context, who operator.ID, v *onair.Session) {
	if err := s.creations.AttestLive(ctx, creation.Live{DenpaID: string(who), ShowID: v.ID, URL: v.URL, MarketID: v.MarketID}); err != nil {
		s.log.WarnContext(ctx, "a go-live is not attested yet", "show", v.ID, "error", err)
	}
}

func inSeconds(d time.Duration) int { return int(d / time.Second) }

// live is GET /api/streamers/live.
func (s *server) live(c echo.Context) error {
	ctx := c.Request().Context()
	shows, err := s.onair.Live(ctx)
	if err != nil {
		return err
	}
	past, err := s.onair.Recent(ctx)
	if err != nil {
		return err
	}
	out := liveJSON{Live: make([]showJSON, 0, len(shows)), Recent: make([]pastJSON, 0, len(past))}
	for i := range shows {
		v := &shows[i]
		out.Live = append(out.Live, showJSON{
			Handle: string(v.Handle), HLSURL: v.HLSURL, Viewers: v.Viewers, Signal: showLiveSignal(v.Signal),
			ShowID: v.ShowID, StartedAt: syntax.Stamp(v.StartedAt), Approved: v.Approved,
		})
	}
	for i := range past {
		p := &past[i]
		out.Recent = append(out.Recent, pastJSON{
			Handle: string(p.Handle), EndedAt: syntax.Stamp(p.EndedAt), DurationS: int64(p.EndedAt.Sub(p.StartedAt) / time.Second),
			ViewersPeak: p.Peak, Signal: showLiveSignal(p.Signal), ShowID: p.ShowID, StartedAt: syntax.Stamp(p.StartedAt),
			Approved: p.Approved,
		})
	}
	return tagged(c, out)
}

func emptyLive(echo.Context) any { return liveJSON{Live: []showJSON{}, Recent: []pastJSON{}} }

func showLiveSignal(s *onair.Signal) *liveSignalJSON {
	if s == nil {
		return nil
	}
	return &liveSignalJSON{MarketID: string(s.MarketID), Name: s.Name}
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
	n, err := s.onair.View(c.Request().Context(), handle, unnamed(handle, viewer), unnamed(handle, address))
	if err != nil {
		return err
	}
	return web.OK(c, viewingJSON{OK: true, Viewers: n, IntervalS: inSeconds(onair.ViewEvery)})
}

// unnamed is a name that says nothing about whom it is of: Redis learns no address.
func unnamed(handle syntax.Handle, who string) string {
	sum := sha256.Sum256([]byte(string(handle) + "\n" + who))
	return hex.EncodeToString(sum[:16])
}
