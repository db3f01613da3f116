package httpapi

import (
	"encoding/json"
	"net/http"

	"github.com/labstack/echo/v4"

	"github.com/signalcast/signalcast/pkg/httpx"
	"github.com/signalcast/signalcast/pkg/protocol"
	"github.com/signalcast/signalcast/proto/openapi"
	"github.com/signalcast/signalcast/services/api/internal/feed"
	"github.com/signalcast/signalcast/services/api/internal/station"
)

// Default and maximum number of stations in one page, and the maximum length of a reason in characters.
const (
	stationsDefault = 20
	stationsMax     = 100
	maxReason       = 280
)

func emptyStations() any { return openapi.StationList{Stations: []openapi.Station{}} }

// listStations handles GET /api/v1/stations: a page of active stations, ordered by id.
func (s *Server) listStations(c echo.Context) error {
	q := station.Query{Lane: protocol.LaneFilter(c.QueryParam("lane")), Limit: protocol.Limit(c.QueryParam("limit"), stationsDefault, stationsMax)}
	q.Provider, _ = protocol.ParseProvider(c.QueryParam("provider"))
	if at, ok := protocol.DecodeCursor(c.QueryParam("cursor"), 0); ok && station.IsID(at.ID) {
		q.After = at.ID
	}
	limit := q.Limit
	q.Limit++
	list, err := s.Stations.List(c.Request().Context(), q)
	if err != nil {
		return err
	}
	out := openapi.StationList{Stations: []openapi.Station{}}
	if len(list) > limit {
		list = list[:limit]
		out.NextCursor = protocol.NewCursor(list[limit-1].ID).EncodeOrNull()
	}
	for i := range list {
		out.Stations = append(out.Stations, showStation(&list[i]))
	}
	return httpx.OK(c, out)
}

// oneStation handles GET /api/v1/stations/{stationId}: one station with any status.
func (s *Server) oneStation(c echo.Context) error {
	st, err := s.Stations.Get(c.Request().Context(), c.Param("stationId"))
	return answer(c, http.StatusOK, st, err, showStation)
}

// stationProgram handles GET /api/v1/stations/{stationId}/program: the programme that the clock last published for the lanes
// and providers of the station. The programme is empty for a station that is not active.
func (s *Server) stationProgram(c echo.Context) error {
	ctx := c.Request().Context()
	st, err := s.Stations.Get(ctx, c.Param("stationId"))
	if err != nil {
		return err
	}
	var last feed.Copy
	if st.Status == station.Active {
		if last, _, err = s.Feed.FindCopy(ctx, feed.StationChannel(st.ID)); err != nil {
			return err
		}
	}
	if last.Data == nil {
		return httpx.OK(c, openapi.ClockProgram{GeneratedAt: protocol.Stamp(s.Now()), Lanes: []openapi.ProgramLane{}, Segments: []openapi.Segment{}})
	}
	return httpx.OK(c, json.RawMessage(last.Data))
}

// createStation handles POST /api/v1/stations: it registers a station, which an administrator must approve.
func (s *Server) createStation(c echo.Context, me holder) error {
	body, err := httpx.Decode(c, httpx.BodyLimit)
	if err != nil {
		return err
	}
	id := body.String("stationId", httpx.BodyLimit, true)
	name, url := body.String("name", httpx.BodyLimit, true), body.String("url", httpx.BodyLimit, true)
	d := readStation(body)
	d.ID, d.Name, d.URL = id, &name, &url
	if err := body.Err(); err != nil {
		return err
	}
	if err := s.Stations.Create(c.Request().Context(), me.id, "", d); err != nil {
		return err
	}
	return s.stationDone(c, http.StatusCreated, d.ID)
}

// changeStation handles PUT /api/v1/stations/{stationId}: the owner changes a station.
func (s *Server) changeStation(c echo.Context, me holder) error {
	body, err := httpx.Decode(c, httpx.BodyLimit)
	if err != nil {
		return err
	}
	d := readStation(body)
	d.ID = c.Param("stationId")
	if raw := body.OptEnum("status", string(station.Active), string(station.Paused)); raw != "" {
		status := station.Status(raw)
		d.Status = &status
	}
	if err := body.Err(); err != nil {
		return err
	}
	if err := s.Stations.Change(c.Request().Context(), me.id, "", d); err != nil {
		return err
	}
	return s.stationDone(c, http.StatusOK, d.ID)
}

// readStation reads the members that the routes for creating and for changing a station have in common. Absent members are nil.
func readStation(body httpx.Object) station.Draft {
	d := station.Draft{
		Name: body.OptString("name", httpx.BodyLimit), URL: body.OptString("url", httpx.BodyLimit),
		Description: body.OptString("description", httpx.BodyLimit),
		TapesURL:    body.OptString("tapesUrl", httpx.BodyLimit), OperatorsURL: body.OptString("operatorsUrl", httpx.BodyLimit),
	}
	for _, l := range body.Strings("lanes", len(protocol.Lanes), httpx.BodyLimit) {
		d.Lanes = append(d.Lanes, protocol.Lane(l))
	}
	for _, p := range body.Strings("providers", len(protocol.Providers), httpx.BodyLimit) {
		d.Providers = append(d.Providers, protocol.Provider(p))
	}
	if body.Has("lanes") && d.Lanes == nil {
		d.Lanes = []protocol.Lane{}
	}
	if body.Has("providers") && d.Providers == nil {
		d.Providers = []protocol.Provider{}
	}
	return d
}

func (s *Server) stationDone(c echo.Context, status int, id string) error {
	show := func(st *station.Station) openapi.StationDone {
		return openapi.StationDone{Ok: true, Station: showStation(st)}
	}
	st, err := s.Stations.Get(c.Request().Context(), id)
	return answer(c, status, st, err, show)
}

// beatStation handles POST /api/v1/stations/{stationId}/heartbeat: it stores the time of the heartbeat.
func (s *Server) beatStation(c echo.Context, me holder) error {
	if err := s.Stations.Beat(c.Request().Context(), me.id, c.Param("stationId")); err != nil {
		return err
	}
	return httpx.OK(c, openapi.BeatStationAnswer{Ok: true, IntervalS: int64(int(station.HeartbeatEvery.Seconds()))})
}

// dropStation handles DELETE /api/v1/stations/{stationId}: the owner or an administrator deletes a station.
func (s *Server) dropStation(c echo.Context) error {
	owner := ""
	if h := c.Request().Header; len(h[adminHeader]) > 0 && len(h["Authorization"]) == 0 { // a key takes precedence over the admin secret
		if err := s.admin(c); err != nil {
			return err
		}
	} else {
		me, err := s.holder(c, broadcast)
		if err != nil {
			return err
		}
		owner = me.id
	}
	if err := s.Stations.Drop(c.Request().Context(), owner, c.Param("stationId")); err != nil {
		return err
	}
	return httpx.OK(c, openapi.Ok{Ok: true})
}

// ruleStation handles POST /api/v1/stations/{stationId}/status: an administrator sets the status of a station.
func (s *Server) ruleStation(c echo.Context) error {
	if err := s.admin(c); err != nil {
		return err
	}
	body, err := httpx.Decode(c, httpx.BodyLimit)
	if err != nil {
		return err
	}
	to := body.Enum("status", "pending", "active", "paused", "suspended")
	reason := body.String("reason", maxReason, false)
	if err := body.Err(); err != nil {
		return err
	}
	id := c.Param("stationId")
	if err := s.Stations.Rule(c.Request().Context(), id, station.Status(to), reason); err != nil {
		return err
	}
	return s.stationDone(c, http.StatusOK, id)
}

func showStation(st *station.Station) openapi.Station {
	return openapi.Station{
		StationID: st.ID, Name: st.Name, OwnerHandle: st.OwnerHandle, URL: st.URL, Origin: st.ID,
		Description: httpx.OrNull(st.Description),
		Lanes:       openapi.Texts(st.Lanes), Providers: openapi.Texts(st.Providers),
		TapesURL: httpx.OrNull(st.TapesURL), OperatorsURL: httpx.OrNull(st.OperatorsURL), Status: string(st.Status),
		LastSeenAt: protocol.StampOrNull(st.LastSeenAt), CreatedAt: protocol.Stamp(st.CreatedAt), UpdatedAt: protocol.Stamp(st.UpdatedAt),
	}
}
