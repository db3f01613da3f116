package edge

import (
	"encoding/json"
	"strconv"

	"github.com/labstack/echo/v4"

	"github.com/signalcast/signalcast/pkg/page"
	"github.com/signalcast/signalcast/pkg/syntax"
	"github.com/signalcast/signalcast/proto/openapi"
	"github.com/signalcast/signalcast/services/hub/internal/program"
)

type programJSON struct {
	Enabled     bool                   `json:"enabled"`
	GeneratedAt string                 `json:"generatedAt"`
	Total       int32                  `json:"total"`
	Lanes       *[]openapi.ProgramLane `json:"lanes,omitempty"` // left out with lanes=0
	Segments    []openapi.Segment      `json:"segments"`
	Spec        json.RawMessage        `json:"spec"`
}

var (
	broadcastParams = params("preset", "limit", "lanes")
	networkParams   = params("preset", "spec", "providers", "categories", "maxResolveHours", "minVolume", "maxVolume",
		"minYes", "maxYes", "topPerCategory", "limit", "lanes")
)

func readBroadcast(rawQuery string) program.Query { return readProgram(rawQuery, broadcastParams) }

func readNetwork(rawQuery string) program.Query { return readProgram(rawQuery, networkParams) }

func readProgram(rawQuery string, known []page.Param) program.Query {
	values := page.Query(rawQuery, known)
	return program.ParseQuery(func(name string) string {
		for i := range known {
			if known[i].Name == name {
				return values[i]
			}
		}
		return ""
	})
}

func programKey(q program.Query) string {
	return joinKey(q.Preset, q.Spec, q.Providers, keyOf(q.Limit), strconv.FormatBool(q.Lanes))
}

// broadcastProgram is GET /api/broadcast/program.
func (s *server) broadcastProgram(c echo.Context) error {
	return s.program(c, readBroadcast(c.Request().URL.RawQuery))
}

// networkProgram is GET /api/network/program.
func (s *server) networkProgram(c echo.Context) error {
	return s.program(c, readNetwork(c.Request().URL.RawQuery))
}

func showProgram(p program.Program, withLanes bool) programJSON {
	out := programJSON{
		Enabled: true, GeneratedAt: syntax.Stamp(p.GeneratedAt), Total: p.Total,
		Segments: make([]openapi.Segment, 0, len(p.Segments)), Spec: json.RawMessage("{}"),
	}
	if json.Valid(p.Spec) {
		out.Spec = p.Spec
	}
	for _, seg := range p.Segments {
		out.Segments = append(out.Segments, showSegment(seg))
	}
	if !withLanes {
		return out
	}
	lanes := make([]openapi.ProgramLane, 0, len(p.Lanes))
	for _, l := range p.Lanes {
		lane := openapi.ProgramLane{Key: l.Key, Label: l.Label, Segs: make([]openapi.Segment, 0, len(l.Segments))}
		for _, i := range l.Segments {
			lane.Segs = append(lane.Segs, out.Segments[i])
		}
		lanes = append(lanes, lane)
	}
	out.Lanes = &lanes
	return out
}

func showSegment(s program.Segment) openapi.Segment {
	return openapi.Segment{
		SegmentID: s.ID, Kind: s.Kind, ID: s.MarketID, Category: s.Category, Title: s.Title,
		StartsAt: syntax.Stamp(s.StartsAt), EndDate: syntax.Stamp(s.EndsAt),
		MarketEndDate: syntax.StampOrNull(s.MarketEndDate), EndsInMs: s.EndsInMs,
		YesPrice: s.YesPrice, NoPrice: s.NoPrice, Volume: s.Volume, Bucket: s.Bucket, Status: s.Status,
		Signals: s.Signals, Tapes: s.Tapes, Takes: &s.Takes, Streams: new(int64(s.Streams)),
		EventKey: orNull(s.EventKey), Provider: s.Provider, Route: s.Route,
	}
}
