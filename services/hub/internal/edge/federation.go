package edge

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/labstack/echo/v4"

	"github.com/signalcast/signalcast/pkg/page"
	"github.com/signalcast/signalcast/pkg/syntax"
	"github.com/signalcast/signalcast/pkg/web"
	"github.com/signalcast/signalcast/proto/openapi"
	"github.com/signalcast/signalcast/services/hub/internal/network"
	"github.com/signalcast/signalcast/services/hub/internal/operator"
)

// reelQuery is the normal form of a question for what all stations show.
type reelQuery struct {
	want  network.Wanted
	limit int
}

var reelParams = params("limit", "exclude", "origin")

func readReel(rawQuery string, def, most int) reelQuery {
	v := page.Query(rawQuery, reelParams)
	return reelQuery{network.Wanted{Without: network.ParseOrigins(v[1]), Only: network.ParseOrigins(v[2])}, syntax.Limit(v[0], def, most)}
}

func (q reelQuery) key(kind string) string {
	list := func(o network.Origins) string { return strings.Join(slices.Sorted(maps.Keys(o)), ",") }
	return joinKey(kind, keyOf(q.limit), list(q.want.Without), list(q.want.Only))
}

// networkTapes is GET /api/network/tapes.
func (s *server) networkTapes(c echo.Context) error {
	q := readReel(c.Request().URL.RawQuery, network.DefaultTapes, network.MaxTapes)
	return s.reels.Serve(c.Response(), c.Request(), q.key("tapes"), func(ctx context.Context) ([]byte, error) {
		list, err := s.Network.Tapes(ctx, q.want, q.limit)
		if err != nil {
			return nil, err
		}
		out := openapi.Tapes{Tapes: make([]openapi.Tape, 0, len(list)), FetchedAt: syntax.Stamp(s.Now())}
		for i := range list {
			out.Tapes = append(out.Tapes, showTape(&list[i]))
		}
		return web.Marshal(out)
	})
}

func (s *server) emptyTapes(echo.Context) any {
	return openapi.Tapes{Tapes: []openapi.Tape{}, FetchedAt: syntax.Stamp(s.Now())}
}

// networkOperators is GET /api/network/operators.
func (s *server) networkOperators(c echo.Context) error {
	q := readReel(c.Request().URL.RawQuery, network.MaxOperators, network.MaxOperators)
	err := s.reels.Serve(c.Response(), c.Request(), q.key("operators"), func(ctx context.Context) ([]byte, error) {
		list, err := s.Network.Operators(ctx, q.want, q.limit)
		if err != nil {
			return nil, err
		}
		away := s.countFollowers(ctx, list)
		out := openapi.NetworkOperators{Operators: make([]openapi.NetworkOperator, 0, len(list)), FetchedAt: syntax.Stamp(s.Now())}
		for i := range list {
			out.Operators = append(out.Operators, showNetworkOperator(&list[i]))
		}
		body, err := web.Marshal(out)
		if err != nil || away == nil {
			return body, err
		}
		return nil, &passing{page: page.Make(body), source: "follows"}
	})
	var part *passing
	if !errors.As(err, &part) {
		return err
	}
	s.markDegraded(c, part.source)
	part.page.WriteTo(c.Response(), c.Request())
	return nil
}

// countFollowers adds the followers of our own operators.
func (s *server) countFollowers(ctx context.Context, list []network.Operator) error {
	var ids []operator.ID
	for i := range list {
		if list[i].ID != "" {
			ids = append(ids, list[i].ID)
		}
	}
	if len(ids) == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, followTime)
	defer cancel()
	counts, err := s.Accounts.Follows.Followers(ctx, ids)
	for i := range list {
		if n, there := counts[list[i].ID]; there && list[i].ID != "" {
			list[i].Followers = n
		}
	}
	return err
}

func (s *server) emptyNetwork(echo.Context) any {
	return openapi.NetworkOperators{Operators: []openapi.NetworkOperator{}, FetchedAt: syntax.Stamp(s.Now())}
}

// viewTape is POST /api/network/tapes/{id}/view: a player has started. An address counts
// once an hour for a tape.
func (s *server) viewTape(c echo.Context) error {
	ctx, id := c.Request().Context(), c.Param("id")
	t, err := s.Network.Find(ctx, id)
	if err != nil {
		return err
	}
	sum := sha256.Sum256([]byte(t.Origin + "\n" + id + "\n" + addressKey(c.RealIP()))) // Redis learns no address
	if !s.Viewers.Allow(ctx, hex.EncodeToString(sum[:16])).Allowed {
		return web.OK(c, openapi.ViewTapeAnswer{Ok: true})
	}
	if err := s.Network.View(ctx, t); err != nil {
		return err
	}
	return web.OK(c, openapi.ViewTapeAnswer{Ok: true, Counted: true})
}

func showTape(t *network.Tape) openapi.Tape {
	return openapi.Tape{
		ID: t.ID, Origin: t.Origin, OriginURL: t.OriginURL, Handle: t.Handle, URL: t.URL, MarketID: t.MarketID, Href: t.Href,
		DurationS: t.DurationS, Views: t.Views, Stance: t.Stance, CreatedAt: syntax.Stamp(t.CreatedAt), Boosted: t.Boosted,
		Approved: t.Approved,
	}
}

func showNetworkOperator(o *network.Operator) openapi.NetworkOperator {
	return openapi.NetworkOperator{
		Origin: o.Origin, OriginURL: o.OriginURL, Handle: o.Handle, DisplayName: o.DisplayName, AvatarURL: o.AvatarURL,
		Score:    o.Score,
		Accuracy: o.Accuracy, Total: o.Total, Won: o.Won, Lost: o.Lost, Pending: o.Pending, Followers: o.Followers, Href: o.Href,
		Tier: o.Tier, OperatorType: o.OperatorType, Resolved: o.Resolved, Streak: o.Streak, AvgClvBps: o.AvgClv, AlsoOn: o.AlsoOn,
	}
}
