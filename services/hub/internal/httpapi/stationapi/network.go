package stationapi

import (
	"context"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/signalcast/signalcast/pkg/httpcache"
	"github.com/signalcast/signalcast/pkg/httpx"
	"github.com/signalcast/signalcast/pkg/ledgerclient"
	"github.com/signalcast/signalcast/pkg/protocol"
	"github.com/signalcast/signalcast/pkg/ratelimit"
	"github.com/signalcast/signalcast/proto/openapi"
	"github.com/signalcast/signalcast/services/hub/internal/federation"
	"github.com/signalcast/signalcast/services/hub/internal/follow"
	"github.com/signalcast/signalcast/services/hub/internal/httpapi/request"
	"github.com/signalcast/signalcast/services/hub/internal/httpapi/view"
	"github.com/signalcast/signalcast/services/hub/internal/identityclaim"
	"github.com/signalcast/signalcast/services/hub/internal/operator"
)

// Cache times and maximum number of cached lists. The times are short compared with the minute between two reads of a partner
// station.
const (
	listTTL   = 2 * time.Second
	listStale = 8 * time.Second
	listKeys  = 64
)

// Server has the handlers of the federation of stations.
type Server struct {
	HubURL  string
	Ledger  *ledgerclient.Client
	Network *federation.Service
	Follows *follow.Service
	Claims  *identityclaim.Service
	Payouts identityclaim.Payouts
	Viewers request.KeyLimiter // limits counted views by IP address and tape
	Now     func() time.Time

	listPages view.FallbackCache // its fallback copies are not used
}

// New sets up the cache of s and returns s.
func New(s *Server, b *view.Caches) *Server {
	s.listPages.Pages = b.OpenShared("network", view.Every(listTTL, listStale, listKeys))
	return s
}

// listQuery is a normalized query for a list with the entries of several stations.
type listQuery struct {
	kind  string
	want  federation.Wanted
	limit int
}

var listParams = httpcache.Params("limit", "exclude", "origin")

// listParser returns the query parser of a list of the given kind. def and most are the default and maximum length of the list.
func listParser(kind string, def, most int) func(rawQuery string) listQuery {
	return func(rawQuery string) listQuery {
		v := httpcache.Query(rawQuery, listParams)
		want := federation.Wanted{Without: federation.ParseOrigins(v[1]), Only: federation.ParseOrigins(v[2])}
		return listQuery{kind, want, protocol.Limit(v[0], def, most)}
	}
}

// Key implements view.Query.
func (q listQuery) Key() string {
	list := func(o federation.Origins) string { return strings.Join(slices.Sorted(maps.Keys(o)), ",") }
	return httpcache.JoinKey(q.kind, strconv.Itoa(q.limit), list(q.want.Without), list(q.want.Only))
}

// NetworkTapes handles GET /api/network/tapes, the tapes (clips) of all stations.
func (s *Server) NetworkTapes() view.Read[listQuery] {
	show := func(list []federation.Tape) any {
		return openapi.Tapes{Tapes: view.List(list, showTape), FetchedAt: protocol.Stamp(s.Now())}
	}
	return view.Read[listQuery]{
		Pages: s.listPages, Parse: listParser("tapes", federation.DefaultTapes, federation.MaxTapes),
		Build: func(ctx context.Context, q listQuery) (view.Answer, error) {
			list, err := s.Network.Tapes(ctx, q.want, q.limit)
			return view.Answer{Value: show(list)}, err
		},
		Empty: func(listQuery) any { return show(nil) },
	}
}

// NetworkOperators handles GET /api/network/operators, the operators of all stations.
func (s *Server) NetworkOperators() view.Read[listQuery] {
	show := func(list []federation.Operator) any {
		return openapi.NetworkOperators{Operators: view.List(list, showNetworkOperator), FetchedAt: protocol.Stamp(s.Now())}
	}
	return view.Read[listQuery]{
		Pages: s.listPages, Parse: listParser("operators", federation.MaxOperators, federation.MaxOperators),
		Build: func(ctx context.Context, q listQuery) (view.Answer, error) {
			list, err := s.Network.Operators(ctx, q.want, q.limit)
			if err != nil {
				return view.Answer{}, err
			}
			failed := s.countFollowers(ctx, list)
			return view.Answer{Value: show(list), Missing: view.WithoutFollows(failed)}, nil
		},
		Empty: func(listQuery) any { return show(nil) },
	}
}

// countFollowers sets the follower counts in list, for the operators of this hub only. If some counts cannot be read, it leaves
// them unchanged and returns the error.
func (s *Server) countFollowers(ctx context.Context, list []federation.Operator) error {
	var ids []operator.ID
	for i := range list {
		if list[i].ID != "" {
			ids = append(ids, list[i].ID)
		}
	}
	if len(ids) == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, request.FollowTimeout)
	defer cancel()
	counts, err := s.Follows.Followers(ctx, ids)
	for i := range list {
		if n, ok := counts[list[i].ID]; ok && list[i].ID != "" {
			list[i].Followers = n
		}
	}
	return err
}

// ViewTape handles POST /api/network/tapes/{id}/view, which counts a view of a tape (clip). A player sends this request when
// playback starts. For each tape, the number of counted views of one IP address is limited.
func (s *Server) ViewTape(c echo.Context) error {
	ctx, id := c.Request().Context(), c.Param("id")
	t, err := s.Network.Find(ctx, id)
	if err != nil {
		return err
	}
	viewer := ratelimit.HashedKey(t.Origin + "\n" + id + "\n" + ratelimit.AddressKey(c.RealIP()))
	if !s.Viewers.Allow(ctx, viewer).Allowed {
		return httpx.OK(c, openapi.ViewTapeAnswer{Ok: true})
	}
	if err := s.Network.View(ctx, t); err != nil {
		return err
	}
	return httpx.OK(c, openapi.ViewTapeAnswer{Ok: true, Counted: true})
}

func showTape(t federation.Tape) openapi.Tape {
	return openapi.Tape{
		ID: t.ID, Origin: t.Origin, OriginURL: t.OriginURL, Handle: t.Handle, URL: t.URL, MarketID: httpx.OrNull(t.MarketID), Href: t.Href,
		DurationS: t.DurationS, Views: t.Views, Stance: t.Stance, CreatedAt: protocol.Stamp(t.CreatedAt), Boosted: t.Boosted,
		Approved: t.Approved,
	}
}

func showNetworkOperator(o federation.Operator) openapi.NetworkOperator {
	return openapi.NetworkOperator{
		Origin: o.Origin, OriginURL: o.OriginURL, Handle: o.Handle, DisplayName: o.DisplayName, AvatarURL: o.AvatarURL,
		Score:    o.Score,
		Accuracy: o.Accuracy, Total: o.Total, Won: o.Won, Lost: o.Lost, Pending: o.Pending, Followers: o.Followers, Href: o.Href,
		Tier: o.Tier, OperatorType: o.OperatorType, Resolved: o.Resolved, Streak: o.Streak, AvgClvBps: o.AvgClv, AlsoOn: o.AlsoOn,
	}
}

// NetworkIdentity handles GET /api/network/identity/{handle}, the identity claims of an operator.
func (s *Server) NetworkIdentity(c echo.Context, handle protocol.Handle) error {
	ctx := c.Request().Context()
	account, err := s.Payouts.Accounts.ByHandle(ctx, handle)
	if err != nil {
		return err
	}
	claims, err := s.Claims.Claims(ctx, account.ID)
	return view.Tagged(c, openapi.NetworkIdentity{
		Handle: string(account.Handle), Origin: view.HubOrigin, Identities: view.List(claims, view.ShowIdentity),
	}, err)
}

// NetworkPayout handles GET /api/network/payout/{handle}, the payout address of an operator. If the text cannot be a handle, or
// if there is no payout address, the response has no address.
func (s *Server) NetworkPayout(c echo.Context) error {
	handle, err := request.HandleParam(c)
	if err != nil {
		return httpx.Tagged(c, openapi.Payout{})
	}
	p := s.Payouts
	address, err := p.Address(c.Request().Context(), handle)
	if err != nil {
		return err
	}
	if address == "" {
		return httpx.Tagged(c, openapi.Payout{})
	}
	return httpx.Tagged(c, openapi.Payout{
		Eligible: true, PayoutAddress: httpx.OrNull(address), ChainID: httpx.OrNull(p.Money.ChainID),
		ChainLabel:  httpx.OrNull(p.Money.Label),
		UsdcAddress: httpx.OrNull(p.Money.USDC), TipURL: httpx.OrNull(s.HubURL + "/tip/" + string(handle)),
	})
}
