package pages

import (
	"context"

	"github.com/labstack/echo/v4"

	"github.com/signalcast/signalcast/pkg/protocol"
	marketv1 "github.com/signalcast/signalcast/proto/market/v1"
	"github.com/signalcast/signalcast/services/hub/internal/httpapi/pages/site"
	"github.com/signalcast/signalcast/services/hub/internal/market"
	"github.com/signalcast/signalcast/services/hub/internal/operator"
)

// watchedShown is the number of markets on a page of the list of watched markets.
const watchedShown = 100

// changeWatch handles POST /m/{marketId}/watch. The field watch is yes or no: the visitor watches the market, or no longer does. The
// field back is the page that opens afterwards; it is the page of the market if the field is not a path of a page.
func (s *server) changeWatch(c echo.Context) error {
	id, err := protocol.ParseMarketID(c.Param("marketId"))
	if err != nil {
		return market.ErrUnknown
	}
	v, form, err := s.ReadForm(c)
	if err != nil {
		return err
	}
	ctx, user := c.Request().Context(), operator.ID(v.Session.UserID)
	switch form.Get("watch") {
	case "yes":
		if _, err = s.Ledger.Market(ctx, id); err != nil {
			return market.ReadError(err)
		}
		err = s.People.Watches.Watch(ctx, user, id, s.Now())
	case "no":
		err = s.People.Watches.Unwatch(ctx, user, id)
	default:
		err = site.ErrForm
	}
	if err != nil {
		return err
	}
	back := form.Get("back")
	if !site.IsReturnPath(back) {
		back = site.MarketPath + string(id)
	}
	return site.Redirect(c, back)
}

// watchedMarkets returns the markets that a user watches, the newest watch first, at most watchedShown after the first from ones, and
// whether there are more.
func (s *server) watchedMarkets(ctx context.Context, user operator.ID, from int) ([]*marketv1.Market, bool, error) {
	list, err := s.People.Watches.ListWatched(ctx, user, from+watchedShown+1)
	list = list[min(from, len(list)):]
	if err != nil || len(list) == 0 {
		return nil, false, err
	}
	more := len(list) > watchedShown
	list = list[:min(len(list), watchedShown)]
	q := &marketv1.ListMarketsRequest{}
	for _, w := range list {
		q.Ids = append(q.Ids, string(w.MarketID))
	}
	r, err := s.Ledger.Markets.ListMarkets(ctx, q)
	byID := map[string]*marketv1.Market{}
	for _, m := range r.GetMarkets() {
		byID[m.GetId()] = m
	}
	var out []*marketv1.Market
	for _, w := range list {
		if m := byID[string(w.MarketID)]; m != nil {
			out = append(out, m)
		}
	}
	return out, more, err
}

// watchedOf returns which of the markets the visitor watches. It returns nil without a session, or if the watches cannot be read.
func (s *server) watchedOf(ctx context.Context, v site.Viewer, list ...*marketv1.Market) map[protocol.MarketID]bool {
	if v.Session.UserID == "" {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, titlesTimeout)
	defer cancel()
	ids := make([]protocol.MarketID, 0, len(list))
	for _, m := range list {
		ids = append(ids, protocol.MarketID(m.GetId()))
	}
	watched, err := s.People.Watches.WatchedOf(ctx, operator.ID(v.Session.UserID), ids)
	if err != nil {
		return nil
	}
	if watched == nil {
		watched = map[protocol.MarketID]bool{}
	}
	return watched
}
