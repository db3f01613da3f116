package pages

import (
	"cmp"
	"context"
	"net/http"
	"strings"

	"github.com/labstack/echo/v4"

	"github.com/signalcast/signalcast/pkg/protocol"
	marketv1 "github.com/signalcast/signalcast/proto/market/v1"
	"github.com/signalcast/signalcast/services/hub/internal/httpapi/pages/format"
	"github.com/signalcast/signalcast/services/hub/internal/httpapi/pages/site"
	"github.com/signalcast/signalcast/services/hub/internal/httpapi/request"
	"github.com/signalcast/signalcast/services/hub/internal/httpapi/view"
	"github.com/signalcast/signalcast/services/hub/internal/share"
	"github.com/signalcast/signalcast/services/hub/internal/stream"
)

const clipPath = "/clips/"

type clipPage struct {
	site.Layout
	ID, Heading, Handle string
	Stream, Origins     string
	MarketID, Market    string
	Side, SideClass     string // call of the operator on the market; empty: none
	CreatedBy           string
	Created, CreatedISO string
	Length, Views       string
	ShareURL            string // short link; empty: it could not be stored
}

// clip handles GET /clips/{id}, the page of a clip (tape) of this station. Errors: not_found for a clip that is not ready, was
// deleted, or whose operator is not shown.
func (s *server) clip(c echo.Context) error {
	id, ok := request.ParseUUID(c.Param("id"))
	if !ok {
		return stream.ErrNoClip
	}
	ctx := c.Request().Context()
	shown, err := s.Clips.Clip(ctx, id)
	if err != nil {
		return err
	}
	g := site.NewPartReader(ctx, site.PartsTimeout)
	about := &site.Part[*marketv1.Market]{}
	if shown.MarketID != "" {
		about = site.ReadPart(g, "market", func(ctx context.Context) (*marketv1.Market, error) { return s.Ledger.Market(ctx, shown.MarketID) })
	}
	code := site.ReadPart(g, "link", func(ctx context.Context) (string, error) { return share.Mint(ctx, s.Links, share.Tape, id) })
	unavailable := g.Wait()

	handle, title := string(shown.Handle), about.Value.GetTitle()
	p := clipPage{
		ID: id, Heading: cmp.Or(shown.Title, "Clip of @"+handle), Handle: handle, Stream: shown.URL,
		CreatedBy: string(shown.CreatedBy),
		MarketID:  string(shown.MarketID), Market: cmp.Or(title, "Market "+string(shown.MarketID)),
		Created: format.When(shown.CreatedAt), CreatedISO: protocol.Stamp(shown.CreatedAt), Views: format.CountOf(shown.Views, "view"),
	}
	description := "Clip of the broadcast of @" + handle
	if p.MarketID != "" {
		description += ": " + p.Market
	}
	p.Layout = s.NewLayout(c, p.Heading, description, clipPath+id)
	p.Unavailable, p.Wide, p.OGType = unavailable, true, "video.other"
	if shown.Stance != nil {
		p.Side, p.SideClass = view.SideName(about.Value, *shown.Stance), format.SideClass(*shown.Stance)
	}
	if shown.Duration != nil {
		p.Length = lengthOf(int64(*shown.Duration))
	}
	if code.Value != "" {
		p.ShareURL = s.HubURL + "/api/c/" + code.Value
	}
	origins := s.videoOrigins(p.Stream)
	p.Origins = strings.Join(origins, " ")
	c.Response().Header().Set("Content-Security-Policy", s.videoPolicy(origins))
	return s.RenderParts(c, g, http.StatusOK, "clip", p)
}
