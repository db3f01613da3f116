package edge

import (
	"context"

	"github.com/labstack/echo/v4"

	"github.com/signalcast/signalcast/pkg/syntax"
	"github.com/signalcast/signalcast/pkg/web"
	"github.com/signalcast/signalcast/proto/openapi"
	"github.com/signalcast/signalcast/services/hub/internal/station"
)

// marketStreams is GET /api/m/{marketId}/streams.
func (s *server) marketStreams(c echo.Context) error {
	id, err := marketParam(c)
	if err != nil {
		return err
	}
	list, err := s.Streams.Streams(c.Request().Context(), id)
	if err != nil {
		return err
	}
	out := openapi.MarketStreams{Streams: make([]openapi.Stream, 0, len(list))}
	for i := range list {
		out.Streams = append(out.Streams, showStream(&list[i]))
	}
	return tagged(c, out)
}

func emptyStreams(echo.Context) any { return openapi.MarketStreams{Streams: []openapi.Stream{}} }

// bindStream is POST /api/m/{marketId}/streams. The handle is the caller's; the
// address is handed on to viewers and never opened here.
func (s *server) bindStream(c echo.Context) error {
	o, err := web.Decode(c, web.BodyLimit)
	if err != nil {
		return err
	}
	id, err := syntax.ParseMarketID(c.Param("marketId"))
	if err != nil {
		return errMarketID
	}
	b := station.Stream{
		MarketID: id, Handle: callerOf(c).Operator.Handle, URL: o.String("url", station.MaxURL, true),
		Label: o.Name("label", station.MaxLabel, false), UpdatedAt: s.Now(),
	}
	if b.URL != "" && !station.Playable(b.URL, s.Videos) {
		o.Invalid("url", "must be the https address of an .m3u8 playlist on a known video host")
	}
	if err := o.Err(); err != nil {
		return err
	}
	ctx := c.Request().Context()
	if _, err := s.readMarket(ctx, id); err != nil {
		return unknownMarket(err, id)
	}
	if err := s.Streams.Bind(ctx, b); err != nil {
		return err
	}
	s.streamChanged(ctx, b.Handle)
	return web.OK(c, openapi.StreamBound{Ok: true, Stream: showStream(&b)})
}

// streamChanged has who is live looked at again. The binding stands without it, and
// the next heartbeat does the same.
func (s *server) streamChanged(ctx context.Context, handle syntax.Handle) {
	if err := s.OnAir.StreamChanged(ctx, handle); err != nil {
		s.Log.WarnContext(ctx, "a stream that changed is not on the air yet", "handle", string(handle), "error", err)
	}
}

// unbindStream is DELETE /api/m/{marketId}/streams. Whether the market exists
// matters only where there was nothing to remove.
func (s *server) unbindStream(c echo.Context) error {
	id, err := syntax.ParseMarketID(c.Param("marketId"))
	if err != nil {
		return errMarketID
	}
	ctx := c.Request().Context()
	removed, err := s.Streams.Unbind(ctx, id, callerOf(c).Operator.Handle, s.Now())
	if err != nil {
		return err
	}
	if !removed {
		if _, err := s.readMarket(ctx, id); err != nil {
			return unknownMarket(err, id)
		}
	}
	s.streamChanged(ctx, callerOf(c).Operator.Handle)
	return web.OK(c, openapi.Removed{Ok: true, Removed: removed})
}

// marketClips is GET /api/m/{marketId}/clips.
func (s *server) marketClips(c echo.Context) error {
	id, err := marketParam(c)
	if err != nil {
		return err
	}
	limit := syntax.Limit(c.QueryParam("limit"), station.DefaultClips, station.MaxClips)
	list, err := s.Clips.Clips(c.Request().Context(), id, limit)
	if err != nil {
		return err
	}
	out := openapi.MarketClips{MarketID: string(id), Clips: make([]openapi.Clip, 0, len(list)), Count: int64(len(list))}
	for i := range list {
		out.Clips = append(out.Clips, showClip(&list[i]))
	}
	return tagged(c, out)
}

func emptyClips(c echo.Context) any {
	return openapi.MarketClips{MarketID: c.Param("marketId"), Clips: []openapi.Clip{}}
}

func showStream(b *station.Stream) openapi.Stream {
	return openapi.Stream{Handle: string(b.Handle), URL: b.URL, Label: b.Label, UpdatedAt: syntax.Stamp(b.UpdatedAt)}
}

func showClip(p *station.Clip) openapi.Clip {
	return openapi.Clip{
		ID: p.ID, Handle: string(p.Handle), MarketID: string(p.MarketID), Title: orNull(p.Title), URL: orNull(p.URL),
		ThumbnailURL: p.ThumbnailURL,
		DurationS:    openapi.Int(p.Duration), Status: p.Status, Stance: p.Stance, Views: p.Views, Boosted: p.Boosted,
		CreatedBy: string(p.CreatedBy), CreatedAt: syntax.Stamp(p.CreatedAt), ReadyAt: syntax.StampOrNull(p.ReadyAt),
	}
}
