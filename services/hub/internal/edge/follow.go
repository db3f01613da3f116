package edge

import (
	"context"

	"github.com/labstack/echo/v4"

	"github.com/signalcast/signalcast/pkg/syntax"
	"github.com/signalcast/signalcast/pkg/web"
	"github.com/signalcast/signalcast/proto/openapi"
	"github.com/signalcast/signalcast/services/hub/internal/caller"
	"github.com/signalcast/signalcast/services/hub/internal/follow"
	"github.com/signalcast/signalcast/services/hub/internal/operator"
)

type followedJSON struct {
	OK bool `json:"ok"`
	openapi.FollowCounts
}

// followCounts is GET /api/user/follow. Following is the caller's own number.
func (s *server) followCounts(c echo.Context) error {
	handle, err := readHandle(c)
	if err != nil {
		return err
	}
	var viewer operator.ID
	who := callerOf(c)
	c.Response().Header().Set("Vary", "Cookie") // no cache hands one's answer to the other
	if who.Kind == caller.Session {
		viewer = who.Operator.ID
		c.Response().Header().Set("Cache-Control", cachePrivate)
	}
	if who.Doubt != nil { // whose own numbers are missing, nobody can tell
		s.markDegraded(c, web.Source(who.Doubt))
	}
	counts, err := s.Accounts.Follows.Counts(c.Request().Context(), viewer, handle)
	if err != nil {
		return err
	}
	if who.Kind == caller.Session {
		return web.OK(c, openapi.FollowCounts(counts))
	}
	return tagged(c, openapi.FollowCounts(counts))
}

// follow is POST /api/user/follow.
func (s *server) follow(c echo.Context) error {
	o, err := web.Decode(c, web.BodyLimit)
	if err != nil {
		return err
	}
	return s.changeFollow(c, o, s.Accounts.Follows.Follow)
}

// unfollow is DELETE /api/user/follow, with a body or with ?handle=: a body does
// not always get past what stands between. With both the body counts.
func (s *server) unfollow(c echo.Context) error {
	o, given, err := web.DecodeOptional(c, web.BodyLimit)
	if err != nil {
		return err
	}
	if given {
		return s.changeFollow(c, o, s.Accounts.Follows.Unfollow)
	}
	handle, err := handleQuery(c)
	if err != nil {
		return err
	}
	return s.showFollow(c, handle, s.Accounts.Follows.Unfollow)
}

type changeFollow func(context.Context, operator.Operator, syntax.Handle) (follow.Counts, error)

func (s *server) changeFollow(c echo.Context, o web.Object, do changeFollow) error {
	raw := o.String("handle", web.BodyLimit, true)
	if err := o.Err(); err != nil {
		return err
	}
	handle, err := syntax.ParseHandle(raw)
	if err != nil {
		return errInvalidHandle
	}
	return s.showFollow(c, handle, do)
}

func (s *server) showFollow(c echo.Context, handle syntax.Handle, do changeFollow) error {
	counts, err := do(c.Request().Context(), *callerOf(c).Operator, handle)
	if err != nil {
		return err
	}
	return web.OK(c, followedJSON{OK: true, FollowCounts: openapi.FollowCounts(counts)})
}
