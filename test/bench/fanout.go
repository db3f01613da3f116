package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/google/uuid"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/signalcast/signalcast/pkg/link"
	"github.com/signalcast/signalcast/pkg/localdb"
	feedv1 "github.com/signalcast/signalcast/proto/feed/v1"
)

// The servers of a round that are known by name; others may take part.
const (
	fanOurs = "ours"
	// fanLimit writes one frame to each descriptor of an epoll and does nothing else;
	// fanJoined waits two milliseconds and joins what came.
	fanLimit  = "epoll"
	fanJoined = "epoll-batch"
)

// fanHello subscribes to a channel of facts.
const fanHello = `{"op":"subscribe","id":"s","channels":["live"]}`

// fanout compares one event that reaches everybody with the least that a process can
// do for it. Everything that is published here is a fact like any other: it is stored,
// numbered, sent through Redis and then handed to all connections, and the time runs
// from before its call. The references are told by an HTTP request and do nothing but
// write.
func (b *bench) fanout(ctx context.Context) error {
	b.endStack()
	s, err := startStack(ctx, b.dir, "fanout", "MOVEMENT_EVERY=10m")
	if err != nil {
		return err
	}
	defer s.stop(b.logs)
	door, shut, err := s.publisher(ctx)
	if err != nil {
		return err
	}
	defer shut()
	anchors, err := b.buildAnchors(ctx, "fanout", "so the limit is our own and no other library takes part")
	if err != nil {
		return err
	}
	servers := slices.DeleteFunc(slices.Clone(b.servers), func(name string) bool {
		return anchors == "" && !slices.Contains([]string{fanOurs, fanLimit, fanJoined}, name)
	})
	all := map[string][]fanFound{}
	for range b.rounds {
		for _, name := range servers {
			found, err := b.fanRound(ctx, s, name, anchors, door)
			if err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
			b.tellFan(name, found)
			all[name] = append(all[name], found)
		}
	}
	b.judgeFan(all, servers)
	return nil
}

// buildAnchors builds the program with the references, where there is one, and says what
// its absence means to a section.
func (b *bench) buildAnchors(ctx context.Context, section, means string) (string, error) {
	if _, err := os.Stat(filepath.Join(b.anchors, "go.mod")); err != nil {
		b.report.note("%s: no references in %s, %s", section, b.anchors, means)
		return "", nil
	}
	program := filepath.Join(b.dir, "anchors")
	cmd := exec.CommandContext(ctx, "go", "build", "-o", program, ".")
	cmd.Dir, cmd.Env = b.anchors, append(os.Environ(), "GOWORK=off")
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build the references: %w\n%s", err, bytes.TrimSpace(out))
	}
	return program, nil
}

// fanRound measures one server from its start to its end.
func (b *bench) fanRound(ctx context.Context, s *stack, name, anchors, door string) (fanFound, error) {
	var (
		url, hello string
		child      *localdb.Child
		err        error
	)
	publish := door
	if name == fanOurs {
		port, err := localdb.FreePort()
		if err != nil {
			return fanFound{}, err
		}
		// The limits of the public stay on.
		url, child, err = s.pinned(ctx, "api", "GRPC_ADDR=127.0.0.1:"+strconv.Itoa(port), "RATE_LIMIT_ANON=600")
		if err != nil {
			return fanFound{}, err
		}
		hello = fanHello
	} else {
		if url, child, err = startAnchor(ctx, anchors, name); err != nil {
			return fanFound{}, err
		}
		publish = url + "/publish"
	}
	defer child.Stop(context.Background(), syscall.SIGTERM, 10*time.Second)
	pause(ctx, settleBefore)
	b.calm(ctx)
	self, err := os.Executable()
	if err != nil {
		return fanFound{}, err
	}
	var stderr bytes.Buffer
	cmd := pinned(ctx, loadCore, self, "fan-load", "-url", url+"/ws", "-publish", publish, "-hello", hello, "-pid", strconv.Itoa(child.PID()),
		"-conns", strconv.Itoa(b.conns), "-for", b.length.String(), "-gone="+strconv.FormatBool(name == fanOurs))
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return fanFound{}, commandError(err, stderr.Bytes())
	}
	var f fanFound
	return f, json.Unmarshal(out, &f)
}

// settleBefore lets a server that has just started end what it does then.
const settleBefore = time.Second

// startAnchor starts a reference server on the server's core.
func startAnchor(ctx context.Context, program, name string) (url string, child *localdb.Child, err error) {
	port, err := localdb.FreePort()
	if err != nil {
		return "", nil, err
	}
	addr := "127.0.0.1:" + strconv.Itoa(port)
	args := []string{"wssrv", "-impl", name, "-addr", addr}
	if program == "" {
		if program, err = os.Executable(); err != nil {
			return "", nil, err
		}
		args = []string{"fan-limit", name, addr}
	}
	cmd := pinned(context.Background(), serverCore, program, args...)
	cmd.Env = append(os.Environ(), "GOMAXPROCS=1")
	if child, err = localdb.StartChild(cmd, syscall.SIGTERM); err != nil {
		return "", nil, err
	}
	if err := listens(ctx, addr); err != nil {
		child.Stop(context.Background(), syscall.SIGTERM, time.Second)
		return "", nil, err
	}
	return "http://" + addr, child, nil
}

// publisher is where the load posts what the feed is to tell: the same door as the
// references have, before the call that the services use among themselves.
func (s *stack) publisher(ctx context.Context) (url string, shut func(), err error) {
	secret, err := setting(s.pid("api"), "LINK_SECRET")
	if err != nil {
		return "", nil, err
	}
	addr, err := setting(s.pid("api"), "GRPC_ADDR")
	if err != nil {
		return "", nil, err
	}
	tracing, err := untraced(ctx)
	if err != nil {
		return "", nil, err
	}
	cc, err := link.Dial(link.DialConfig{Addr: addr, Secret: secret, Options: tracing.DialOptions()})
	if err != nil {
		return "", nil, err
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		_ = cc.Close()
		return "", nil, err
	}
	feed := feedv1.NewFeedServiceClient(cc)
	server := &http.Server{ReadHeaderTimeout: time.Hour, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := tellFact(r.Context(), feed, r.Body); err != nil {
			http.Error(w, err.Error(), http.StatusBadGateway)
			return
		}
		w.WriteHeader(http.StatusNoContent)
	})}
	done := make(chan struct{})
	go func() {
		defer close(done)
		if err := server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
			fmt.Fprintln(os.Stderr, "bench: publisher:", err)
		}
	}()
	return "http://" + l.Addr().String() + "/publish", func() {
		_ = server.Close()
		_ = cc.Close()
		<-done
	}, nil
}

// tellFact makes what was posted a fact of the feed.
func tellFact(ctx context.Context, feed feedv1.FeedServiceClient, body io.Reader) error {
	data, err := io.ReadAll(io.LimitReader(body, 16<<10))
	if err != nil {
		return err
	}
	id, err := uuid.NewV7()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(link.WithRequestID(ctx, id.String()), 5*time.Second)
	defer cancel()
	_, err = feed.Publish(ctx, &feedv1.PublishRequest{Facts: []*feedv1.Fact{{
		Id: id.String(), Type: "operator.live", At: timestamppb.Now(), Handle: "bench", Data: strings.TrimSpace(string(data)),
	}}})
	return err
}

func (b *bench) tellFan(name string, f fanFound) {
	fmt.Printf("fanout %s: connected in %.1f s and %.0f us CPU each, %.1f kB a connection (%d to %d MB, %d after load), frames of %d bytes, %d lost\n",
		name, f.Connect.Took.Seconds(), f.Connect.each(), f.each(b.conns), f.Base>>20, f.Idle>>20, f.Loaded>>20, f.Frame, f.Lost)
	if f.Gone > 0 {
		fmt.Printf("fanout %s: %d MB %.1f s after all have left\n", name, f.Gone>>20, f.GoneAfter.Seconds())
	}
	fmt.Printf("fanout %s: single messages p50=%s p99=%s, first listener p50=%s p99=%s, %.2f us CPU a delivery, %d missing; bursts %.0f/s, %.1f in a read, %.2f us, %d missing\n",
		name, f.P50, f.P99, f.First, f.Late, f.Steady.each(), f.Steady.Missing, f.Burst.rate(), float64(f.Burst.Deliveries)/float64(max(f.Burst.Reads, 1)), f.Burst.each(), f.Burst.Missing)
}

// fanFound is what the loading process tells.
type fanFound struct {
	Connect     fanPhase
	Base        int64 // resident memory of the server, before
	Idle        int64 // with all connected
	Loaded      int64 // behind the bursts
	Gone        int64 // when all have left, as low as it came; 0 where nobody waits for it
	GoneAfter   time.Duration
	Lost        int
	Frame       int // bytes of one text
	Steady      fanPhase
	Burst       fanPhase
	P50, P99    time.Duration // of single messages
	First, Late time.Duration // until the first listener had one: median and p99
}

type fanPhase struct {
	Sent, Deliveries, Missing int
	Reads                     int // in which the deliveries came
	CPU                       time.Duration
	Took                      time.Duration
}

// each is the memory of one idle connection in kB.
func (f fanFound) each(conns int) float64 { return float64(f.Idle-f.Base) / 1000 / float64(conns) }

func (p fanPhase) each() float64 { return micros(p.CPU, float64(p.Deliveries)) }
func (p fanPhase) rate() float64 { return float64(p.Deliveries) / p.Took.Seconds() }

// judgeFan compares the rounds.
func (b *bench) judgeFan(all map[string][]fanFound, servers []string) {
	of := func(name string, figure func(fanFound) float64) []float64 {
		var out []float64
		for _, f := range all[name] {
			out = append(out, figure(f))
		}
		return out
	}
	rate := func(f fanFound) float64 { return f.Burst.rate() }
	late := func(f fanFound) float64 { return float64(f.P99.Microseconds()) / 1000 }
	memory := func(f fanFound) float64 { return f.each(b.conns) }
	ratio := func(what, unit string, way better, target float64, name string, figure func(fanFound) float64) {
		if len(all[name]) > 0 {
			b.report.ratio("fanout "+what+" / "+name, unit, way, target, of(fanOurs, figure), of(name, figure))
		}
	}
	ratio("bursts", "deliveries/s", higher, 0.7, fanJoined, rate)
	ratio("single messages p99", "ms", lower, 1.25, fanLimit, late)
	for _, name := range servers {
		if name == fanOurs {
			continue
		}
		ratio("bursts, all rounds", "deliveries/s", higher, 0, name, rate)
		ratio("bursts, cpu a delivery", "us", lower, 0, name, func(f fanFound) float64 { return f.Burst.each() })
		ratio("single messages, cpu a delivery", "us", lower, 0, name, func(f fanFound) float64 { return f.Steady.each() })
		ratio("single messages p50", "ms", lower, 0, name, func(f fanFound) float64 { return float64(f.P50.Microseconds()) / 1000 })
		ratio("single messages p99, all", "ms", lower, 0, name, late)
		ratio("memory of an idle connection", "kB", lower, 0, name, memory)
	}
	b.report.ratio("fanout first listener, from the call / 5 ms", "ms", lower, 1, of(fanOurs, func(f fanFound) float64 { return float64(f.First.Microseconds()) / 1000 }), []float64{5})
	b.report.ratio("fanout idle connection / 14 kB", "kB", lower, 1, of(fanOurs, memory), []float64{14})
	b.report.ratio("fanout memory when all have left / before", "MB", lower, 1.10, of(fanOurs, func(f fanFound) float64 { return float64(f.Gone) / 1e6 }), of(fanOurs, func(f fanFound) float64 { return float64(f.Base) / 1e6 }))
}
