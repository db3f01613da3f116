package httpapi

import (
	"errors"
	"net/http"

	"github.com/labstack/echo/v4"

	"github.com/signalcast/signalcast/pkg/httpx"
	"github.com/signalcast/signalcast/pkg/protocol"
	"github.com/signalcast/signalcast/proto/openapi"
	"github.com/signalcast/signalcast/services/api/internal/operator"
	"github.com/signalcast/signalcast/services/api/internal/record"
	"github.com/signalcast/signalcast/services/api/internal/resolution"
	"github.com/signalcast/signalcast/services/api/internal/signal"
)

// subject returns the operator whose record a request reads. With a key, a caller can read only the record of its own operator;
// with the admin secret, every record. Errors: unauthenticated, insufficient_scope, forbidden, rate_limited, not_found,
// db_unavailable.
func (s *Server) subject(c echo.Context) (operator.Operator, error) {
	ctx := c.Request().Context()
	handle, bad := protocol.ParseHandle(c.Param("handle"))
	if h := c.Request().Header; len(h[adminHeader]) > 0 && len(h["Authorization"]) == 0 { // a key takes precedence over the admin secret
		if err := s.admin(c); err != nil {
			return operator.Operator{}, err
		}
		if bad != nil {
			return operator.Operator{}, operator.ErrNotFound
		}
		return s.Operators.Operator(ctx, handle.String(), "")
	}
	me, err := s.holder(c, "read")
	switch {
	case err != nil:
		return operator.Operator{}, err
	case bad != nil:
		return operator.Operator{}, errForbidden
	}
	o, err := s.Operators.Operator(ctx, handle.String(), "") // also by a former handle
	if errors.Is(err, operator.ErrNotFound) || err == nil && o.ID != me.id {
		err = errForbidden
	}
	return o, err
}

// userSignals handles GET /api/v1/users/{handle}/signals: a page of the operator's calls, including those that are not public
// yet.
func (s *Server) userSignals(c echo.Context) error {
	o, err := s.subject(c)
	if err != nil {
		return err
	}
	q := readCalls(c.Request().URL.RawQuery).CallQuery
	q.Handle, q.MarketID, q.Lane, q.Own = o.Handle, "", "", true
	p, err := s.Signals.ListCalls(c.Request().Context(), q)
	if err != nil {
		return err
	}
	return httpx.JSON(c, http.StatusOK, showCalls(p))
}

// userStats handles GET /api/v1/users/{handle}/stats: the statistics of an operator, in total and by lane.
func (s *Server) userStats(c echo.Context) error {
	o, err := s.subject(c)
	if err != nil {
		return err
	}
	ctx := c.Request().Context()
	r, err := s.Records.Record(ctx, "", o.ID, 0, 0)
	if err != nil {
		return err
	}
	lanes, err := s.Signals.ListLaneStats(ctx, o.ID)
	if err != nil {
		return err
	}
	return httpx.JSON(c, http.StatusOK, s.showStats(&r, lanes))
}

func (s *Server) showStats(r *record.Record, lanes []signal.LaneStats) openapi.UserStats {
	all := showTally("", r.Stats)
	out := openapi.UserStats{
		Handle: r.Operator.Handle, OperatorPublicID: r.Operator.PublicID, Total: all.Total, Won: all.Won, Lost: all.Lost,
		Void: all.Void, Pending: all.Pending, Resolved: all.Resolved, Accuracy: all.Accuracy, Score: all.Score, Streak: all.Streak,
		AvgClvBps: all.AvgClvBps, Rank: r.Rank, Operators: r.Field, Lanes: make([]openapi.UserStats_Lanes, len(lanes)),
		UpdatedAt: protocol.Stamp(s.Now()),
	}
	for i, l := range lanes {
		out.Lanes[i] = showTally(l.Lane, record.Stats{
			Total: l.Total, Won: l.Won, Lost: l.Lost, Void: l.Void, Score: l.Score, Streak: l.Streak, AvgCLV: l.AvgCLV,
		})
	}
	return out
}

func showTally(lane protocol.Lane, t record.Stats) openapi.UserStats_Lanes {
	return openapi.UserStats_Lanes{
		Lane: string(lane), Total: t.Total, Won: t.Won, Lost: t.Lost, Void: t.Void, Pending: t.Total - t.Won - t.Lost - t.Void,
		Resolved: t.Won + t.Lost, Accuracy: int64(resolution.Accuracy(t.Won, t.Lost)), Score: t.Score, Streak: t.Streak,
		AvgClvBps: openapi.Int(t.AvgCLV),
	}
}

// userMe handles GET /api/v1/users/me: the operator of the key, with the permissions of the key.
func (s *Server) userMe(c echo.Context, me holder) error {
	o, err := s.Operators.Operator(c.Request().Context(), "", me.id)
	if err != nil {
		return err
	}
	return httpx.JSON(c, http.StatusOK, openapi.UserMe{
		Handle: o.Handle, OperatorPublicID: o.PublicID, DisplayName: httpx.OrNull(o.DisplayName), OperatorType: string(o.Type),
		IsAi: o.Type == protocol.AIAgent, Tier: string(o.Tier), Permissions: me.permissions,
	})
}
