package rows

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"sync/atomic"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/emptypb"

	"github.com/signalcast/signalcast/test/prove/internal/frame"
	"github.com/signalcast/signalcast/test/prove/stack"
)

// l6 asks the public listeners for what only operators may see, spelt in every way, and
// looks at what each process listens on.
var l6 = frame.Row{
	ID: "L6", Title: "what operators look at is not public",
	Fault: frame.Fault{What: "the list of routes stands under /debug"},
	Run: func(ctx context.Context, env *frame.Env) (*frame.Seen, error) {
		seen := frame.NewSeen()
		asked, found := 0, atomic.Int64{}
		for _, process := range []string{"hub", "hub-2", "api", "clock"} {
			told, err := stack.Environment(env.Stack.PID(process))
			if err != nil {
				return nil, err
			}
			c := &crawler{name: process, addr: told["HTTP_ADDR"], inner: told["METRICS_ADDR"], seen: seen, found: &found}
			if err := c.control(ctx); err != nil {
				return nil, err
			}
			targets := c.targets()
			frame.Each(len(targets), 2*abreast, func(i int) { c.ask(ctx, i, targets[i]) })
			asked += len(targets)
			asked += c.innerSpeech(ctx)
			open, err := boundBy(env.Stack.PID(process))
			if err != nil {
				return nil, err
			}
			c.listens(open, told)
		}
		refused, err := publicMetrics(ctx, env, seen)
		if err != nil {
			return nil, err
		}
		seen.Promise("found 0", fmt.Sprintf("found %d", found.Load()))
		seen.Volume("%s requests at 4 listeners, %d addresses for metrics refused", frame.Number(asked), refused)
		return seen, ctx.Err()
	},
}

// innerSpeech tries to speak gRPC to the public face: by a client of it, by the first
// bytes of HTTP/2, and by the switch from HTTP/1.
func (c *crawler) innerSpeech(ctx context.Context) (tries int) {
	for _, method := range insides[len(insides)-3:] {
		tries++
		err := speak(ctx, c.addr, "/"+method)
		if code := status.Code(err); code != codes.Unavailable && code != codes.DeadlineExceeded {
			c.wrong("it speaks gRPC: %s: %v", method, err)
		}
	}
	for what, said := range map[string]string{
		"the first bytes of HTTP/2": "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\x00\x00\x00\x04\x00\x00\x00\x00\x00",
		"the switch to HTTP/2":      "GET /metrics HTTP/1.1\r\nHost: " + c.addr + "\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQCAAAAAAIAAAAA\r\n\r\n",
	} {
		tries++
		first, err := firstWords(ctx, c.addr, said)
		if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, os.ErrDeadlineExceeded) {
			c.seen.Wrong("%s: %s: %v", c.name, what, err)
		}
		if first != "" && !strings.HasPrefix(first, "HTTP/1.1 4") {
			c.wrong("%s is answered %q", what, first)
		}
	}
	return tries
}

// speak makes a call without arguments at an address.
func speak(ctx context.Context, addr, method string) error {
	conn, err := grpc.NewClient("passthrough:///"+addr, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		return status.Error(codes.Internal, err.Error())
	}
	defer func() { _ = conn.Close() }()
	ctx, cancel := context.WithTimeout(ctx, 3*time.Second)
	defer cancel()
	return conn.Invoke(ctx, method, &emptypb.Empty{}, &emptypb.Empty{})
}

// firstWords is what a listener says to a first word.
func firstWords(ctx context.Context, addr, said string) (string, error) {
	conn, err := (&net.Dialer{Timeout: 5 * time.Second}).DialContext(ctx, "tcp", addr)
	if err != nil {
		return "", err
	}
	defer func() { _ = conn.Close() }()
	_ = conn.SetDeadline(time.Now().Add(3 * time.Second))
	if _, err := conn.Write([]byte(said)); err != nil {
		return "", err
	}
	raw := make([]byte, 64)
	n, err := io.ReadAtLeast(conn, raw, 9)
	return string(raw[:n]), err
}
