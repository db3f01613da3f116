package edge

import (
	"encoding/json"
	"strconv"

	"github.com/labstack/echo/v4"

	"github.com/signalcast/signalcast/pkg/ledgerclient"
	"github.com/signalcast/signalcast/pkg/page"
	"github.com/signalcast/signalcast/pkg/syntax"
	"github.com/signalcast/signalcast/proto/openapi"
	programv1 "github.com/signalcast/signalcast/proto/program/v1"
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

func showProgram(p *programv1.Program, withLanes bool) programJSON {
	out := programJSON{
		Enabled: true, GeneratedAt: syntax.Stamp(ledgerclient.Time(p.GetGeneratedAt())), Total: p.GetTotal(),
		Segments: showSegments(p.GetSegments()), Spec: json.RawMessage("{}"),
	}
	if spec := []byte(p.GetSpec()); json.Valid(spec) {
		out.Spec = spec
	}
	if !withLanes {
		return out
	}
	lanes := make([]openapi.ProgramLane, 0, len(p.GetLanes()))
	for _, l := range p.GetLanes() {
		lane := openapi.ProgramLane{Key: l.GetKey(), Label: l.GetLabel(), Segs: showSegments(program.Segments(p, l))}
		lanes = append(lanes, lane)
	}
	out.Lanes = &lanes
	return out
}

func showSegments(list []*programv1.Segment) []openapi.Segment {
	out := make([]openapi.Segment, 0, len(list))
	for _, s := range list {
		out = append(out, openapi.Segment{
			SegmentID: s.GetSegmentId(), Kind: s.GetKind(), ID: s.GetMarketId(), Category: s.GetCategory(), Title: s.GetTitle(),
			StartsAt: syntax.Stamp(ledgerclient.Time(s.GetStartsAt())), EndDate: syntax.Stamp(ledgerclient.Time(s.GetEndsAt())),
			MarketEndDate: syntax.StampOrNull(ledgerclient.Time(s.GetMarketEndDate())), EndsInMs: s.EndsInMs,
			YesPrice: s.YesPrice, NoPrice: s.NoPrice, Volume: s.Volume, Bucket: s.GetBucket(), Status: s.GetStatus(),
			Signals: s.GetSignals(), Tapes: s.GetTapes(), Takes: new(s.GetTakes()), Streams: new(int64(s.GetStreams())),
			EventKey: orNull(s.GetEventKey()), Provider: s.GetProvider(), Route: s.GetRoute(),
		})
	}
	return out
}
