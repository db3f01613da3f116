package hls

import (
	"bytes"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/signalcast/signalcast/pkg/apperr"
)

// Limits of an uploaded playlist: bytes, segments, renditions, seconds of a segment, and media sequence number.
const (
	maxPlaylist = 256 << 10
	maxEntries  = 1000
	maxVariants = 16
	maxSeconds  = 60 // maximum length of a segment
	maxSequence = 1 << 53
)

// errPlaylist is the error of an invalid or unsupported playlist.
var errPlaylist = apperr.New(apperr.Invalid, "invalid_request",
	"the file must be a UTF-8 HLS playlist with segments in the same directory")

var (
	playlistName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_-]{0,63}\.m3u8$`)
	segmentName  = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_-]{0,99}(\.[A-Za-z0-9_-]{1,32}){0,3}\.(ts|m4s|mp4)$`)
)

// nameForm describes names that both playlistName and segmentName accept. The ending of the file name follows it in error texts.
const nameForm = "be 1 to 64 letters, digits, - and _, the first a letter or digit, and end in "

// entry is a segment that an uploaded playlist lists.
type entry struct {
	name    string
	seq     int64 // media sequence number of the encoder; set by playlist.numbered
	seconds float64
	cut     bool   // preceded by a discontinuity
	init    string // initialization segment; empty: none
}

// variant is a rendition that an uploaded master playlist lists.
type variant struct {
	name  string
	attrs string // permitted attributes, as they are served
}

// playlist contains the supported parts of an uploaded playlist.
type playlist struct {
	entries     []entry
	target      int
	sequence    int64 // media sequence number of the first entry
	independent bool
	ended       bool
	variants    []variant // renditions; only a master playlist has them, and it has no entries
}

// refused lists tags that make a playlist invalid: byte ranges, variables, alternative renditions, delta updates and I-frame
// playlists. Without these tags, the playlist would have another meaning. Other unknown tags are ignored.
var refused = []string{"#EXT-X-BYTERANGE", "#EXT-X-DEFINE", "#EXT-X-MEDIA:", "#EXT-X-SKIP", "#EXT-X-I-FRAMES-ONLY"}

// parsePlaylist parses an uploaded playlist of segments or a master playlist. It returns errPlaylist with the reason if the
// playlist is invalid.
func parsePlaylist(raw []byte) (playlist, error) {
	if !utf8.Valid(raw) || bytes.IndexByte(raw, 0) >= 0 {
		return playlist{}, errPlaylist
	}
	lines := strings.Split(string(raw), "\n")
	if strings.TrimRight(lines[0], "\r ") != "#EXTM3U" {
		return playlist{}, errPlaylist.WithText("a playlist must begin with #EXTM3U")
	}
	r := reader{}
	for _, l := range lines[1:] {
		if err := r.line(strings.TrimRight(l, "\r \t")); err != nil {
			return playlist{}, err
		}
	}
	if r.hasSeconds || r.streamInf != "" {
		return playlist{}, errPlaylist.WithText("the playlist ends before the file name of its last segment or rendition")
	}
	if len(r.p.entries) > 0 && len(r.p.variants) > 0 || len(r.p.entries) == 0 && len(r.p.variants) == 0 {
		return playlist{}, errPlaylist.WithText("a playlist must list either segments or renditions")
	}
	return r.p, nil
}

// reader is the state of parsePlaylist between two lines.
type reader struct {
	p          playlist
	seconds    float64
	hasSeconds bool
	cut        bool
	init       string
	streamInf  string
}

func (r *reader) line(l string) error {
	if l == "" {
		return nil
	}
	if !strings.HasPrefix(l, "#") {
		return r.uri(l)
	}
	tag, value, _ := strings.Cut(l, ":")
	switch tag {
	case "#EXTINF":
		number, _, _ := strings.Cut(value, ",")
		s, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
		if err != nil || math.IsNaN(s) || s <= 0 || s > maxSeconds {
			return errPlaylist.WithText("the length of a segment must be above 0 and at most %d seconds", maxSeconds)
		}
		r.seconds, r.hasSeconds = s, true
	case "#EXT-X-TARGETDURATION":
		n, err := strconv.Atoi(value)
		if err != nil || n < 1 || n > maxSeconds {
			return errPlaylist.WithText("the target duration must be an integer from 1 to %d (seconds)", maxSeconds)
		}
		r.p.target = n
	case "#EXT-X-MEDIA-SEQUENCE":
		n, err := strconv.ParseInt(value, 10, 64)
		if err != nil || n < 0 || n > maxSequence {
			return errPlaylist.WithText("the media sequence must be an integer from 0 to 2^53")
		}
		r.p.sequence = n
	case "#EXT-X-DISCONTINUITY":
		r.cut = true
	case "#EXT-X-INDEPENDENT-SEGMENTS":
		r.p.independent = true
	case "#EXT-X-ENDLIST":
		r.p.ended = true
	case "#EXT-X-MAP":
		name, err := mapName(value)
		r.init = name
		return err
	case "#EXT-X-KEY", "#EXT-X-SESSION-KEY":
		if value != "METHOD=NONE" {
			return errPlaylist.WithText("encrypted segments are not supported")
		}
	case "#EXT-X-STREAM-INF":
		r.streamInf = knownAttrs(value)
		if r.streamInf == "" {
			return errPlaylist.WithText("a rendition must have the attribute BANDWIDTH, an integer")
		}
	default:
		for _, bad := range refused {
			if strings.HasPrefix(l, bad) {
				return errPlaylist.WithText("the tag %s is not supported", strings.TrimSuffix(bad, ":"))
			}
		}
	}
	return nil
}

func (r *reader) uri(l string) error {
	switch {
	case r.streamInf != "":
		if !playlistName.MatchString(l) {
			return errPlaylist.WithText("the name of a rendition must " + nameForm + ".m3u8")
		}
		if len(r.p.variants) == maxVariants {
			return errPlaylist.WithText("a playlist must have at most %d renditions", maxVariants)
		}
		r.p.variants = append(r.p.variants, variant{name: l, attrs: r.streamInf})
		r.streamInf = ""
	case !r.hasSeconds:
		return errPlaylist.WithText("each segment must follow an #EXTINF line")
	case !segmentName.MatchString(l):
		return errPlaylist.WithText("the name of a segment must " + nameForm + ".ts, .m4s or .mp4")
	case len(r.p.entries) == maxEntries:
		return errPlaylist.WithText("a playlist must have at most %d segments", maxEntries)
	default:
		r.p.entries = append(r.p.entries, entry{name: l, seconds: r.seconds, cut: r.cut, init: r.init})
		r.hasSeconds, r.cut = false, false
	}
	return nil
}

var mapURI = regexp.MustCompile(`^URI="([^"]*)"$`)

// mapName parses the value of EXT-X-MAP. The value must be the name of a whole file, without a byte range.
func mapName(value string) (string, error) {
	m := mapURI.FindStringSubmatch(value)
	if m == nil || !segmentName.MatchString(m[1]) {
		return "", errPlaylist.WithText(
			"EXT-X-MAP must have only the attribute URI, which must " + nameForm + ".ts, .m4s or .mp4")
	}
	return m[1], nil
}

// attrs contains expressions for the attributes of a rendition that the origin serves. Each expression permits only safe
// values. The first attribute is required.
var attrs = []*regexp.Regexp{
	regexp.MustCompile(`(?:^|,)(BANDWIDTH=[0-9]{1,12})(?:,|$)`),
	regexp.MustCompile(`(?:^|,)(AVERAGE-BANDWIDTH=[0-9]{1,12})(?:,|$)`),
	regexp.MustCompile(`(?:^|,)(RESOLUTION=[0-9]{1,5}x[0-9]{1,5})(?:,|$)`),
	regexp.MustCompile(`(?:^|,)(FRAME-RATE=[0-9]{1,4}(?:\.[0-9]{1,3})?)(?:,|$)`),
	regexp.MustCompile(`(?:^|,)(CODECS="[A-Za-z0-9.,_-]{1,100}")(?:,|$)`),
}

func knownAttrs(value string) string {
	var out []string
	for i, re := range attrs {
		m := re.FindStringSubmatch(value)
		if m == nil && i == 0 {
			return ""
		}
		if m != nil {
			out = append(out, m[1])
		}
	}
	return strings.Join(out, ",")
}

// head contains the header values of a served playlist.
type head struct {
	target      int
	sequence    int64
	breaks      int64
	independent bool
	vod         bool // the list is complete: no further segments follow
}

// writePlaylist returns the text of a served playlist with the header h and the segments in list.
func writePlaylist(h head, list []segment) []byte {
	var b bytes.Buffer
	version, target := 3, h.target
	for _, s := range list {
		target = max(target, int(math.Ceil(s.Seconds-0.5)), 1) // rounded to the nearest integer (RFC 8216 4.3.3.1)
		if s.Init != "" {
			version = 7
		}
	}
	fmt.Fprintf(&b, "#EXTM3U\n#EXT-X-VERSION:%d\n#EXT-X-TARGETDURATION:%d\n#EXT-X-MEDIA-SEQUENCE:%d\n", version, target, h.sequence)
	if h.breaks > 0 {
		fmt.Fprintf(&b, "#EXT-X-DISCONTINUITY-SEQUENCE:%d\n", h.breaks)
	}
	if h.vod {
		b.WriteString("#EXT-X-PLAYLIST-TYPE:VOD\n")
	}
	if h.independent {
		b.WriteString("#EXT-X-INDEPENDENT-SEGMENTS\n")
	}
	init := ""
	for _, s := range list {
		if s.Cut {
			b.WriteString("#EXT-X-DISCONTINUITY\n")
		}
		if s.Init != init {
			fmt.Fprintf(&b, "#EXT-X-MAP:URI=%q\n", s.Init)
			init = s.Init
		}
		fmt.Fprintf(&b, "#EXTINF:%.6f,\n%s\n", s.Seconds, s.File)
	}
	if h.vod {
		b.WriteString("#EXT-X-ENDLIST\n")
	}
	return b.Bytes()
}

func writeMaster(list []variant) []byte {
	var b bytes.Buffer
	b.WriteString("#EXTM3U\n#EXT-X-VERSION:3\n")
	for _, v := range list {
		fmt.Fprintf(&b, "#EXT-X-STREAM-INF:%s\n%s\n", v.attrs, v.name)
	}
	return b.Bytes()
}
