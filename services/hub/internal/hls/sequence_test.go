package hls_test

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"
)

var sequenceLine = regexp.MustCompile(`MEDIA-SEQUENCE:(\d+)`)

// sequence returns the media sequence of the served playlist. It checks that the media sequence is at least since.
func (b *bench) sequence(since int) int {
	b.t.Helper()
	m := sequenceLine.FindStringSubmatch(b.get("/live/mara_k/index.m3u8"))
	n, err := strconv.Atoi(m[1])
	if err != nil || n < since {
		b.t.Errorf("the media sequence decreased from %d to %s", since, m[1])
	}
	return n
}

// step uploads a segment of an encoder and then its playlist of the newest five segments. It returns the HTTP status of both.
func (b *bench) step(prefix, film string, from, i int) (segment, playlist int) {
	b.t.Helper()
	segment = b.put(fmt.Sprintf("%s%d.ts", prefix, i), packet(fmt.Sprintf("%s%d", film, i))).Code
	return segment, b.put("index.m3u8", media(prefix, max(from, i-4), i)).Code
}

// TestSameFilmAgain checks that after a restart, an encoder that sends the same names and bytes continues the media sequence
// after a discontinuity.
func TestSameFilmAgain(t *testing.T) {
	t.Parallel()
	for _, first := range []int{3, 20} { // the second run is longer than the first
		b := setup(t)
		b.run("seg", 0, first)
		at := b.sequence(0)
		for i := range 25 {
			b.clock.Advance(2 * time.Second)
			if s, p := b.step("seg", "seg", 0, i); s != 204 || p != 204 {
				t.Fatalf("segment %d of the second run: %d %d", i, s, p)
			}
			at = b.sequence(at)
			got := b.get("/live/mara_k/index.m3u8")
			if !strings.HasSuffix(got, fmt.Sprintf("\nseg%d", i)) || strings.Count(got, "#EXTINF") != min(i+1, 5) {
				t.Errorf("%d of the second run:\n%s", i, got)
			}
			if i < 5 && !strings.Contains(got, "#EXT-X-DISCONTINUITY\n#EXTINF:2.000000,\nseg0\n") && !strings.HasSuffix(got, "#EXT-X-DISCONTINUITY\n#EXTINF:2.000000,\nseg0") {
				t.Errorf("%d of the second run has no discontinuity:\n%s", i, got)
			}
		}
		if want := first + 1 + 21; at != want {
			t.Errorf("%d, want %d", at, want)
		}
	}
}

// TestLatePushes checks that late and repeated uploads do not decrease the media sequence.
func TestLatePushes(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.run("seg", 0, 8)
	got := b.get("/live/mara_k/index.m3u8")
	b.want(b.put("seg6.ts", packet("seg6")), 204, "") // not the newest segment
	b.want(b.put("seg8.ts", packet("seg8")), 204, "")
	b.want(b.put("index.m3u8", media("seg", 4, 8)), 204, "")
	if again := b.get("/live/mara_k/index.m3u8"); again != got {
		t.Errorf("after repeated pushes:\n%s", again)
	}
	b.want(b.put("index.m3u8", media("seg", 2, 6)), 404, "not_found") // an older playlist
	if again := b.get("/live/mara_k/index.m3u8"); again != got {
		t.Errorf("after an older playlist:\n%s", again)
	}
	b.run("seg", 10, 12) // the ninth segment is missing
	b.sequence(5)
	b.want(b.put("index.m3u8", []byte(strings.Replace(string(media("seg", 10, 12)), "SEQUENCE:10", "SEQUENCE:-1", 1))), 400, "invalid_request")
}

// TestTwoEncoders checks that of two encoders with the same key the newer one is served. The older one must be refused until the
// newer one has stopped.
func TestTwoEncoders(t *testing.T) {
	t.Parallel()
	for _, names := range [][2]string{{"seg", "seg"}, {"one", "two"}} {
		for _, ends := range []bool{false, true} {
			b := setup(t)
			b.run(names[0], 0, 9)
			at := b.sequence(0)
			for i := range 5 {
				b.clock.Advance(time.Second)
				if s, p := b.step(names[1], "new", 0, i); s != 204 || p != 204 {
					t.Fatalf("the newer encoder: %d %d", s, p)
				}
				b.clock.Advance(time.Second)
				b.want(b.put(fmt.Sprintf("%s%d.ts", names[0], 10+i), packet("old")), 204, "")
				b.want(b.put("index.m3u8", media(names[0], 6+i, 10+i)), 409, "limit_reached")
				got := b.get("/live/mara_k/index.m3u8")
				if at = b.sequence(at); strings.Count(got, "#EXTINF") != i+1 || strings.Count(got, "#EXT-X-DISCONTINUITY\n") != 1 || strings.Contains(got, "old") {
					t.Errorf("%v, at %d:\n%s", names, i, got)
				}
			}
			if ends {
				b.want(b.put("index.m3u8", append(media(names[1], 0, 4), "#EXT-X-ENDLIST\n"...)), 204, "")
				if got := b.get("/live/mara_k/index.m3u8"); strings.Contains(got, "ENDLIST") {
					t.Errorf("the served playlist contains ENDLIST:\n%s", got)
				}
			} else {
				b.clock.Advance(10 * time.Second)
			}
			for i := 15; i < 18; i++ {
				b.clock.Advance(time.Second)
				if s, p := b.step(names[0], "back", 0, i); s != 204 || p != 204 {
					t.Errorf("the older encoder after the newer one: %d %d", s, p)
				}
				at = b.sequence(at)
			}
			if got := b.get("/live/mara_k/index.m3u8"); !strings.HasSuffix(got, "back17") || strings.Contains(got, "new") {
				t.Errorf("the older encoder after the newer one:\n%s", got)
			}
		}
	}
}

// TestMasterInCircles checks that a master playlist cannot list a master playlist.
func TestMasterInCircles(t *testing.T) {
	t.Parallel()
	b := setup(t)
	master := func(of string) []byte { return []byte("#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1\n" + of + ".m3u8\n") }
	b.want(b.put("index.m3u8", master("index")), 400, "invalid_request")
	b.want(b.put("index.m3u8", master("low")), 204, "")
	b.want(b.put("low.m3u8", master("index")), 400, "invalid_request")
	b.want(b.put("low.m3u8", master("lower")), 400, "invalid_request")
	b.want(b.put("other.m3u8", master("index")), 400, "invalid_request")
	// A playlist that was a master playlist in between continues its media sequence.
	b.run("seg", 0, 3)
	at := b.sequence(0)
	b.want(b.put("index.m3u8", master("low")), 204, "")
	b.run("seg", 4, 5)
	b.sequence(at + 1)
}
