package edge

import (
	"context"
	"slices"

	"github.com/labstack/echo/v4"
	"golang.org/x/sync/errgroup"

	"github.com/signalcast/signalcast/pkg/fault"
	"github.com/signalcast/signalcast/pkg/syntax"
	"github.com/signalcast/signalcast/pkg/web"
	boardv1 "github.com/signalcast/signalcast/proto/board/v1"
	"github.com/signalcast/signalcast/proto/openapi"
	"github.com/signalcast/signalcast/services/hub/internal/board"
	"github.com/signalcast/signalcast/services/hub/internal/claim"
	"github.com/signalcast/signalcast/services/hub/internal/follow"
	"github.com/signalcast/signalcast/services/hub/internal/onair"
	"github.com/signalcast/signalcast/services/hub/internal/operator"
)

// profile is GET /api/streamer/profile?handle=.
func (s *server) profile(c echo.Context) error {
	handle, err := readHandle(c)
	if err != nil {
		return err
	}
	ctx := c.Request().Context()
	account, err := s.Accounts.Payouts.Finder.AccountByHandle(ctx, handle)
	if err != nil {
		return err
	}
	p, err := s.profileOf(ctx, account)
	if err != nil {
		return err
	}
	return tagged(c, p)
}

var errAutomated = fault.New(fault.Forbidden, "forbidden", "only an administrator changes an automated operator back").With("field", "automated")

// changeProfile is POST /api/streamer/profile: the write of profile.update, without a
// message. What is left out stays; null removes a picture or a payout address. A payout
// address needs a session with a recent sign-in, and automated cannot be taken back.
func (s *server) changeProfile(c echo.Context) error {
	o, err := web.Decode(c, web.BodyLimit)
	if err != nil {
		return err
	}
	change := operator.Profile{DisplayName: o.OptString("displayName", web.BodyLimit), Bio: o.OptString("bio", web.BodyLimit)}
	for name, to := range map[string]*operator.Change{"avatarUrl": &change.Avatar, "payoutAddress": &change.PayoutAddress} {
		if slices.Contains(o.Names(), name) {
			*to = operator.Change{Given: true, Text: optText(o, name, web.BodyLimit)}
		}
	}
	if o.Has("links") {
		change.Links = append([]string{}, o.Strings("links", maxListed, maxWord)...)
	}
	automated := o.OptBool("automated")
	if err := o.Err(); err != nil {
		return err
	}
	lanes, err := readLanes(o)
	if err != nil {
		return err
	}
	ctx, who := c.Request().Context(), callerOf(c)
	me := who.Operator
	if automated != nil && !*automated && me.Type != syntax.Human {
		return errAutomated
	}
	change.Automated = automated != nil && *automated
	if err := s.Accounts.Profiles.Update(ctx, me.ID, who.SignedInAt, change); err != nil {
		return err
	}
	if lanes != nil {
		if err := s.OnAir.ChooseLanes(ctx, me.Handle, lanes); err != nil {
			return err
		}
	}
	account, err := s.Accounts.People.AccountByID(ctx, me.ID)
	if err != nil {
		return err
	}
	p, err := s.profileOf(ctx, account)
	if err != nil {
		return err
	}
	return web.OK(c, openapi.StreamerProfileChanged{Ok: true, Profile: p})
}

func (s *server) profileOf(ctx context.Context, of claim.Account) (openapi.StreamerProfile, error) {
	var record *boardv1.GetRecordResponse
	var follows follow.Totals
	var streamer onair.Streamer
	var show onair.Show
	var live bool
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() (err error) {
		record, err = s.Ledger.Boards.GetRecord(ctx, &boardv1.GetRecordRequest{OperatorId: string(of.ID)})
		return err
	})
	g.Go(func() (err error) { follows, err = s.Accounts.Follows.Totals(ctx, of.ID); return err })
	g.Go(func() (err error) { streamer, err = s.OnAir.Streamer(ctx, of.Handle); return err })
	g.Go(func() (err error) { show, live, err = s.OnAir.Shown(ctx, of.Handle); return err })
	if err := g.Wait(); err != nil {
		return openapi.StreamerProfile{}, err
	}
	return openapi.StreamerProfile{
		Handle: string(of.Handle), DisplayName: of.DisplayName, Bio: orNull(of.Bio), AvatarURL: orNull(of.AvatarURL),
		Links: append([]string{}, of.Links...), Lanes: append([]string{}, streamer.Lanes...), Live: live, Approved: show.Approved,
		Followers: follows.Followers,
		Stats: openapi.StreamerProfile_Stats{
			Calls: record.GetTotal(), Won: record.GetWon(), Lost: record.GetLost(), Score: record.GetScore(),
			Accuracy: board.Accuracy(record.GetWon(), record.GetLost()),
		},
		ProfileURL: s.HubURL + "/u/" + string(of.Handle),
	}, nil
}
