package pages

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	programv1 "github.com/signalcast/signalcast/proto/program/v1"
	signalv1 "github.com/signalcast/signalcast/proto/signal/v1"
	"github.com/signalcast/signalcast/services/hub/internal/httpapi/pages/site"
	"github.com/signalcast/signalcast/services/hub/internal/livestream"
)

// TestOverlayParameters checks that invalid scales and lanes are replaced by their defaults.
func TestOverlayParameters(t *testing.T) {
	t.Parallel()
	for raw, want := range map[string]string{
		"": "1", "1": "1", "0.5": "0.5", "0.49": "1", "3": "3", "3.01": "1", "1e9": "1", "-1": "1", "0": "1", "NaN": "1", "Inf": "1", "-Inf": "1", "x": "1", "1.25": "1.25", "0x1p1": "2",
	} {
		if got := scaleOf(raw); got != want {
			t.Errorf("scale %q is %s, want %s", raw, got, want)
		}
	}
	for raw, want := range map[string]string{"": "", "SCIENCE": "science", "tv": "tv", "a b": "", "<b>": "", strings.Repeat("x", 33): ""} {
		if got := laneParam(raw); got != want {
			t.Errorf("lane %q is %q, want %q", raw, got, want)
		}
	}
	if got := knownOrFirst(overlayThemes, "evil"); got != "dark" {
		t.Errorf("theme %s", got)
	}
}

// TestVideoOrigins checks that a stream URL adds only its origin to a Content-Security-Policy.
func TestVideoOrigins(t *testing.T) {
	t.Parallel()
	s := &server{Site: &site.Site{Deps: site.Deps{Videos: []string{"video-a.example", "video-b.example:8443"}}}}
	for raw, want := range map[string]string{
		"":                                "",
		"https://Video-A.example/x.m3u8":  "",
		"https://c.example/x.m3u8?a=b;c":  "https://c.example",
		"https://c.example:8443/x.m3u8":   "https://c.example:8443",
		"http://127.0.0.1:9/x.m3u8":       "http://127.0.0.1:9",
		"https://[2001:db8::1]:1/x.m3u8":  "https://[2001:db8::1]:1",
		"https://c.example;script-src */": "", "https://*.example/x": "", "https://c.example 'unsafe-inline'/": "", "javascript:alert(1)": "",
		"data:text/html,x": "", "//c.example/x": "", "https://c.example,d.example/": "", "https://é.example/": "", "https://u:p@c.example/": "https://c.example",
	} {
		list := []string{"https://video-a.example", "https://video-b.example:8443"}
		if want != "" {
			list = append(list, want)
		}
		if got := s.videoOrigins(raw); !slices.Equal(got, list) {
			t.Errorf("%q: %q, want %q", raw, got, list)
		}
	}
	if got := s.videoPolicy(s.videoOrigins("https://c.example/x")); strings.Count(got, "script-src") != 1 || strings.Contains(got, "unsafe") ||
		!strings.Contains(got, "media-src 'self' blob: https://video-a.example https://video-b.example:8443 https://c.example;") {
		t.Errorf("policy %s", got)
	}
}

// TestProgrammeRows checks the current and the next segment of each lane. A lane without a current segment is left out. An
// unknown lane selects all lanes.
func TestProgrammeRows(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 9, 18, 12, 0, 0, 0, time.UTC)
	yes := 31.55
	seg := func(title, kind string, from, to int) *programv1.Segment {
		return &programv1.Segment{
			Title: title, Kind: kind, YesPrice: &yes, MarketId: "7",
			StartsAt: timestamppb.New(at.Add(time.Duration(from) * time.Second)), EndsAt: timestamppb.New(at.Add(time.Duration(to) * time.Second)),
		}
	}
	p := &programv1.Program{
		Segments: []*programv1.Segment{seg("a", "content", -10, 600), seg("b", "bumper", 600, 610), seg("b", "content", 610, 1210), seg("later", "content", 5, 600)},
		Lanes:    []*programv1.Lane{{Key: "science", Label: "SCIENCE", Segments: []int32{0, 1, 2}}, {Key: "tv", Label: "TV", Segments: []int32{3}}},
	}
	for wanted, want := range map[string]string{"": "[{science Science a 31.55¢ 68.45¢ b, 12:10 UTC 7 YES NO 31.55¢}]", "science": "[{science Science a 31.55¢ 68.45¢ b, 12:10 UTC 7 YES NO 31.55¢}]", "nowhere": "[{science Science a 31.55¢ 68.45¢ b, 12:10 UTC 7 YES NO 31.55¢}]", "tv": "[{science Science a 31.55¢ 68.45¢ b, 12:10 UTC 7 YES NO 31.55¢}]"} {
		if got := fmt.Sprint(programmeRows(p, wanted, at)); got != want {
			t.Errorf("%q: %s, want %s", wanted, got, want)
		}
	}
	if got := programmeRows(p, "", at.Add(604*time.Second)); len(got) != 1 || got[0].Title != "b" || got[0].Next != "b, 12:10 UTC" {
		t.Errorf("in a bumper: %v", got)
	}
	p.Segments[0].Outcomes = []string{"Ochre Rovers", "Slate City"}
	if got := fmt.Sprint(programmeRows(p, "", at)); got != "[{science Science a 31.55¢ 68.45¢ b, 12:10 UTC 7 Ochre Rovers Slate City Ochre Rovers 31.55¢}]" {
		t.Errorf("with named sides: %s", got)
	}
	if got := programmeRows(&programv1.Program{}, "", at); got != nil {
		t.Errorf("nothing: %v", got)
	}
}

// TestViewerPlot checks the line of viewers and the markers of calls in the recap of a broadcast.
func TestViewerPlot(t *testing.T) {
	t.Parallel()
	from := time.Date(2026, 9, 18, 12, 0, 0, 0, time.UTC)
	session := livestream.Session{StartedAt: from, EndedAt: from.Add(10 * time.Minute)}
	step := func(minute int, viewers int64) livestream.Step {
		return livestream.Step{At: from.Add(time.Duration(minute) * time.Minute), Viewers: viewers}
	}
	call := &signalv1.Signal{Id: "7", Direction: "NO", CreatedAt: timestamppb.New(from.Add(5 * time.Minute))}
	p := newViewerPlot(session, livestream.Audience{Step: time.Minute, Steps: []livestream.Step{step(0, 2), step(4, 8)}}, []*signalv1.Signal{call})
	if p.Label != "Viewers of the broadcast: at most 8, with 1 call" || len(p.Table) != 2 || p.Table[1] != (viewerRow{"12:04 UTC", "8"}) {
		t.Errorf("%+v", p)
	}
	if want := (viewerMark{position{"50%", "0%"}, "7", "side-no", "NO at 0¢, 18 Sep, 12:05"}); len(p.Marks) != 1 || p.Marks[0] != want {
		t.Errorf("markers %+v, want %+v", p.Marks, want)
	}
	if short := newViewerPlot(session, livestream.Audience{Step: time.Minute, Steps: []livestream.Step{step(0, 2)}}, nil); short.Words == "" || short.Line != "" {
		t.Errorf("one step: %+v", short)
	}
}
