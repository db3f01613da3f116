package pages

import (
	"context"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/labstack/echo/v4"

	"github.com/signalcast/signalcast/pkg/protocol"
	feedv1 "github.com/signalcast/signalcast/proto/feed/v1"
	operatorv1 "github.com/signalcast/signalcast/proto/operator/v1"
	recordv1 "github.com/signalcast/signalcast/proto/record/v1"
	"github.com/signalcast/signalcast/services/hub/internal/follow"
	"github.com/signalcast/signalcast/services/hub/internal/httpapi/pages/format"
	"github.com/signalcast/signalcast/services/hub/internal/httpapi/pages/site"
	"github.com/signalcast/signalcast/services/hub/internal/httpapi/view"
	"github.com/signalcast/signalcast/services/hub/internal/operator"
)

const (
	// followingEvents is the number of events that one page reads.
	followingEvents = 50
	// maxFollowing is the maximum number of followed forecasters whose events one page reads.
	maxFollowing = 1000
	// suggestedForecasters is the number of forecasters that the page suggests to a visitor who follows none.
	suggestedForecasters = 5
)

type followingPage struct {
	site.Layout
	Rows      []feedRow
	People    []followedPerson
	More      bool // the visitor follows more forecasters than the page shows
	Suggested []suggestedPerson
	OlderURL  string
}

// followedPerson is a forecaster that the visitor follows.
type followedPerson struct {
	Handle, Name string
	Avatar       site.Avatar
	Muted        bool
}

type suggestedPerson struct{ Handle, Name, Score string }

// following handles GET /following: calls, takes, results and live broadcasts of the forecasters that the visitor follows, newest
// first, and the list of these forecasters. The query parameter "before" continues the list before the event with this number.
func (s *server) following(c echo.Context) error {
	v, ok, err := s.RequireViewer(c, site.ReturnPath(c.Request().URL))
	if !ok {
		return err
	}
	p := followingPage{Layout: s.NewLayout(c, "Following", "", "")}
	ctx, cancel := context.WithTimeout(c.Request().Context(), site.PartsTimeout)
	defer cancel()
	list, err := s.allFollowed(ctx, operator.ID(v.Session.UserID))
	if err != nil {
		return err
	}
	ids, unmuted := view.List(list, func(f follow.Followed) string { return string(f.ID) }), unmutedOf(list)
	g := site.NewPartReader(ctx, site.PartsTimeout)
	top, named, events := &site.Part[*recordv1.ListOperatorsResponse]{}, &site.Part[*operatorv1.ListOperatorsResponse]{},
		&site.Part[*feedv1.ListEventsResponse]{}
	if len(ids) == 0 {
		top = site.CallPart(g, "suggested", s.Ledger.Records.ListOperators, &recordv1.ListOperatorsRequest{Limit: suggestedForecasters + 1})
	} else {
		shown := ids[:min(len(ids), follow.MaxFollowing)]
		named = site.CallPart(g, "people", s.Ledger.Operators.ListOperators, &operatorv1.ListOperatorsRequest{Ids: shown})
	}
	if len(unmuted) > 0 {
		before, _ := strconv.ParseInt(c.QueryParam("before"), 10, 64) // an invalid number starts at the newest event
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
	p.People, p.More = peopleOf(list, named.Value.GetOperators()), len(ids) > follow.MaxFollowing
	for _, r := range top.Value.GetOperators() {
		if o := r.GetOperator(); o.GetId() != v.Session.UserID && len(p.Suggested) < suggestedForecasters {
			p.Suggested = append(p.Suggested, suggestedPerson{
				Handle: o.GetHandle(), Name: format.NameOf(o.GetDisplayName(), o.GetHandle()), Score: view.PointsLabel(r.GetStats().GetScore()),
			})
		}
	}
	return s.RenderParts(c, g, http.StatusOK, "following", p)
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
				Handle: handle, Name: format.NameOf(name, handle), Muted: f.Muted,
				Avatar: site.AvatarOf(operator.FromMessage(named[i])),
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

// mute handles POST /u/{handle}/mute. The visitor still follows the forecaster, without notifications.
func (s *server) mute(c echo.Context) error { return s.setMuted(c, true) }

// unmute handles POST /u/{handle}/unmute.
func (s *server) unmute(c echo.Context) error { return s.setMuted(c, false) }

// setMuted changes nothing if the visitor does not follow the forecaster.
func (s *server) setMuted(c echo.Context, muted bool) error {
	v, _, err := s.ReadForm(c)
	if err != nil {
		return err
	}
	handle, err := protocol.ParseHandle(strings.ToLower(c.Param("handle")))
	if err != nil {
		return operator.ErrUnknown
	}
	me := operator.Operator{ID: operator.ID(v.Session.UserID), Handle: protocol.Handle(v.Handle)}
	if _, err := s.People.Follows.Set(c.Request().Context(), me, handle, follow.Switches{Muted: &muted}); err != nil {
		return err
	}
	return site.Redirect(c, site.FollowingPath)
}
