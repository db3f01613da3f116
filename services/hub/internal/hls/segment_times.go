package hls

import (
	"math"

	"github.com/signalcast/signalcast/pkg/apperr"
)

// Constants of MPEG-TS packets and of their presentation timestamps.
const (
	packetBytes = 188
	packetSync  = 0x47
	nullPID     = 0x1fff
	ptsHertz    = 90_000
	ptsWrap     = 1 << 33
)

var (
	errNoPicture = apperr.New(apperr.Unsupported, "unsupported_media_type",
		"an MPEG-TS segment must consist of complete packets and contain video or audio with timestamps")
	errTooLong = errPlaylist.WithText("a segment must be at most %d seconds long by its timestamps", maxSeconds)
)

// track collects the presentation timestamps of the video or the audio of a segment.
type track struct {
	n        int   // number of timestamps
	first    int64 // first timestamp, in 1/90000 s
	from, to int64 // lowest and highest timestamp, relative to first
}

func (t *track) add(pts int64) {
	if t.n++; t.n == 1 {
		t.first = pts
	}
	d := (pts - t.first) & (ptsWrap - 1)
	if d >= ptsWrap/2 { // earlier than first: the stored order of frames differs from their display order
		d -= ptsWrap
	}
	t.from, t.to = min(t.from, d), max(t.to, d)
}

// seconds returns the time between the first and the last frame, and the mean duration of one frame. For a single frame, the
// results are 0.
func (t *track) seconds() (length, frame float64) {
	length = float64(t.to-t.from) / ptsHertz
	return length, length / float64(max(t.n-1, 1))
}

// meter is a writer that reads the timestamps of an MPEG-TS stream. Write never fails; end reports errors.
type meter struct {
	packet       [packetBytes]byte
	have         int
	broken       bool
	video, sound track
}

func (m *meter) Write(b []byte) (int, error) {
	for rest := b; len(rest) > 0 && !m.broken; {
		n := copy(m.packet[m.have:], rest)
		m.have, rest = m.have+n, rest[n:]
		if m.have == packetBytes {
			m.have = 0
			m.read(m.packet[:])
		}
	}
	return len(b), nil
}

// read parses a packet. If an elementary stream packet with a timestamp starts in it, read adds the timestamp to the video or
// the audio track.
func (m *meter) read(p []byte) {
	if p[0] != packetSync {
		m.broken = true
		return
	}
	begins, pid := p[1]&0x40 != 0, int(p[1]&0x1f)<<8|int(p[2])
	if !begins || pid == nullPID || p[3]&0x10 == 0 {
		return
	}
	at := 4
	if p[3]&0x20 != 0 {
		at += 1 + int(p[4])
	}
	// Layout: start code (3 bytes), stream id (1), length (2), flags (2), header length (1), timestamp (5).
	if at+14 > packetBytes || p[at] != 0 || p[at+1] != 0 || p[at+2] != 1 || p[at+7]&0x80 == 0 {
		return
	}
	t := p[at+9:]
	pts := int64(t[0]>>1&7)<<30 | int64(t[1])<<22 | int64(t[2]>>1)<<15 | int64(t[3])<<7 | int64(t[4]>>1)
	switch id := p[at+3]; {
	case id>>4 == 0xe, id == 0xfd:
		m.video.add(pts)
	case id>>5 == 0x6, id == 0xbd: // 0xc0 to 0xdf
		m.sound.add(pts)
	}
}

// end returns the time from the first to the last frame and the duration of one frame, in seconds. It measures the video. If
// there is at most one video frame and there are more audio frames, it measures the audio. Errors: errNoPicture, errTooLong.
func (m *meter) end() (length, frame float64, err error) {
	t := m.video
	if t.n < 2 && m.sound.n > t.n {
		t = m.sound
	}
	if m.broken || m.have > 0 || t.n == 0 {
		return 0, 0, errNoPicture
	}
	if length, frame = t.seconds(); length > maxSeconds {
		return 0, 0, errTooLong
	}
	return length, frame, nil
}

const (
	// maxDeviation is the accepted difference between the length in the playlist and the length by timestamps, in seconds. The
	// duration of one frame is accepted in addition.
	maxDeviation = 0.5
	// maxFrame is the maximum duration of one frame in seconds.
	maxFrame = 2
)

// length returns the length of a segment in seconds. The parameter stated is the length in the playlist. If the segment was
// not measured, or if its timestamps agree with stated, the result is stated. Otherwise the result is the length by
// timestamps. For a single frame, the result is stated, but at most maxFrame.
func (g *segment) length(stated float64) float64 {
	if !g.Measured {
		return stated
	}
	if g.Frame == 0 {
		return min(stated, maxFrame)
	}
	frame := min(g.Frame, maxFrame)
	whole := min(g.Span+frame, maxSeconds)
	if math.Abs(stated-whole) <= maxDeviation+frame {
		return stated
	}
	return whole
}
