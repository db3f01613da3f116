package httpapi

import (
	"context"
	"net/http"

	"github.com/labstack/echo/v4"

	"github.com/signalcast/signalcast/pkg/httpx"
	"github.com/signalcast/signalcast/pkg/protocol"
	"github.com/signalcast/signalcast/proto/openapi"
	"github.com/signalcast/signalcast/services/api/internal/lane"
	"github.com/signalcast/signalcast/services/api/internal/market"
)

// Maximum lengths, in characters, of the members title and marketId of an item to categorise.
const (
	maxQuestion = 500
	maxMarketID = 128
)

// categories handles GET /api/v1/signals/categories: the numbers of calls and markets of each lane.
func (s *Server) categories(c echo.Context) error {
	return serve(c, s.ranks, "categories", func(ctx context.Context) (any, error) {
		counts, err := s.Lanes.Counts(ctx)
		return s.showCategories(counts), err
	})
}

func (s *Server) emptyCategories() any { return s.showCategories(nil) }

func (s *Server) showCategories(counts []lane.Count) openapi.CategoryList {
	out := openapi.CategoryList{Categories: make([]openapi.CategoryList_Categories, 0, len(counts)), UpdatedAt: protocol.Stamp(s.Now())}
	for _, n := range counts {
		row := openapi.CategoryList_Categories{Lane: string(n.Lane), Signals: n.Signals, OpenSignals: n.Open, Markets: n.Markets}
		if !n.Lane.Filterable() {
			row.Filterable = new(bool)
		}
		out.Categories = append(out.Categories, row)
	}
	return out
}

// categorise handles POST /api/v1/signals/categorize: it returns the lane and the category of each given market or title.
func (s *Server) categorise(c echo.Context, _ holder) error {
	body, err := httpx.Decode(c, httpx.BodyLimit)
	if err != nil {
		return err
	}
	var items []lane.Item
	for _, o := range body.Objects("items", lane.MaxItems) {
		it := lane.Item{}
		if id := o.OptString("marketId", maxMarketID); id != nil {
			parsed, err := protocol.ParseMarketID(*id)
			if err != nil {
				o.Invalid("marketId", protocol.MarketIDForm)
			}
			it.MarketID = string(parsed)
		}
		it.Title = o.String("title", maxQuestion, it.MarketID == "")
		items = append(items, it)
	}
	if err := body.Err(); err != nil {
		return err
	}
	places, err := s.Lanes.Categorise(c.Request().Context(), items)
	if err != nil {
		return err
	}
	out := openapi.CategorizeAnswer{Items: make([]openapi.CategorizeAnswer_Items, len(places))}
	for i, p := range places {
		out.Items[i] = openapi.CategorizeAnswer_Items{
			MarketID: httpx.OrNull(p.MarketID), Lane: string(p.Lane), Category: p.Category, Confidence: int64(p.Confidence),
			Method: string(p.Method),
		}
	}
	return httpx.OK(c, out)
}

// ruleLane handles PUT /api/v1/markets/{marketId}/lane, with which an administrator sets the lane and the category of a market.
func (s *Server) ruleLane(c echo.Context) error {
	if err := s.admin(c); err != nil {
		return err
	}
	body, err := httpx.Decode(c, httpx.BodyLimit)
	if err != nil {
		return err
	}
	to := protocol.Lane(body.Enum("lane", openapi.Texts(protocol.Lanes[:])...))
	category := body.OptEnum("category", lane.Categories...)
	if err := body.Err(); err != nil {
		return err
	}
	id, err := protocol.ParseMarketID(c.Param("marketId"))
	if err != nil {
		return market.ErrNotFound
	}
	if category, err = s.Lanes.Rule(c.Request().Context(), string(id), to, category); err != nil {
		return err
	}
	return httpx.JSON(c, http.StatusOK, openapi.LaneRuled{Ok: true, MarketID: string(id), Lane: string(to), Category: category})
}
