package liveapi

import (
	"context"
	"net/http"

	"github.com/labstack/echo/v4"

	"github.com/signalcast/signalcast/pkg/httpx"
	"github.com/signalcast/signalcast/pkg/protocol"
	"github.com/signalcast/signalcast/proto/openapi"
	"github.com/signalcast/signalcast/services/hub/internal/clip"
	"github.com/signalcast/signalcast/services/hub/internal/httpapi/request"
	"github.com/signalcast/signalcast/services/hub/internal/httpapi/view"
	"github.com/signalcast/signalcast/services/hub/internal/ingest"
	"github.com/signalcast/signalcast/services/hub/internal/market"
	"github.com/signalcast/signalcast/services/hub/internal/stream"
)

// MarketStreams handles GET /api/m/{marketId}/streams, the streams that operators have bound to a market.
func (s *Server) MarketStreams(c echo.Context, id protocol.MarketID) error {
	list, err := s.Stations.Streams(c.Request().Context(), id)
	return view.Tagged(c, openapi.MarketStreams{Streams: view.List(list, showStream)}, err)
}

// BindStream handles POST /api/m/{marketId}/streams. It binds a stream of the caller to the market. The hub never requests the
// URL; only players do.
func (s *Server) BindStream(c echo.Context, o httpx.Object) error {
	id, err := protocol.ParseMarketID(c.Param("marketId"))
	if err != nil {
		return err
	}
	b := stream.Stream{
		MarketID: id, Handle: request.Caller(c).Operator.Handle, URL: o.String("url", stream.MaxURL, true),
		Label: o.Name("label", stream.MaxLabel, false), UpdatedAt: s.Now(),
	}
	if b.URL != "" && !stream.Playable(b.URL, s.Videos) {
		o.Invalid("url", "must be the https URL of an .m3u8 playlist on an allowed video host, without a user name or a fragment")
	}
	if err := o.Err(); err != nil {
		return err
	}
	ctx := c.Request().Context()
	if _, err := s.Ledger.Market(ctx, id); err != nil {
		return market.WriteError(err, id)
	}
	if err := s.Stations.Bind(ctx, b); err != nil {
		return err
	}
	s.streamChanged(ctx, b.Handle)
	return httpx.OK(c, openapi.StreamBound{Ok: true, Stream: showStream(b)})
}

// streamChanged updates the open session of an operator after a change of the operator's streams. A failure is only logged,
// because the next heartbeat repeats the update.
func (s *Server) streamChanged(ctx context.Context, handle protocol.Handle) {
	if err := s.OnAir.StreamChanged(ctx, handle); err != nil {
		s.Log.WarnContext(ctx, "session stream update failed", "handle", string(handle), "error", err)
	}
}

// UnbindStream handles DELETE /api/m/{marketId}/streams, which removes the caller's stream from a market. An unknown market is an
// error only if there is no stream to remove.
func (s *Server) UnbindStream(c echo.Context) error {
	id, err := protocol.ParseMarketID(c.Param("marketId"))
	if err != nil {
		return err
	}
	ctx := c.Request().Context()
	removed, err := s.Stations.Unbind(ctx, id, request.Caller(c).Operator.Handle, s.Now())
	if err != nil {
		return err
	}
	if !removed {
		if _, err := s.Ledger.Market(ctx, id); err != nil {
			return market.WriteError(err, id)
		}
	}
	s.streamChanged(ctx, request.Caller(c).Operator.Handle)
	return httpx.OK(c, openapi.Removed{Ok: true, Removed: removed})
}

// MarketClips handles GET /api/m/{marketId}/clips, the clips of a market.
func (s *Server) MarketClips(c echo.Context, id protocol.MarketID) error {
	limit := protocol.Limit(c.QueryParam("limit"), stream.DefaultClips, stream.MaxClips)
	list, err := s.Stations.Clips(c.Request().Context(), id, limit)
	return view.Tagged(c, openapi.MarketClips{
		MarketID: string(id), Clips: view.List(list, showClip), Count: int64(len(list)),
	}, err)
}

// EmptyClips returns the response of MarketClips while the clips are unavailable. The response has no clips.
func EmptyClips(c echo.Context) any {
	return openapi.MarketClips{MarketID: c.Param("marketId"), Clips: []openapi.Clip{}}
}

func showStream(b stream.Stream) openapi.Stream {
	return openapi.Stream{Handle: string(b.Handle), URL: b.URL, Label: b.Label, UpdatedAt: protocol.Stamp(b.UpdatedAt)}
}

func showClip(p stream.Clip) openapi.Clip {
	return openapi.Clip{
		ID: p.ID, Handle: string(p.Handle), MarketID: httpx.OrNull(string(p.MarketID)), Title: httpx.OrNull(p.Title), URL: httpx.OrNull(p.URL),
		ThumbnailURL: p.ThumbnailURL,
		DurationS:    openapi.Int(p.Duration), Status: p.Status, Stance: p.Stance, Views: p.Views, Boosted: p.Boosted,
		CreatedBy: string(p.CreatedBy), CreatedAt: protocol.Stamp(p.CreatedAt), ReadyAt: protocol.StampOrNull(p.ReadyAt),
	}
}

// ProvisionStream handles POST /api/streamer/stream, which creates a stream key. Only this response contains the key. A second
// request creates another key and invalidates the first.
func (s *Server) ProvisionStream(c echo.Context, o httpx.Object) error {
	label, latency := o.Name("label", ingest.MaxLabel, false), ingest.Standard
	if given := o.OptEnum("latency", string(ingest.Standard), string(ingest.Low)); given != "" {
		latency = ingest.Latency(given)
	}
	if err := o.Err(); err != nil {
		return err
	}
	op, err := request.Owner(c, s.Ledger)
	if err != nil {
		return err
	}
	st, offer, err := s.Ingest.Provision(c.Request().Context(), op.Handle, label, latency)
	if err != nil {
		return err
	}
	// A live session switches to the new stream. A failed switch must not fail the request, because only this response has the key.
	s.streamChanged(c.Request().Context(), op.Handle)
	c.Response().Header()["Cache-Control"] = []string{view.CacheNever}
	return httpx.JSON(c, http.StatusCreated, openapi.StreamProvisioned{Ok: true, Stream: openapi.StreamProvisioned_Stream{
		ID: st.ID,
		Ingest: openapi.StreamProvisioned_Stream_Ingest{
			Protocol: offer.Protocol, URL: offer.URL, StreamKey: offer.Key, PushURL: httpx.OrNull(offer.PushURL),
		},
		Playback: openapi.StreamProvisioned_Stream_Playback{HlsURL: offer.HLSURL}, Label: st.Label, Latency: string(st.Latency),
		CreatedAt: protocol.Stamp(st.CreatedAt),
	}})
}

// MakeClip handles POST /api/live/{handle}/clip, which creates a clip of a live broadcast.
func (s *Server) MakeClip(c echo.Context, h protocol.Handle) error {
	o, _, err := httpx.DecodeOptional(c, httpx.BodyLimit)
	if err != nil {
		return err
	}
	draft := clip.Request{By: *request.Caller(c).Operator, Handle: h, Title: o.Line("title", clip.MaxTitle, false)}
	if raw := o.String("marketId", httpx.BodyLimit, false); raw != "" {
		if draft.MarketID, err = protocol.ParseMarketID(raw); err != nil {
			o.Invalid("marketId", protocol.MarketIDForm)
		}
	}
	if err := o.Err(); err != nil {
		return err
	}
	ctx := c.Request().Context()
	if draft.MarketID != "" {
		if _, err := s.Ledger.Market(ctx, draft.MarketID); err != nil {
			return market.WriteError(err, draft.MarketID)
		}
	}
	made, err := s.Clips.Make(ctx, draft)
	return view.Created(c, openapi.ClipMade{Ok: true, Clip: showClip(made)}, err)
}
