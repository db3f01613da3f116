package httpapi_test

import (
	"strings"
	"testing"

	"github.com/signalcast/signalcast/services/api/internal/httpapi"
)

// TestClientFrames checks that an invalid frame closes the socket with the matching code, in whatever parts its bytes arrive.
// Frames before it must be answered.
func TestClientFrames(t *testing.T) {
	t.Parallel()
	b := setup(t, options{memory: 100, sockets: httpapi.SocketLimits{FrameRate: 1000}})
	const ping, pong = `{"op":"ping","id":"a"}`, `{"op":"pong","id":"a"}`
	closeFrame := piece(0x88, "\x03\xe8bye")
	masked := []byte(ping)
	for i := range masked {
		masked[i] ^= "mask"[i%4]
	}
	for name, tc := range map[string]struct {
		sent   string
		code   int
		output string // received before the close frame
	}{
		"a message":               {piece(0x81, ping) + closeFrame, 1000, pong},
		"masked":                  {"\x81" + string([]byte{0x80 | byte(len(masked))}) + "mask" + string(masked) + closeFrame, 1000, pong},
		"in pieces":               {piece(0x01, ping[:5]) + piece(0x00, ping[5:9]) + piece(0x80, ping[9:]) + closeFrame, 1000, pong},
		"a ping between pieces":   {piece(0x01, ping[:5]) + piece(0x89, "now") + piece(0x80, ping[5:]) + closeFrame, 1000, "\x8a\x03now"},
		"an empty ping":           {piece(0x89, "") + closeFrame, 1000, "\x8a\x00"},
		"no mask":                 {"\x81\x02{}", 1002, ""},
		"bits of an extension":    {piece(0xc1, ping), 1002, ""},
		"an unknown data opcode":  {piece(0x83, ping), 1002, ""},
		"an unknown control code": {piece(0x8b, ""), 1002, ""},
		"a ping in pieces":        {piece(0x09, ""), 1002, ""},
		"a long ping":             {piece(0x89, strings.Repeat("x", 126)), 1002, ""},
		"a final frame alone":     {piece(0x80, ping), 1002, ""},
		"a continuation alone":    {piece(0x00, ping), 1002, ""},
		"a second message inside": {piece(0x01, ping) + piece(0x81, ping), 1002, ""},
		"after a valid message":   {piece(0x81, ping) + piece(0x83, ""), 1002, pong},
		"binary":                  {piece(0x82, ping), 1003, ""},
		"binary in pieces":        {piece(0x02, ping), 1003, ""},
		"too large in pieces":     {piece(0x01, strings.Repeat("x", 5000)) + piece(0x80, strings.Repeat("x", 3193)), 1009, ""},
		"too large by its header": {"\x81\xfe\x20\x01mask", 1009, ""},
		"a length of 2^64-1":      {"\x81\xff\xff\xff\xff\xff\xff\xff\xff\xffmask", 1009, ""},
		"a close without a code":  {piece(0x88, ""), 1000, ""},
		"a private close code":    {piece(0x88, "\x0f\xa0"), 4000, ""},
		"a registered code":       {piece(0x88, "\x03\xf4"), 1012, ""},
		"a code above all others": {piece(0x88, "\x13\x88"), 1002, ""},
		"half a code":             {piece(0x88, "\x03"), 1002, ""},
		"a code not for sending":  {piece(0x88, "\x03\xed"), 1002, ""},
		"an unassigned code":      {piece(0x88, "\x07\xd0"), 1002, ""},
		"an invalid reason":       {piece(0x88, "\x03\xe8\xff"), 1002, ""},
	} {
		for _, step := range []int{len(tc.sent), 1} {
			code, output := b.exchange(tc.sent, step)
			if code != tc.code || !strings.Contains(output, tc.output) {
				t.Errorf("%s, %d bytes at once: closed with %d after %q", name, step, code, output)
			}
		}
	}
}
