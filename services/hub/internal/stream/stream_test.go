package stream_test

import (
	"strings"
	"testing"

	"github.com/signalcast/signalcast/services/hub/internal/stream"
)

func TestPlayable(t *testing.T) {
	t.Parallel()
	hosts := []string{"video-a.example", "video-b.example:8443"}
	for raw, want := range map[string][2]bool{ // result without hosts, and with hosts
		"https://video-a.example/live/index.m3u8":                       {true, true},
		"https://VIDEO-A.EXAMPLE:443/x.m3u8?token=a%20b":                {true, true},
		"https://video-b.example:8443/x.m3u8":                           {true, true},
		"https://video-b.example/x.m3u8":                                {true, false},
		"https://video-a.example:8443/x.m3u8":                           {true, false},
		"https://[2001:db8::1]/x.m3u8":                                  {true, false},
		"https://video-a.example./x.m3u8":                               {true, false},
		"https://video-a.example/" + strings.Repeat("x", 471) + ".m3u8": {true, true}, // 500 characters
		"https://video-a.example/" + strings.Repeat("x", 472) + ".m3u8": {},
		"HTTP://video-a.example/x.m3u8":                                 {},
		"HTTPS://video-a.example/x.m3u8":                                {},
		"https://video-a.example/x.m3u8#":                               {},
		"https://video-a.example:0/x.m3u8":                              {},
		"https://video-a.example:65536/x.m3u8":                          {},
		"https://video-a.example:/x.m3u8":                               {true, false},
		"https:/video-a.example/x.m3u8":                                 {},
		"https:video-a.example/x.m3u8":                                  {},
		"https://:443/x.m3u8":                                           {},
		"https://u@video-a.example/x.m3u8":                              {},
		"https://video-a.example/x.m3u8#t":                              {},
		"https://video-a.example/x.M3U8":                                {},
		"https://video-a.example/x.m3u8/":                               {},
		"https://video-a.example/x.mp4?y.m3u8":                          {},
		"https://video-a.example/x\t.m3u8":                              {},
		"https://video-a.example/\u017e.m3u8":                           {},
		"https://video-a.example\\@evil.example/x.m3u8":                 {},
		"https://video-a.example/%zz.m3u8":                              {},
		"":                                                              {},
	} {
		if any, on := stream.Playable(raw, nil), stream.Playable(raw, hosts); any != want[0] || on != want[1] {
			t.Errorf("%.80q: %v and %v, want %v", raw, any, on, want)
		}
	}
}
