package hls_test

import (
	"bytes"
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/signalcast/signalcast/services/hub/internal/clip"
)

var lengthLine = regexp.MustCompile(`#EXTINF:([0-9.]+)`)

// textAt is the offset of the text in an MPEG-TS packet that picture returns.
const textAt = 18

// packet returns an MPEG-TS segment of one packet: a video frame at time 0 that contains a text.
func packet(text string) []byte { return picture(0, text) }

// picture returns an MPEG-TS packet with a video frame that contains a text. pts is the time of the frame in 1/90000 s.
func picture(pts uint64, text string) []byte {
	p := []byte{
		0x47, 0x41, 0, 0x10, 0, 0, 1, 0xe0, 0, 0, 0x80, 0x80, 5,
		0x21 | byte(pts>>29&0xe), byte(pts >> 22), byte(pts>>14) | 1, byte(pts >> 7), byte(pts<<1) | 1,
	}
	return append(p, fmt.Sprintf("%-*s", 188-textAt, text)...)
}

// TestMeasuredLength checks that a segment has the length in the playlist if its timestamps agree with it, and else the length by
// its timestamps.
func TestMeasuredLength(t *testing.T) {
	t.Parallel()
	const hertz = 90_000
	film := func(from uint64, frames, of int) (all []byte) { // frames at a rate of of per second; the first two are swapped
		for i := range frames {
			if i < 2 && frames > 2 {
				i = 1 - i
			}
			all = append(all, picture((from+uint64(i*hertz/of))%(1<<33), "x")...)
		}
		return all
	}
	for name, c := range map[string]struct {
		body []byte
		said string
		want string
	}{
		"as it is": {film(0, 75, 25), "3", "3.000000"}, "a little more": {film(0, 75, 25), "3.5", "3.500000"}, "far more": {film(0, 75, 25), "60", "3.000000"},
		"far less": {film(0, 75, 25), "0.1", "3.000000"}, "over the end of the numbers": {film(1<<33-hertz, 75, 25), "60", "3.000000"}, "slow": {film(0, 3, 1), "4.4", "4.400000"},
		"one picture": {film(0, 1, 1), "60", "2.000000"}, "one short picture": {film(0, 1, 1), "1", "1.000000"}, "two far apart": {append(film(0, 1, 1), film(50*hertz, 1, 1)...), "1", "52.000000"},
	} {
		b := setup(t)
		b.want(b.put("a.ts", c.body), 204, "")
		b.want(b.put("index.m3u8", []byte("#EXTM3U\n#EXTINF:"+c.said+",\na.ts\n")), 204, "")
		if got := lengthLine.FindStringSubmatch(b.do("GET", "/live/mara_k/index.m3u8", nil).Body.String()); got[1] != c.want {
			t.Errorf("%s: %s, want %s", name, got[1], c.want)
		}
		if cut, err := b.o.Cut(t.Context(), clipID(1), "mara_k", b.clock.Now(), clip.Length); err != nil || fmt.Sprintf("%.6f", cut.Length.Seconds()) != c.want {
			t.Errorf("%s: a clip of %v, %v", name, cut.Length, err)
		}
	}
	b := setup(t)
	null := append([]byte{0x47, 0x1f, 0xff, 0x10}, bytes.Repeat([]byte{0xff}, 184)...)
	for name, body := range map[string][]byte{
		"nothing": bytes.Repeat(null, 100), "half a packet": append(film(0, 2, 1), 0x47), "no packets": append(film(0, 2, 1), make([]byte, 188)...),
		"a head beyond its packet": append([]byte{0x47, 0x41, 0, 0x30, 183}, make([]byte, 183)...), "a head far beyond": append([]byte{0x47, 0x41, 0, 0x30, 255}, make([]byte, 183)...),
	} {
		if w := b.put("a.ts", body); w.Code != 415 {
			t.Errorf("%s: %d %s", name, w.Code, w.Body)
		}
	}
	b.want(b.put("a.ts", append(film(0, 1, 1), film(61*hertz, 1, 1)...)), 400, "invalid_request")
	b.want(b.put("a.ts", append(bytes.Repeat(null, 3), film(0, 50, 25)...)), 204, "")
	if n := len(files(t, b.opt.Dir+"/tmp")); n != 0 {
		t.Errorf("%d temporary files remain", n)
	}
}

// TestRealLengths checks that the playlist lengths of real ffmpeg segments are accepted: with and without audio, with reordered
// frames, and with audio only.
func TestRealLengths(t *testing.T) {
	t.Parallel()
	picture, sound := []string{"-f", "lavfi", "-i", "testsrc=size=160x90:rate=15:duration=6"}, []string{"-f", "lavfi", "-i", "sine=duration=6"}
	code := []string{"-c:v", "libx264", "-preset", "fast", "-bf", "3", "-g", "30", "-pix_fmt", "yuv420p", "-c:a", "aac"}
	for name, in := range map[string][]string{"picture": picture, "sound": sound, "both": append(append([]string{}, picture...), sound...)} {
		b, dir := setup(t), t.TempDir()
		args := append(append(append([]string{"-v", "error"}, in...), code...), "-f", "hls", "-hls_time", "2", "-hls_list_size", "0", filepath.Join(dir, "index.m3u8"))
		said := b.film(dir, args)
		b.clock.Advance(time.Second)
		want := strings.Join(lengthLine.FindAllString(string(said), -1), " ")
		got := b.do("GET", "/live/mara_k/index.m3u8", nil).Body.String()
		if have := strings.Join(lengthLine.FindAllString(got, -1), " "); have != want || have == "" {
			t.Errorf("%s: %s, want %s", name, have, want)
		}
	}
}
