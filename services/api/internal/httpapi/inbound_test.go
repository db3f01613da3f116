package httpapi_test

import (
	"strings"
	"testing"

	"github.com/signalcast/signalcast/services/api/internal/httpapi"
)

// What is no frame of the protocol ends the socket with the code that says why, however
// it comes in; what came before it is served.
func TestFramesOfAnyKind(t *testing.T) {
	t.Parallel()
	b := setup(t, options{memory: 100, sockets: httpapi.SocketLimits{FrameRate: 1000}})
	const asked, told = `{"op":"ping","id":"a"}`, `{"op":"pong","id":"a"}`
	bye := piece(0x88, "\x03\xe8bye")
	masked := []byte(asked)
	for i := range masked {
		masked[i] ^= "mask"[i%4]
	}
	for name, row := range map[string]struct {
		sent string
		code int
		said string // before the end
	}{
		"a message":               {piece(0x81, asked) + bye, 1000, told},
		"masked":                  {"\x81" + string([]byte{0x80 | byte(len(masked))}) + "mask" + string(masked) + bye, 1000, told},
		"in pieces":               {piece(0x01, asked[:5]) + piece(0x00, asked[5:9]) + piece(0x80, asked[9:]) + bye, 1000, told},
		"a ping between pieces":   {piece(0x01, asked[:5]) + piece(0x89, "now") + piece(0x80, asked[5:]) + bye, 1000, "\x8a\x03now"},
		"an empty ping":           {piece(0x89, "") + bye, 1000, "\x8a\x00"},
		"no mask":                 {"\x81\x02{}", 1002, ""},
		"bits of an extension":    {piece(0xc1, asked), 1002, ""},
		"a kind that is not":      {piece(0x83, asked), 1002, ""},
		"a control that is not":   {piece(0x8b, ""), 1002, ""},
		"a ping in pieces":        {piece(0x09, ""), 1002, ""},
		"a long ping":             {piece(0x89, strings.Repeat("x", 126)), 1002, ""},
		"the end of nothing":      {piece(0x80, asked), 1002, ""},
		"a piece of nothing":      {piece(0x00, asked), 1002, ""},
		"two beginnings":          {piece(0x01, asked) + piece(0x81, asked), 1002, ""},
		"behind a message":        {piece(0x81, asked) + piece(0x83, ""), 1002, told},
		"binary":                  {piece(0x82, asked), 1003, ""},
		"binary in pieces":        {piece(0x02, asked), 1003, ""},
		"too large in pieces":     {piece(0x01, strings.Repeat("x", 5000)) + piece(0x80, strings.Repeat("x", 3193)), 1009, ""},
		"too large by its head":   {"\x81\xfe\x20\x01mask", 1009, ""},
		"larger than anything":    {"\x81\xff\xff\xff\xff\xff\xff\xff\xff\xffmask", 1009, ""},
		"closed without a word":   {piece(0x88, ""), 1000, ""},
		"closed with an own code": {piece(0x88, "\x0f\xa0"), 4000, ""},
		"a registered code":       {piece(0x88, "\x03\xf4"), 1012, ""},
		"a code above all others": {piece(0x88, "\x13\x88"), 1002, ""},
		"half a code":             {piece(0x88, "\x03"), 1002, ""},
		"a code not for sending":  {piece(0x88, "\x03\xed"), 1002, ""},
		"a code of nobody":        {piece(0x88, "\x07\xd0"), 1002, ""},
		"a reason that is none":   {piece(0x88, "\x03\xe8\xff"), 1002, ""},
	} {
		for _, step := range []int{len(row.sent), 1} {
			code, said := b.spoken(row.sent, step)
			if code != row.code || !strings.Contains(said, row.said) {
				t.Errorf("%s, %d bytes at once: closed with %d after %q", name, step, code, said)
			}
		}
	}
}
