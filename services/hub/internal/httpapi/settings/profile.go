package settings

import (
	"context"
	"slices"

	"github.com/labstack/echo/v4"
	"golang.org/x/sync/errgroup"

	"github.com/signalcast/signalcast/pkg/apperr"
	"github.com/signalcast/signalcast/pkg/httpx"
	"github.com/signalcast/signalcast/pkg/protocol"
	boardv1 "github.com/signalcast/signalcast/proto/board/v1"
	"github.com/signalcast/signalcast/proto/openapi"
	"github.com/signalcast/signalcast/services/hub/internal/board"
	"github.com/signalcast/signalcast/services/hub/internal/follow"
	"github.com/signalcast/signalcast/services/hub/internal/httpapi/request"
	"github.com/signalcast/signalcast/services/hub/internal/httpapi/view"
	"github.com/signalcast/signalcast/services/hub/internal/identityclaim"
	"github.com/signalcast/signalcast/services/hub/internal/livestream"
	"github.com/signalcast/signalcast/services/hub/internal/operator"
	"github.com/signalcast/signalcast/services/hub/internal/profile"
)

// Profile handles GET /api/streamer/profile?handle=, the public profile of an operator.
func (s *Server) Profile(c echo.Context, handle protocol.Handle) error {
	ctx := c.Request().Context()
	account, err := identityclaim.Accounts{Ledger: s.Ledger.Operators}.ByHandle(ctx, handle)
	if err != nil {
		return err
	}
	p, err := s.profileOf(ctx, account)
	return view.Tagged(c, p, err)
}

var errAutomated = apperr.New(
	apperr.Forbidden, "forbidden", "only an administrator can set automated to false",
).With("field", "automated")

// ChangeProfile handles POST /api/streamer/profile. Missing members do not change. Null or an empty text deletes an avatar or a
// payout address. A change of the payout address requires a session with a recent sign-in. Operators cannot set automated back to
// false.
func (s *Server) ChangeProfile(c echo.Context, o httpx.Object) error {
	change := operator.Profile{DisplayName: o.OptString("displayName", httpx.BodyLimit), Bio: o.OptString("bio", httpx.BodyLimit)}
	for name, to := range map[string]*operator.Change{"avatarUrl": &change.Avatar, "payoutAddress": &change.PayoutAddress} {
		if slices.Contains(o.Names(), name) {
			*to = operator.Change{Given: true, Text: request.OptText(o, name, httpx.BodyLimit)}
		}
	}
	if o.Has("links") {
		change.Links = append([]string{}, o.Strings("links", request.MaxListed, request.MaxWord)...)
	}
	automated := o.OptBool("automated")
	if err := o.Err(); err != nil {
		return err
	}
	lanes, err := readLanes(o)
	if err != nil {
		return err
	}
	ctx, who := c.Request().Context(), request.Caller(c)
	me := who.Operator
	if automated != nil && !*automated && me.Type != protocol.Human {
		return errAutomated
	}
	change.Automated = automated != nil && *automated
	if err := s.Profiles.Update(ctx, me.ID, who.SignedInAt, change); err != nil {
		return err
	}
	if lanes != nil {
		if err := s.OnAir.ChooseLanes(ctx, me.Handle, lanes); err != nil {
			return err
		}
	}
	account, err := identityclaim.Accounts{Ledger: s.Ledger.Operators}.ByID(ctx, me.ID)
	if err != nil {
		return err
	}
	p, err := s.profileOf(ctx, account)
	return view.OK(c, openapi.StreamerProfileChanged{Ok: true, Profile: p}, err)
}

func (s *Server) profileOf(ctx context.Context, of identityclaim.Account) (openapi.StreamerProfile, error) {
	var record *boardv1.GetRecordResponse
	var follows follow.Totals
	var streamer livestream.Streamer
	var show livestream.Show
	var live bool
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() (err error) {
		record, err = s.Ledger.Boards.GetRecord(ctx, &boardv1.GetRecordRequest{OperatorId: string(of.ID)})
		return err
	})
	g.Go(func() (err error) { follows, err = s.Follows.Totals(ctx, of.ID); return err })
	g.Go(func() (err error) { streamer, err = s.OnAir.Store.Streamer(ctx, of.Handle); return err })
	g.Go(func() (err error) { show, live, err = s.OnAir.Shown(ctx, of.Handle); return err })
	if err := g.Wait(); err != nil {
		return openapi.StreamerProfile{}, err
	}
	return openapi.StreamerProfile{
		Handle: string(of.Handle), DisplayName: of.DisplayName, Bio: httpx.OrNull(of.Bio), AvatarURL: httpx.OrNull(of.AvatarURL),
		Links: append([]string{}, of.Links...), Lanes: append([]string{}, streamer.Lanes...), Live: live, Approved: show.Approved,
		Followers: follows.Followers,
		Stats: openapi.StreamerProfile_Stats{
			Calls: record.GetTotal(), Won: record.GetWon(), Lost: record.GetLost(), Score: record.GetScore(),
			Accuracy: board.Accuracy(record.GetWon(), record.GetLost()),
		},
		ProfileURL: s.HubURL + "/u/" + string(of.Handle),
	}, nil
}

// errLanes is the error of a list that has an unknown lane, a duplicate or too many lanes.
var errLanes = apperr.New(
	apperr.Invalid, "invalid_lanes", "lanes must be at most 5 different lanes of: sports, music, film, tv, fashion, culture, "+
		"crypto, politics, news, science, tech, economy",
).With("field", "lanes")

// readLanes reads the member "lanes"; nil if it is absent. Error: errLanes.
func readLanes(o httpx.Object) ([]string, error) {
	if !o.Has("lanes") {
		return nil, nil
	}
	list := o.Strings("lanes", request.MaxListed, request.MaxWord)
	if err := o.Err(); err != nil {
		return nil, err
	}
	keys, ok := livestream.ParseLanes(list)
	if !ok {
		return nil, errLanes
	}
	return keys, nil
}

// RegisterStreamer handles POST /api/streamer/register, the application of an operator to stream. A repeated request does not
// change the profile.
func (s *Server) RegisterStreamer(c echo.Context, o httpx.Object) error {
	given := operator.Profile{DisplayName: o.OptString("displayName", httpx.BodyLimit), Bio: o.OptString("bio", httpx.BodyLimit)}
	if o.Has("links") {
		given.Links = append([]string{}, o.Strings("links", request.MaxListed, request.MaxWord)...)
	}
	if err := o.Err(); err != nil {
		return err
	}
	lanes, err := readLanes(o)
	if err != nil {
		return err
	}
	if _, err := profile.Check(given); err != nil { // also checked for a registered operator, whose profile does not change here
		return err
	}
	ctx, me := c.Request().Context(), request.Caller(c).Operator
	current, err := s.OnAir.Store.Streamer(ctx, me.Handle)
	if err != nil {
		return err
	}
	if current.Status == livestream.Unregistered {
		// The profile is stored first, so that an operator with an invalid profile is not registered.
		if err := s.Profiles.Update(ctx, me.ID, request.Caller(c).SignedInAt, given); err != nil {
			return err
		}
	}
	status, first, err := s.OnAir.Register(ctx, me.Handle, lanes)
	out := openapi.StreamerRegistered{Ok: true, Handle: string(me.Handle), Status: string(status)}
	if first {
		return view.Created(c, out, err)
	}
	return view.OK(c, out, err)
}
