package hls

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"path"
	"regexp"
	"slices"
	"strconv"
	"time"

	"github.com/Eyevinn/hls-m3u8/m3u8"

	"github.com/signalcast/signalcast/services/hub/internal/clip"
)

// Fetch implements clip.Maker. It creates the clip from the newest segments of an HLS playlist at another server. It follows a
// master playlist once. The clip ends at the time end: segments that are newer are left out. Audio of a separate rendition is not
// part of the clip.
func (o *Origin) Fetch(ctx context.Context, id, playlist string, end time.Time, length time.Duration) (clip.Video, error) {
	return o.create(ctx, id, func(tmp string) ([]segment, error) {
		within, cancel := context.WithTimeout(ctx, fetchTimeout)
		defer cancel()
		at, err := url.Parse(playlist)
		if err != nil {
			return nil, refuse("invalid URL of the playlist")
		}
		f := &fetcher{client: o.o.Client, left: maxFetch}
		media, base, err := f.media(within, at)
		if err != nil {
			return nil, err
		}
		list, err := remoteSegments(media, base)
		if err != nil {
			return nil, err
		}
		list, err = newest(list, o.o.Now().Sub(end), length)
		if err != nil {
			return nil, err
		}
		return o.store(within, f, tmp, list)
	})
}

// media reads a playlist of segments. If the playlist is a master playlist, it reads the playlist of one rendition. It also
// returns the URL to which the names in the playlist are relative.
func (f *fetcher) media(ctx context.Context, at *url.URL) (*m3u8.MediaPlaylist, *url.URL, error) {
	for range 2 {
		var raw bytes.Buffer
		from, err := f.copy(ctx, &raw, part{url: at}, maxPlaylist)
		if err != nil {
			return nil, nil, fmt.Errorf("playlist: %w", err)
		}
		p, err := decode(raw.Bytes())
		if err != nil {
			return nil, nil, err
		}
		master, ok := p.(*m3u8.MasterPlaylist)
		if !ok {
			media, _ := p.(*m3u8.MediaPlaylist)
			return media, from, nil
		}
		if at, err = rendition(master, from); err != nil {
			return nil, nil, err
		}
	}
	return nil, nil, refuse("a master playlist lists another one")
}

// quotedRange matches the byte range of a map. The parser expects it without the quotes that RFC 8216 4.3.2.5 requires.
var quotedRange = regexp.MustCompile(`(?m)^(#EXT-X-MAP:.*BYTERANGE=)"([0-9]+@[0-9]+)"`)

// decode parses a playlist. The parser is lenient, because streams of many encoders deviate from RFC 8216; it panics on some
// malformed playlists, for example with a key before a name that is no segment.
func decode(raw []byte) (p m3u8.Playlist, err error) {
	defer func() {
		if recover() != nil {
			p, err = nil, refuse("the playlist is malformed")
		}
	}()
	if !bytes.HasPrefix(raw, []byte("#EXTM3U")) {
		return nil, refuse("a playlist must begin with #EXTM3U")
	}
	p, _, err = m3u8.DecodeFrom(bytes.NewReader(quotedRange.ReplaceAll(raw, []byte("$1$2"))), false)
	if err != nil {
		return nil, refuse("the playlist is malformed: %w", err)
	}
	return p, nil
}

// maxBandwidth is the bandwidth, in bit/s, up to which the best rendition is selected. At this bandwidth a clip has half of the
// permitted size.
const maxBandwidth = 8_000_000

// rendition returns the URL of the rendition from which a clip is cut: the best one up to maxBandwidth, or else the one with the
// lowest bandwidth. Renditions that contain their audio are preferred.
func rendition(p *m3u8.MasterPlaylist, base *url.URL) (*url.URL, error) {
	var best *m3u8.Variant
	for _, v := range p.Variants {
		if v != nil && v.URI != "" && !v.Iframe && (best == nil || better(v, best)) {
			best = v
		}
	}
	if best == nil {
		return nil, refuse("the master playlist lists no rendition")
	}
	return resolve(base, best.URI)
}

func better(v, than *m3u8.Variant) bool {
	if (v.Audio == "") != (than.Audio == "") {
		return v.Audio == ""
	}
	if v.Bandwidth > maxBandwidth || than.Bandwidth > maxBandwidth {
		return v.Bandwidth < than.Bandwidth
	}
	return v.Bandwidth > than.Bandwidth
}

// resolve returns the URL of a name in a playlist.
func resolve(base *url.URL, name string) (*url.URL, error) {
	u, err := base.Parse(name)
	if err != nil {
		return nil, refuse("invalid name of a file in the playlist")
	}
	return u, nil
}

// remoteSegment is a segment of a playlist at another server.
type remoteSegment struct {
	part
	init    *part // initialization segment; nil: none
	seconds float64
	cut     bool // preceded by a discontinuity
	broken  bool // encrypted, or missing at the server
}

// remoteSegments returns the segments of a playlist with absolute URLs. Error: refuse.
func remoteSegments(p *m3u8.MediaPlaylist, base *url.URL) ([]remoteSegment, error) {
	var list []remoteSegment
	init, err := initOf(base, p.Map, nil) // the parser stores a map before the first segment in the playlist only
	if err != nil {
		return nil, err
	}
	encrypted := isEncrypted(p.Keys)
	for _, s := range p.GetAllSegments() {
		if s == nil {
			continue
		}
		if len(s.Keys) > 0 {
			encrypted = isEncrypted(s.Keys)
		}
		if init, err = initOf(base, s.Map, init); err != nil {
			return nil, err
		}
		u, err := resolve(base, s.URI)
		if err != nil {
			return nil, err
		}
		g := remoteSegment{
			part: part{url: u, offset: s.Offset, length: s.Limit}, init: init, seconds: s.Duration, cut: s.Discontinuity,
			broken: encrypted || s.Gap,
		}
		// A byte range without an offset follows the range before it (RFC 8216 4.3.2.2).
		if n := len(list); g.length > 0 && g.offset == 0 && n > 0 && list[n-1].url.String() == u.String() {
			g.offset = list[n-1].offset + list[n-1].length
		}
		inTime := g.seconds > 0 && g.seconds <= maxSeconds // false for NaN
		if !inTime || g.offset < 0 || g.offset > maxSequence || g.length < 0 || g.length > maxSegment {
			return nil, refuse("the length of a segment must be above 0 and at most %d seconds and %d bytes", maxSeconds, maxSegment)
		}
		list = append(list, g)
	}
	return list, nil
}

// initOf returns the initialization segment of a map; without a map, the one before.
func initOf(base *url.URL, m *m3u8.Map, before *part) (*part, error) {
	if m == nil {
		return before, nil
	}
	u, err := resolve(base, m.URI)
	if err != nil {
		return nil, err
	}
	return &part{url: u, offset: m.Offset, length: m.Limit}, nil
}

func isEncrypted(keys []m3u8.Key) bool {
	return slices.ContainsFunc(keys, func(k m3u8.Key) bool { return k.Method != "NONE" })
}

// newest returns the newest consecutive segments with a total length of about the parameter length, oldest first. It skips the
// segments of the time late, which has passed since the end of the clip. Error: refuse if there are none.
func newest(list []remoteSegment, late, length time.Duration) ([]remoteSegment, error) {
	to := len(list)
	for skip := late.Seconds(); to > 0 && skip >= list[to-1].seconds; to-- {
		skip -= list[to-1].seconds
	}
	from := to
	for have := 0.0; from > 0 && have < length.Seconds()-0.05 && to-from < maxFetched && !list[from-1].broken; from-- {
		have += list[from-1].seconds
	}
	if from == to {
		return nil, refuse("the playlist lists no segment that is stored there and not encrypted")
	}
	return list[from:to], nil
}

// store downloads segments into a directory, newest first, and returns them, oldest first. If the other server has already
// deleted an old segment, the clip begins after it.
func (o *Origin) store(ctx context.Context, f *fetcher, into string, list []remoteSegment) ([]segment, error) {
	inits := map[string]string{}
	var out []segment
	for i, g := range slices.Backward(list) {
		name, err := o.download(ctx, f, into, fmt.Sprintf("%03d", i), g.part)
		var deleted missing
		if errors.As(err, &deleted) && len(out) > 0 {
			break
		}
		if err != nil {
			return nil, fmt.Errorf("segment: %w", err)
		}
		s := segment{File: name, Seconds: g.seconds, Cut: g.cut}
		if path.Ext(name) != ".ts" {
			if g.init == nil {
				return nil, refuse("the playlist has no EXT-X-MAP for a segment of fragmented MP4")
			}
			key := fmt.Sprint(g.init.url, g.init.offset, g.init.length)
			if inits[key] == "" {
				if inits[key], err = o.download(ctx, f, into, "i"+strconv.Itoa(len(inits)), *g.init); err != nil {
					return nil, fmt.Errorf("initialization segment: %w", err)
				}
			}
			s.Init = inits[key]
		}
		out = append(out, s)
	}
	slices.Reverse(out)
	out[0].Cut = false
	return out, nil
}

// download stores a file in a directory under a name with the extension of its content, which it returns. Only the formats of
// segments are stored, so that the origin serves no other content.
func (o *Origin) download(ctx context.Context, f *fetcher, into, name string, p part) (string, error) {
	full := into + "/" + name
	file, err := o.root.OpenFile(full, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return "", err
	}
	var first start
	_, err = f.copy(ctx, io.MultiWriter(file, &first), p, maxSegment)
	if err := errors.Join(err, file.Close()); err != nil {
		return "", err
	}
	for _, ext := range []string{".ts", ".m4s"} {
		if len(first) == startBytes && isVideo(first, ext) {
			return name + ext, o.root.Rename(full, full+ext)
		}
	}
	return "", refuse("a segment must be MPEG-TS or fragmented MP4")
}

// startBytes is the number of bytes that isVideo needs.
const startBytes = 12

// start collects the first bytes of a file.
type start []byte

func (s *start) Write(p []byte) (int, error) {
	*s = append(*s, p[:min(len(p), startBytes-len(*s))]...)
	return len(p), nil
}
