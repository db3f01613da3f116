package edge

import (
	"net/http"

	"github.com/labstack/echo/v4"

	"github.com/signalcast/signalcast/pkg/syntax"
	"github.com/signalcast/signalcast/pkg/web"
	"github.com/signalcast/signalcast/proto/openapi"
	"github.com/signalcast/signalcast/services/api/internal/operator"
	"github.com/signalcast/signalcast/services/api/internal/record"
	"github.com/signalcast/signalcast/services/api/internal/score"
	"github.com/signalcast/signalcast/services/api/internal/signal"
)

// userStatsJSON are the aggregates of contract 4.2.4.
type userStatsJSON struct {
	Handle           string `json:"handle"`
	OperatorPublicID string `json:"operatorPublicId"`
	tallyJSON
	Rank      *int64          `json:"rank"`
	Operators int64           `json:"operators"`
	Lanes     []laneStatsJSON `json:"lanes"`
	UpdatedAt string          `json:"updatedAt"`
}

// laneStatsJSON is the same of one lane.
type laneStatsJSON struct {
	Lane string `json:"lane"`
	tallyJSON
}

// tallyJSON counts calls.
type tallyJSON struct {
	Total     int64 `json:"total"`
	Won       int64 `json:"won"`
	Lost      int64 `json:"lost"`
	Void      int64 `json:"void"`
	Pending   int64 `json:"pending"`
	Resolved  int64 `json:"resolved"`
	Accuracy  int   `json:"accuracy"`
	Score     int64 `json:"score"`
	Streak    int64 `json:"streak"`
	AvgClvBps *int  `json:"avgClvBps"`
}

// subject is whose record is asked for: the holder's own by its key, anybody's by the
// admin secret. Faults: unauthenticated, forbidden, not_found.
func (s *server) subject(c echo.Context) (operator.Operator, error) {
	ctx := c.Request().Context()
	handle, bad := syntax.ParseHandle(c.Param("handle"))
	if h := c.Request().Header; len(h[adminHeader]) > 0 && len(h["Authorization"]) == 0 { // a key speaks first
		if err := s.admin(c); err != nil {
			return operator.Operator{}, err
		}
		if bad != nil {
			return operator.Operator{}, operator.ErrNotFound
		}
		return s.Records.Operator(ctx, handle.String(), "")
	}
	me, err := s.holder(c, "read")
	switch {
	case err != nil:
		return operator.Operator{}, err
	case bad != nil || handle.String() != me.handle:
		return operator.Operator{}, errForbidden
	}
	return s.Records.Operator(ctx, "", me.id)
}

// userSignals is GET /api/v1/users/{handle}/signals.
func (s *server) userSignals(c echo.Context) error {
	o, err := s.subject(c)
	if err != nil {
		return err
	}
	q := readCalls(c.Request().URL.RawQuery).CallQuery
	q.Handle, q.MarketID, q.Lane, q.Own = o.Handle, "", "", true
	p, err := s.Calls.ListCalls(c.Request().Context(), q)
	if err != nil {
		return err
	}
	return web.JSON(c, http.StatusOK, showCalls(p))
}

// userStats is GET /api/v1/users/{handle}/stats.
func (s *server) userStats(c echo.Context) error {
	o, err := s.subject(c)
	if err != nil {
		return err
	}
	ctx := c.Request().Context()
	r, err := s.Records.Record(ctx, "", o.ID, 0, 0)
	if err != nil {
		return err
	}
	lanes, err := s.Calls.ListLaneStats(ctx, o.ID)
	if err != nil {
		return err
	}
	return web.JSON(c, http.StatusOK, s.showStats(&r, lanes))
}

func (s *server) showStats(r *record.Record, lanes []signal.LaneStats) userStatsJSON {
	out := userStatsJSON{
		Handle: r.Operator.Handle, OperatorPublicID: r.Operator.PublicID, tallyJSON: showTally(r.Stats), Rank: r.Rank,
		Operators: r.Field,
		Lanes:     make([]laneStatsJSON, 0, len(lanes)), UpdatedAt: syntax.Stamp(s.Now()),
	}
	for _, l := range lanes {
		out.Lanes = append(out.Lanes, laneStatsJSON{string(l.Lane), showTally(record.Stats{
			Total: l.Total, Won: l.Won, Lost: l.Lost, Void: l.Void, Score: l.Score, Streak: l.Streak, AvgCLV: l.AvgCLV,
		})})
	}
	return out
}

func showTally(t record.Stats) tallyJSON {
	return tallyJSON{
		Total: t.Total, Won: t.Won, Lost: t.Lost, Void: t.Void, Pending: t.Total - t.Won - t.Lost - t.Void, Resolved: t.Won + t.Lost,
		Accuracy: score.Accuracy(t.Won, t.Lost), Score: t.Score, Streak: t.Streak, AvgClvBps: t.AvgCLV,
	}
}

// userMe is GET /api/v1/users/me.
func (s *server) userMe(c echo.Context) error {
	me, err := s.holder(c, "read")
	if err != nil {
		return err
	}
	o, err := s.Records.Operator(c.Request().Context(), "", me.id)
	if err != nil {
		return err
	}
	return web.JSON(c, http.StatusOK, openapi.UserMe{
		Handle: o.Handle, OperatorPublicID: o.PublicID, DisplayName: orNull(o.DisplayName), OperatorType: string(o.Type),
		IsAi: o.Type == syntax.AIAgent, Tier: string(o.Tier), Permissions: me.permissions,
	})
}
