package httpapi

import (
	"bytes"
	"encoding/json"
	"strconv"

	"github.com/signalcast/signalcast/pkg/httpx"
	"github.com/signalcast/signalcast/pkg/protocol"
	"github.com/signalcast/signalcast/proto/openapi"
	"github.com/signalcast/signalcast/services/clock/internal/program"
)

// segmentOf converts a segment to its JSON type. EndDate is the end of the segment, and MarketEndDate is the end of its market.
// Prices are percentages from 0 to 100; unknown values are absent.
func segmentOf(s *program.Segment) *openapi.Segment {
	streams := int64(s.Streams)
	out := &openapi.Segment{
		SegmentID: s.ID, Kind: string(s.Kind), ID: string(s.Market), Category: string(s.Lane), Title: s.Title,
		StartsAt: protocol.Stamp(s.StartsAt), EndDate: protocol.Stamp(s.EndsAt), MarketEndDate: protocol.StampOrNull(s.MarketEnd),
		Bucket: string(s.Bucket), Status: string(s.Status),
		Signals: s.Signals, Tapes: s.Tapes, Takes: &s.Takes, Streams: &streams,
		Provider: string(s.Provider), Route: s.Route(),
	}
	if !s.MarketEnd.IsZero() {
		ms := s.EndsIn.Milliseconds()
		out.EndsInMs = &ms
	}
	if s.Yes.Valid() {
		yes, no := s.Yes.Percent(), s.Yes.Of(protocol.No).Percent()
		out.YesPrice, out.NoPrice = &yes, &no
	}
	if s.Volume != program.Unknown {
		out.Volume = &s.Volume
	}
	if s.Sides[0] != "" {
		out.Sides = &openapi.MarketSides{Yes: s.Sides[0], No: s.Sides[1]}
	}
	if s.EventKey != "" {
		out.EventKey = &s.EventKey
	}
	return out
}

// EncodeProgram returns the JSON of a programme. It encodes each segment once and writes the bytes both to the list of all
// segments and to the list of the lane.
func EncodeProgram(p *program.Program) ([]byte, error) {
	var all bytes.Buffer
	enc := json.NewEncoder(&all)
	enc.SetEscapeHTML(false)
	ends := make([]int, len(p.Segments))
	for i := range p.Segments {
		if err := enc.Encode(segmentOf(&p.Segments[i])); err != nil {
			return nil, err
		}
		all.Truncate(all.Len() - 1) // the line feed that Encode appends
		ends[i] = all.Len()
	}
	segment := func(i int) []byte {
		if i == 0 {
			return all.Bytes()[:ends[0]]
		}
		return all.Bytes()[ends[i-1]:ends[i]]
	}
	b := make([]byte, 0, 2*all.Len()+1024)
	b = append(b, `{"generatedAt":"`...)
	b = append(b, protocol.Stamp(p.GeneratedAt)...)
	b = append(b, `","total":`...)
	b = strconv.AppendInt(b, int64(p.Total), 10)
	b = append(b, `,"lanes":[`...)
	for i, l := range p.Lanes {
		b = comma(b, i)
		b = append(b, `{"key":"`...)
		b = append(b, l.Key...)
		b = append(b, `","label":"`...)
		b = append(b, l.Key.Label()...)
		b = append(b, `","segs":[`...)
		for j, at := range l.Segments {
			b = append(comma(b, j), segment(int(at))...)
		}
		b = append(b, `]}`...)
	}
	b = append(b, `],"segments":[`...)
	for i := range p.Segments {
		b = append(comma(b, i), segment(i)...)
	}
	return append(b, `]}`...), nil
}

func comma(b []byte, i int) []byte {
	if i > 0 {
		b = append(b, ',')
	}
	return b
}

// Encoder returns the encoder for segments in feed events. It uses the same JSON as the HTTP routes.
func Encoder() program.Encoder {
	return program.Encoder{Segment: encodeSegment, Preempted: encodePreempted}
}

func encodeSegment(s *program.Segment) []byte { return mustMarshal(segmentOf(s)) }

// preemptedJSON is the data of the feed event segment.preempted: the new segment of the slot, the replaced market, and the ID of
// the director's entry. The OpenAPI document does not define the data of feed events.
type preemptedJSON struct {
	*openapi.Segment
	Replaces  *replacedJSON `json:"replaces"`
	PreemptID string        `json:"preemptId"`
}

type replacedJSON struct {
	ID    string `json:"id"` // id of the market
	Title string `json:"title"`
}

func encodePreempted(s *program.Segment, before *program.Entry, preempt string) []byte {
	out := preemptedJSON{Segment: segmentOf(s), PreemptID: preempt}
	if before != nil {
		out.Replaces = &replacedJSON{ID: string(before.Market), Title: before.Title}
	}
	return mustMarshal(out)
}

// mustMarshal returns the JSON of v. It panics on an error, which cannot occur for the types in this file.
func mustMarshal(v any) []byte {
	b, err := httpx.Marshal(v)
	if err != nil {
		panic(err)
	}
	return b
}
