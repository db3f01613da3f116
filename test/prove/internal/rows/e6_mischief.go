package rows

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/signalcast/signalcast/test/prove/internal/frame"
	"github.com/signalcast/signalcast/test/system/wsclient"
)

// mischief is something that no good client sends.
type mischief struct {
	name string
	send []byte
	code int    // with which the connection ends; 0: it stays
	told string // then: what it is told
}

// badFrames are frames that are too large, too many, or none.
func badFrames() []mischief {
	const most = 8 << 10
	text := func(s string) []byte { return wsclient.Frame(wsclient.Text, true, []byte(s)) }
	piece := wsclient.Frame(wsclient.More, false, bytes.Repeat([]byte("x"), 1<<10))
	begun := wsclient.Frame(wsclient.Text, false, []byte(`{"op":"ping","pad":"`))
	ping := text(`{"op":"ping"}`)
	of := func(parts ...[]byte) []byte { return slices.Concat(parts...) }
	refused := func(name, frame string) mischief {
		return mischief{name: name, send: text(frame), told: `{"op":"error","error":"invalid_frame"`}
	}
	return []mischief{
		{"a frame over 8 KiB", text(strings.Repeat(" ", most+1)), 1009, ""},
		{"a gigabyte that is announced", of(wsclient.Head(0x81, 1<<30), bytes.Repeat([]byte("x"), 2*most)), 1009, ""},
		{"a message that never ends", of(begun, bytes.Repeat(piece, 12)), 1009, ""},
		{"10,000 messages at once", bytes.Repeat(ping, 10_000), 4029, ""},
		{"10,000 pings at once", bytes.Repeat(wsclient.Frame(wsclient.Ping, true, []byte("?")), 10_000), 4029, ""},
		{"10,000 pongs at once", bytes.Repeat(wsclient.Frame(wsclient.Pong, true, nil), 10_000), 4029, ""},
		{"10,000 empty pieces", of(begun, bytes.Repeat(wsclient.Frame(wsclient.More, false, nil), 10_000)), 4029, ""},
		{"10,000 empty messages", bytes.Repeat(text(""), 10_000), 4029, ""},
		{"a binary frame", wsclient.Frame(wsclient.Binary, true, []byte(`{"op":"ping"}`)), 1003, ""},
		{"a compressed frame that nobody agreed on", wsclient.Frame(wsclient.Text|0x40, true, []byte("x")), 1002, ""},
		{"an opcode that is none", wsclient.Frame(0x3, true, nil), 1002, ""},
		{"a ping of 126 bytes", wsclient.Frame(wsclient.Ping, true, make([]byte, 126)), 1002, ""},
		{"a ping in pieces", wsclient.Frame(wsclient.Ping, false, nil), 1002, ""},
		{"a piece of nothing", piece, 1002, ""},
		{"a message within a message", of(begun, ping), 1002, ""},
		{"a frame without a mask", []byte("\x81\x0d{\"op\":\"ping\"}"), 1002, ""},
		{"a length below nothing", wsclient.Head(0x81, 1<<63), 1009, ""},
		refused("no JSON", `{"op":`),
		refused("no object", `["ping"]`),
		refused("two objects", `{"op":"ping"}{"op":"ping"}`),
		refused("deep JSON", strings.Repeat("[", most)),
		refused("deep objects", strings.Repeat(`{"a":`, most/5)),
		refused("a member twice", `{"op":"ping","op":"ping"}`),
		refused("broken UTF-8", "{\"op\":\"ping\",\"id\":\"\xff\"}"),
		refused("a zero", "{\"op\":\"ping\",\"id\":\"\\u0000\"}"),
		refused("an unknown op", `{"op":"publish"}`),
		{"a place that is none", text(`{"op":"subscribe","channels":["signals"],"since":{"signals":-1}}`), 0, `"error":"invalid_since"`},
		{"a channel that is none", text(`{"op":"subscribe","channels":["market:../../etc"]}`), 0, `"error":"unknown_channel"`},
		{"another's channel", text(`{"op":"subscribe","channels":["me:mara"]}`), 0, `"error":"unknown_channel"`},
		{"the 51st channel", text(manyChannels(51)), 0, `"error":"limit_reached"`},
		{"a key that is none", text(`{"op":"auth","token":"dk_` + strings.Repeat("A", 43) + `"}`), 4001, ""},
	}
}

func manyChannels(n int) string {
	names := make([]string, n)
	for i := range names {
		names[i] = fmt.Sprintf(`"market:%d"`, 900_000+i)
	}
	return `{"op":"subscribe","channels":[` + strings.Join(names, ",") + `]}`
}

// until reads until a text with these words came.
func until(c *wsclient.Conn, words string, within time.Duration) error {
	for end := time.Now().Add(within); ; {
		_, text, err := c.Next(time.Until(end))
		if err != nil {
			return fmt.Errorf("no answer %s: %w", words, err)
		}
		if bytes.Contains(text, []byte(words)) {
			return nil
		}
	}
}

// tooMany opens more connections than an address or a key may have.
func (v *vandal) tooMany(ctx context.Context) error {
	ops, err := pool(ctx, v.env, "e6", 1, 1)
	if err != nil {
		return err
	}
	v.judge("the 21st connection of an address", v.full(ctx, perAddress, func(int) net.IP { return v.host.homes.at(100) }))
	key := "Authorization: Bearer " + string(ops[0].Keys[0])
	const perKey = 5
	v.judge("the 6th connection of a key", v.full(ctx, perKey, func(int) net.IP { return v.home() }, key))
	var open []*wsclient.Conn
	defer func() { leave(open) }()
	_, err = frame.Until(ctx, 20*time.Second, func() (bool, error) { // those before it are just being forgotten
		c, err := v.host.dial.Open(ctx, v.home(), key)
		if err == nil {
			open = append(open, c)
		}
		return len(open) == perKey, nil
	})
	if err != nil {
		return err
	}
	v.judge("the 6th connection of a key, by a frame", v.commit(ctx, mischief{
		send: wsclient.Frame(wsclient.Text, true, []byte(`{"op":"auth","token":"`+string(ops[0].Keys[0])+`"}`)), code: 4029,
	}))
	return nil
}

// full opens as many as may be and one more, and sees that a place that is given back
// can be had again.
func (v *vandal) full(ctx context.Context, most int, from func(int) net.IP, lines ...string) error {
	open := make([]*wsclient.Conn, most)
	defer func() { leave(open) }()
	for i := range open {
		c, err := v.host.dial.Open(ctx, from(i), lines...)
		if err != nil {
			return fmt.Errorf("number %d: %w", i+1, err)
		}
		open[i] = c
	}
	c, err := v.host.dial.Open(ctx, from(most), lines...)
	var no *wsclient.Refusal
	switch {
	case err == nil:
		c.Close()
		return errors.New("it is let in")
	case !errors.As(err, &no) || no.Status != http.StatusTooManyRequests || !strings.Contains(no.Body, `"rate_limited"`) || no.Header.Get("Retry-After") == "":
		return err
	}
	open[0].Close()
	again, err := frame.Until(ctx, 20*time.Second, func() (bool, error) {
		open[0], err = v.host.dial.Open(ctx, from(0), lines...)
		return err == nil, nil
	})
	if err == nil && !again {
		err = errors.New("a place that was given back is lost")
	}
	return err
}
