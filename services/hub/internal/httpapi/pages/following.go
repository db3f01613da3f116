package pages

import (
	"cmp"
	"context"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/labstack/echo/v4"

	"github.com/signalcast/signalcast/pkg/ledgerclient"
	"github.com/signalcast/signalcast/pkg/protocol"
	feedv1 "github.com/signalcast/signalcast/proto/feed/v1"
	operatorv1 "github.com/signalcast/signalcast/proto/operator/v1"
	recordv1 "github.com/signalcast/signalcast/proto/record/v1"
	signalv1 "github.com/signalcast/signalcast/proto/signal/v1"
	"github.com/signalcast/signalcast/services/hub/internal/follow"
	"github.com/signalcast/signalcast/services/hub/internal/httpapi/pages/format"
	"github.com/signalcast/signalcast/services/hub/internal/httpapi/pages/site"
	"github.com/signalcast/signalcast/services/hub/internal/httpapi/request"
	"github.com/signalcast/signalcast/services/hub/internal/httpapi/view"
	"github.com/signalcast/signalcast/services/hub/internal/operator"
)

const (
	// followingEvents is the number of events that one page reads.
	followingEvents = 50
	// maxFollowing is the maximum number of followed forecasters whose events one page reads.
	maxFollowing = 1000
	// followedPerPage is the number of followed forecasters that a page lists.
	followedPerPage = 25
	// suggestedForecasters is the number of forecasters that the page suggests to a visitor who follows none.
	suggestedForecasters = 5
	// quietForecasters is the number of forecasters whose last calls the page shows if there are no events.
	quietForecasters = 5
)

type followingPage struct {
	site.Layout
	Rows              []feedRow
	LastCalls         []feedRow // only without events
	People            []followedPerson
	MoreURL, FirstURL string // URLs of the next and of the first page of the list of followed forecasters
	Suggested         []suggestedPerson
	OlderURL          string
}

// followedPerson is a row in the visitor's list of followed forecasters. The visitor gets a notification if the forecaster files
// a call (Calls), starts a broadcast (Live) or adds a take (Takes), unless the forecaster is muted (Muted).
type followedPerson struct {
	Handle, Name              string
	Avatar                    site.Avatar
	Muted, Calls, Live, Takes bool
}

type suggestedPerson struct{ Handle, Name, Score string }

// following handles GET /following: calls, takes, results and live broadcasts of the forecasters that the visitor follows, newest
// first, and the list of these forecasters. The query parameter "before" is a number of an event: the page shows older ones. The
// parameter "people" is the cursor of a page of the list of forecasters.
func (s *server) following(c echo.Context) error {
	v, ok, err := s.RequireViewer(c, site.ReturnPath(c.Request().URL))
	if !ok {
		return err
	}
	p := followingPage{Layout: s.NewLayout(c, "Following", "", "")}
	ctx, cancel := context.WithTimeout(c.Request().Context(), site.PartsTimeout)
	defer cancel()
	me := operator.ID(v.Session.UserID)
	list, err := s.allFollowed(ctx, me)
	if err != nil {
		return err
	}
	shown, err := s.followedPage(ctx, me, c.QueryParam("people"), list, &p)
	if err != nil {
		return err
	}
	unmuted := unmutedOf(list)
	quiet := unmuted[:min(len(unmuted), quietForecasters)]
	before, _ := strconv.ParseInt(c.QueryParam("before"), 10, 64) // an invalid number starts at the newest event
	g := site.NewPartReader(ctx, site.PartsTimeout)
	top, named, events := &site.Part[*recordv1.ListOperatorsResponse]{}, &site.Part[*operatorv1.ListOperatorsResponse]{},
		&site.Part[*feedv1.ListEventsResponse]{}
	if len(list) == 0 {
		q := &recordv1.ListOperatorsRequest{Limit: suggestedForecasters + 1}
		top = site.CallPart(g, "suggested", s.Ledger.Records.ListOperators, q)
	} else {
		ids := append(view.List(shown, func(f follow.Followed) string { return string(f.ID) }), quiet...)
		slices.Sort(ids)
		named = site.CallPart(g, "people", s.Ledger.Operators.ListOperators, &operatorv1.ListOperatorsRequest{Ids: slices.Compact(ids)})
	}
	if len(unmuted) > 0 {
		events = site.CallPart(g, "events", s.Ledger.Feed.ListEvents, &feedv1.ListEventsRequest{
			Types: followingTypes, OperatorIds: unmuted, Before: max(before, 0), Limit: followingEvents,
		})
	}
	p.Unavailable, p.Unlisted, p.Wide = g.Wait(), true, true
	for _, e := range events.Value.GetEvents() {
		if row, ok := followingRow(e); ok {
			p.Rows = append(p.Rows, row)
		}
	}
	if n := len(events.Value.GetEvents()); n == followingEvents {
		p.OlderURL = site.FollowingPath + "?before=" + format.Digits(events.Value.GetEvents()[n-1].GetSeq())
	}
	p.People = peopleOf(shown, named.Value.GetOperators())
	for _, r := range top.Value.GetOperators() {
		if o := r.GetOperator(); o.GetId() != v.Session.UserID && len(p.Suggested) < suggestedForecasters {
			p.Suggested = append(p.Suggested, suggestedPerson{
				Handle: o.GetHandle(), Name: format.NameOf(o.GetDisplayName(), o.GetHandle()),
				Score: view.PointsLabel(r.GetStats().GetScore()),
			})
		}
	}
	if len(p.Unavailable) == 0 && before <= 0 && len(events.Value.GetEvents()) == 0 {
		g = site.NewPartReader(ctx, site.PartsTimeout)
		p.LastCalls, p.Unavailable = s.lastCalls(ctx, g, quiet, named.Value.GetOperators())
	}
	return s.RenderParts(c, g, http.StatusOK, "following", p)
}

// followedPage returns one page of the list of followed forecasters, and sets the URLs of the other pages. list is the start of
// the whole list. Without a valid cursor, and after the last forecaster, it returns the first page.
func (s *server) followedPage(
	ctx context.Context, me operator.ID, cursor string, list []follow.Followed, p *followingPage,
) ([]follow.Followed, error) {
	at, _ := protocol.DecodeCursor(cursor, 1)
	id, isID := request.ParseUUID(at.ID)
	if since, ok := at.Time(0); ok && isID {
		rest, err := s.People.Follows.Following(ctx, me, follow.Followed{ID: operator.ID(id), Since: since})
		if err != nil {
			return nil, err
		}
		if len(rest) > 0 {
			list, p.FirstURL = rest, site.FollowingPath+"#people-h"
		}
	}
	if len(list) > followedPerPage {
		list = list[:followedPerPage]
		last := list[followedPerPage-1]
		next := protocol.NewCursor(string(last.ID), protocol.TimeKey(last.Since))
		p.MoreURL = site.FollowingPath + "?people=" + next.Encode() + "#people-h"
	}
	return list, nil
}

// lastCalls returns the newest call of each of the forecasters with the given ids, the newest first. named has the forecasters.
func (s *server) lastCalls(
	ctx context.Context, g *site.PartReader, ids []string, named []*operatorv1.Operator,
) ([]feedRow, map[string]bool) {
	var parts []*site.Part[*recordv1.ListCallsResponse]
	for _, o := range named {
		if slices.Contains(ids, o.GetId()) {
			q := &recordv1.ListCallsRequest{Handle: o.GetHandle(), Limit: 1}
			parts = append(parts, site.CallPart(g, "last", s.Ledger.Records.ListCalls, q))
		}
	}
	unavailable := g.Wait()
	var calls []*signalv1.Signal
	for _, part := range parts {
		calls = append(calls, part.Value.GetSignals()...)
	}
	slices.SortFunc(calls, func(a, b *signalv1.Signal) int {
		return b.GetCreatedAt().AsTime().Compare(a.GetCreatedAt().AsTime())
	})
	markets := s.marketsOf(ctx, view.List(calls, (*signalv1.Signal).GetMarketId)...)
	return view.List(calls, func(call *signalv1.Signal) feedRow {
		id := call.GetMarketId()
		return feedRow{
			Label: "Call", Class: "signal-created", Handle: "@" + call.GetHandle(), HandleURL: site.PersonPath + call.GetHandle(),
			Title: cmp.Or(call.GetMarketTitle(), "Market "+id), URL: site.MarketPath + id, Receipt: site.ReceiptPath + call.GetId(),
			Fact: view.SideName(markets[id], call.GetDirection()) + " at " + format.PriceOf(call), Text: call.GetTextTake(),
			At: ledgerclient.Time(call.GetCreatedAt()),
		}
	}), unavailable
}

// allFollowed returns the forecasters that an operator follows, at most maxFollowing, the newest follow first.
func (s *server) allFollowed(ctx context.Context, me operator.ID) ([]follow.Followed, error) {
	var all []follow.Followed
	var last follow.Followed
	for len(all) < maxFollowing {
		page, err := s.People.Follows.Following(ctx, me, last)
		if err != nil {
			return nil, err
		}
		if all = append(all, page...); len(page) < follow.MaxFollowing {
			break
		}
		last = page[len(page)-1]
	}
	return all, nil
}

// unmutedOf returns the ids of the forecasters that are not muted.
func unmutedOf(list []follow.Followed) []string {
	var ids []string
	for _, f := range list {
		if !f.Muted {
			ids = append(ids, string(f.ID))
		}
	}
	return ids
}

// peopleOf returns the rows of followed forecasters whose names were read, in the order of the follows.
func peopleOf(list []follow.Followed, named []*operatorv1.Operator) []followedPerson {
	var out []followedPerson
	for _, f := range list {
		i := slices.IndexFunc(named, func(o *operatorv1.Operator) bool { return o.GetId() == string(f.ID) })
		if i >= 0 {
			handle, name := named[i].GetHandle(), named[i].GetDisplayName()
			out = append(out, followedPerson{
				Handle: handle, Name: format.NameOf(name, handle), Avatar: site.AvatarOf(operator.FromMessage(named[i])),
				Muted: f.Muted, Calls: f.Calls, Live: f.Live, Takes: f.Takes,
			})
		}
	}
	return out
}

// followingTypes lists the types of events on the page.
var followingTypes = []string{"signal.created", "signal.event", "signal.resolved", "operator.live"}

// followingRow returns the row of an event of a followed forecaster. It returns false for an event that the page does not show.
func followingRow(e *feedv1.Event) (feedRow, bool) {
	d, r := dataOf(e), feedRowOf(e)
	switch e.GetType() {
	case "signal.event":
		return r, d.Event.Type == "take"
	case "operator.live":
		r.Label, r.Title, r.Fact = "Live", "Watch the broadcast of "+r.Handle, ""
		r.URL = recapPath(protocol.Handle(e.GetHandle()), d.ShowID)
		return r, d.Approved
	}
	return r, true
}

// mute handles POST /u/{handle}/mute. The visitor still follows the forecaster, without notifications. With the field kinds, it
// changes only which notifications there are: the form then has a field for each of calls, live and takes that is on.
func (s *server) mute(c echo.Context) error { return s.setFollow(c, true) }

// unmute handles POST /u/{handle}/unmute.
func (s *server) unmute(c echo.Context) error { return s.setFollow(c, false) }

// setFollow changes nothing if the visitor does not follow the forecaster.
func (s *server) setFollow(c echo.Context, muted bool) error {
	v, form, err := s.ReadForm(c)
	if err != nil {
		return err
	}
	handle, err := protocol.ParseHandle(strings.ToLower(c.Param("handle")))
	if err != nil {
		return operator.ErrUnknown
	}
	to := follow.Switches{Muted: &muted}
	if muted && form.Has("kinds") {
		calls, live, takes := form.Has("calls"), form.Has("live"), form.Has("takes")
		to = follow.Switches{Calls: &calls, Live: &live, Takes: &takes}
	}
	me := operator.Operator{ID: operator.ID(v.Session.UserID), Handle: protocol.Handle(v.Handle)}
	if _, err := s.People.Follows.Set(c.Request().Context(), me, handle, to); err != nil {
		return err
	}
	return site.Redirect(c, site.FollowingPath)
}
