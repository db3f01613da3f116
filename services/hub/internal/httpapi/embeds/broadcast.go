package embeds

import (
	"context"
	"errors"
	"strconv"
	"strings"

	"github.com/signalcast/signalcast/pkg/apperr"
	"github.com/signalcast/signalcast/pkg/protocol"
	"github.com/signalcast/signalcast/services/hub/internal/card"
	"github.com/signalcast/signalcast/services/hub/internal/httpapi/request"
	"github.com/signalcast/signalcast/services/hub/internal/httpapi/view"
	"github.com/signalcast/signalcast/services/hub/internal/livestream"
	"github.com/signalcast/signalcast/services/hub/internal/operator"
)

// broadcast is the kind of the card of a broadcast. Its id is the handle, a dot and the id of the session.
const broadcast = "broadcast"

// broadcastItem returns the card of a broadcast of an approved streamer, by the present or a former handle. Error:
// livestream.ErrNoShow, db_unavailable, and those of the ledger.
func (s *Server) broadcastItem(ctx context.Context, raw string) (item, error) {
	name, session, _ := strings.Cut(raw, ".")
	handle, err := protocol.ParseHandle(name)
	id, ok := request.ParseUUID(session)
	if err != nil || !ok || s.OnAir == nil {
		return item{}, livestream.ErrNoShow
	}
	r, err := s.OnAir.Recap(ctx, handle, id)
	if errors.Is(err, livestream.ErrNoShow) {
		switch o, lookup := (operator.Directory{Ledger: s.Ledger.Operators}).ByHandle(ctx, handle); {
		case lookup != nil && apperr.Of(lookup).Kind != apperr.NotFound:
			return item{}, lookup
		case lookup == nil && o.Handle != handle:
			handle = o.Handle
			r, err = s.OnAir.Recap(ctx, handle, id)
		}
	}
	if err != nil {
		return item{}, err
	}
	state, err := s.OnAir.State(ctx, handle)
	if err != nil {
		return item{}, err
	}
	if !state.Approved || !r.Session.Aired {
		return item{}, livestream.ErrNoShow
	}
	page := s.HubURL + "/live/" + string(handle)
	t := item{kind: broadcast, id: raw, url: page + "?show=" + id, show: r.Session}
	t.Card = card.Card{
		Kicker: "Broadcast", Title: "Broadcast of @" + string(handle), Name: "Broadcast of @" + string(handle), Accent: card.Plain,
		Subtitle: "@" + string(handle) + ", " + day(r.Session.StartedAt),
		Lines: []string{
			strconv.FormatInt(r.Count, 10) + plural(r.Count, " call", " calls"),
			viewersOf(r.Peak),
		},
	}
	if r.Session.Signal != nil { // as in the list of broadcasts
		t.Title = card.Clean(r.Session.Signal.Name)
	} else if r.Top != nil && r.Top.Title != "" {
		t.Title = card.Clean(r.Top.Title)
	}
	if r.Session.EndedAt.IsZero() {
		t.Stamp, t.url = "Live", page
		return t, nil
	}
	if minutes := int64(r.Length.Minutes()); minutes > 0 {
		t.Lines[1] += ", " + strconv.FormatInt(minutes, 10) + plural(minutes, " minute", " minutes")
	}
	if r.Won+r.Lost > 0 {
		t.Lines = append(t.Lines, strconv.FormatInt(r.Won, 10)+" won, "+strconv.FormatInt(r.Lost, 10)+" lost, "+view.PointsLabel(r.Score))
	}
	return t, nil
}

// audienceChart returns the chart of the viewers of an ended session, or nil for fewer than two steps.
func (s *Server) audienceChart(ctx context.Context, session livestream.Session) *card.Chart {
	if session.EndedAt.IsZero() {
		return nil
	}
	a, err := s.OnAir.Audience(ctx, session)
	if err != nil || len(a.Steps) < 2 {
		return nil
	}
	most := int64(1)
	for _, one := range a.Steps {
		most = max(most, one.Viewers)
	}
	c := &card.Chart{Top: strconv.FormatInt(most, 10), Bottom: "0", Caption: "Viewers"}
	first, last := a.Steps[0].At, a.Steps[len(a.Steps)-1].At
	for _, one := range a.Steps {
		c.Line = append(c.Line, card.Point{
			X: float64(one.At.Sub(first)) / float64(last.Sub(first)), Y: 1 - float64(one.Viewers)/float64(most),
		})
	}
	return c
}

// viewersOf describes the largest number of viewers of a broadcast.
func viewersOf(peak int64) string {
	if peak == 0 {
		return "No viewers"
	}
	return "At most " + strconv.FormatInt(peak, 10) + plural(peak, " viewer", " viewers")
}
