package hls

import (
	"math"

	"github.com/signalcast/signalcast/pkg/apperr"
)

// Parts of an MPEG-TS packet, and of what is in it.
const (
	packetBytes = 188
	packetSync  = 0x47
	nullPID     = 0x1fff
	ptsHertz    = 90_000
	ptsWrap     = 1 << 33
)

var (
	errNoPicture = apperr.New(apperr.Unsupported, "unsupported_media_type", "a segment of MPEG-TS is whole packets, with video or sound that has times")
	errTooLong   = errPlaylist.Say("a segment is at most %d seconds by the times in it", maxSeconds)
)

// track is what is known of the times of one kind of streams.
type track struct {
	n        int   // times
	first    int64 // in 1/90000 s
	from, to int64 // the least and the greatest, from first
}

func (t *track) add(pts int64) {
	if t.n++; t.n == 1 {
		t.first = pts
	}
	d := (pts - t.first) & (ptsWrap - 1)
	if d >= ptsWrap/2 { // before the first one: pictures come in another order than they are shown
		d -= ptsWrap
	}
	t.from, t.to = min(t.from, d), max(t.to, d)
}

// seconds gives the time from the first to the last, and that of one in between on the
// average; one alone takes none.
func (t *track) seconds() (length, frame float64) {
	length = float64(t.to-t.from) / ptsHertz
	return length, length / float64(max(t.n-1, 1))
}

// meter reads the times in an MPEG-TS that is written to it. It never refuses a write:
// what is wrong is said at the end.
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

// read looks whether an elementary stream's packet begins in a packet, with its time.
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
	// Start code, stream id, length, flags, length of the head, time.
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

// end gives how long the video is, or the sound where there is no more than a picture,
// and one frame of it. Errors: errNoPicture, errTooLong.
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
	// offMost is how much an encoder's word about a length may differ from the times in a
	// segment, beside one frame, in seconds.
	offMost = 0.5
	// frameMost is how long one frame is at most, in seconds.
	frameMost = 2
)

// length gives how long a segment is, in seconds: as the encoder says, where the times in
// it agree, else by these. A frame that is alone is as long as the encoder says.
func (g *segment) length(said float64) float64 {
	if !g.Measured {
		return said
	}
	if g.Frame == 0 {
		return min(said, frameMost)
	}
	frame := min(g.Frame, frameMost)
	whole := min(g.Span+frame, maxSeconds)
	if math.Abs(said-whole) <= offMost+frame {
		return said
	}
	return whole
}
