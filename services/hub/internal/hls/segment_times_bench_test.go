package hls

import (
	"bytes"
	"context"
	"errors"
	"testing"

	"github.com/asticode/go-astits"
)

// BenchmarkSegmentTimes compares meter with the reader of go-astits on a segment of 2.9 MB: 60 pictures of 256 packets. The decision is
// docs/decisions/0035-segment-times.md.
func BenchmarkSegmentTimes(b *testing.B) {
	var body []byte
	for i := range byte(60) {
		start := [packetBytes]byte{0x47, 0x41, 0, 0x10, 0, 0, 1, 0xe0, 0, 0, 0x80, 0x80, 5, 0x21, 0, 1, i << 2, 1}
		body = append(body, start[:]...)
		for j := range byte(255) {
			more := [packetBytes]byte{0x47, 0x01, 0, 0x10 | (j+1)&0xf, j}
			body = append(body, more[:]...)
		}
	}
	for name, read := range map[string]func(m *meter) error{
		"own":     func(m *meter) error { _, err := m.Write(body); return err },
		"library": func(m *meter) error { return readWithLibrary(m, body) },
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(len(body)))
			for b.Loop() {
				m := &meter{}
				if err := read(m); err != nil || m.video.n != 60 {
					b.Fatalf("%d times, want 60: %v", m.video.n, err)
				}
			}
		})
	}
}

func readWithLibrary(m *meter, body []byte) error {
	d := astits.NewDemuxer(context.Background(), bytes.NewReader(body), astits.DemuxerOptPacketSize(packetBytes))
	for {
		data, err := d.NextData()
		switch {
		case errors.Is(err, astits.ErrNoMorePackets):
			return nil
		case err != nil:
			return err
		case data.PES != nil && data.PES.Header.OptionalHeader != nil && data.PES.Header.OptionalHeader.PTS != nil:
			m.video.add(data.PES.Header.OptionalHeader.PTS.Base)
		}
	}
}
