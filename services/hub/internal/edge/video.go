package edge

import (
	"net/http"

	"github.com/labstack/echo/v4"

	"github.com/signalcast/signalcast/pkg/syntax"
	"github.com/signalcast/signalcast/pkg/web"
	"github.com/signalcast/signalcast/proto/openapi"
	"github.com/signalcast/signalcast/services/hub/internal/clip"
	"github.com/signalcast/signalcast/services/hub/internal/ingest"
)

// Video is what the routes about video ask.
type Video struct {
	Ingest *ingest.Service
	Clips  *clip.Service
}

// videoRoutes are those of streams that are sent here, and of clips.
func (s *server) videoRoutes() []route {
	return []route{
		{method: http.MethodPost, path: "/api/streamer/stream", who: login, handler: s.provisionStream},
		{method: http.MethodPost, path: "/api/live/:handle/clip", who: session, handler: s.makeClip},
	}
}

// provisionStream is POST /api/streamer/stream. The key is in this answer and in no
// other; asked for again, there is another one and the first opens nothing.
func (s *server) provisionStream(c echo.Context) error {
	o, _, err := web.DecodeOptional(c, web.BodyLimit)
	if err != nil {
		return err
	}
	label, latency := o.Name("label", ingest.MaxLabel, false), ingest.Standard
	if said := o.OptEnum("latency", string(ingest.Standard), string(ingest.Low)); said != "" {
		latency = ingest.Latency(said)
	}
	if err := o.Err(); err != nil {
		return err
	}
	op, err := s.owner(c)
	if err != nil {
		return err
	}
	st, offer, err := s.Video.Ingest.Provision(c.Request().Context(), op.Handle, label, latency)
	if err != nil {
		return err
	}
	// Who is on the air already is watched there from now on. The key cannot be shown
	// again, so this is no reason to keep it back.
	if err := s.OnAir.StreamChanged(c.Request().Context(), op.Handle); err != nil {
		s.Log.WarnContext(c.Request().Context(), "a new stream is seen at the next heartbeat", "error", err)
	}
	c.Response().Header()["Cache-Control"] = []string{cacheNever}
	return web.JSON(c, http.StatusCreated, openapi.StreamProvisioned{Ok: true, Stream: openapi.StreamProvisioned_Stream{
		ID:       st.ID,
		Ingest:   openapi.StreamProvisioned_Stream_Ingest{Protocol: offer.Protocol, URL: offer.URL, StreamKey: offer.Key, PushURL: orNull(offer.PushURL)},
		Playback: openapi.StreamProvisioned_Stream_Playback{HlsURL: offer.HLSURL}, Label: st.Label, Latency: string(st.Latency),
		CreatedAt: syntax.Stamp(st.CreatedAt),
	}})
}

// makeClip is POST /api/live/{handle}/clip.
func (s *server) makeClip(c echo.Context) error {
	h, err := handleParam(c)
	if err != nil {
		return err
	}
	o, _, err := web.DecodeOptional(c, web.BodyLimit)
	if err != nil {
		return err
	}
	ask := clip.Ask{By: *callerOf(c).Operator, Handle: h, Title: o.Line("title", clip.MaxTitle, false)}
	if raw := o.String("marketId", web.BodyLimit, false); raw != "" {
		if ask.MarketID, err = syntax.ParseMarketID(raw); err != nil {
			o.Invalid("marketId", "must be the id of a market")
		}
	}
	if err := o.Err(); err != nil {
		return err
	}
	ctx := c.Request().Context()
	if ask.MarketID != "" {
		if _, err := s.readMarket(ctx, ask.MarketID); err != nil {
			return unknownMarket(err, ask.MarketID)
		}
	}
	made, err := s.Video.Clips.Make(ctx, ask)
	if err != nil {
		return err
	}
	return web.JSON(c, http.StatusCreated, openapi.ClipMade{Ok: true, Clip: showClip(&made)})
}
