package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/signalcast/signalcast/pkg/grpcx"
	"github.com/signalcast/signalcast/pkg/telemetry"
	feedv1 "github.com/signalcast/signalcast/proto/feed/v1"
	"github.com/signalcast/signalcast/test/system/stack"
)

// Names of the servers that this package can start without the reference program. The reference program provides further servers.
const (
	fanOurs   = "ours"
	fanLimit  = "epoll"       // writes one frame to each connection and nothing else
	fanJoined = "epoll-batch" // collects frames for two milliseconds and writes them together
)

// fanHello is the websocket message that subscribes to the channel live.
const fanHello = `{"op":"subscribe","id":"s","channels":["live"]}`

// fanout compares the delivery of one event to all listeners with the minimum work of one process. The product stores the event,
// assigns a number, sends it through Redis, and writes it to all connections. The reference servers receive the event in an HTTP
// request and only write it. The latency includes the publishing request.
func (b *bench) fanout() {
	s := b.start(nil, stack.Env("MOVEMENT_EVERY", "10m"))
	publish := s.servePublisher()
	anchors := b.buildAnchors("fanout", "so only the built-in limit server is measured")
	servers := slices.DeleteFunc(slices.Clone(b.servers), func(name string) bool {
		return anchors == "" && !slices.Contains([]string{fanOurs, fanLimit, fanJoined}, name)
	})
	all := map[string][]fanResult{}
	for range b.rounds {
		for _, name := range servers {
			b.scope(func() {
				found := b.fanRound(s, name, anchors, publish)
				found.print(name, b.conns)
				all[name] = append(all[name], found)
			})
		}
	}
	b.reportFan(all, servers)
}

// buildAnchors builds the reference program and returns its path. If the source directory is missing, it adds a note to the
// report and returns "". The note contains section (the name of the section) and means (the consequence for it).
func (b *bench) buildAnchors(section, means string) string {
	if _, err := os.Stat(filepath.Join(b.anchors, "go.mod")); err != nil {
		b.report.note("%s: no reference program in %s, %s", section, b.anchors, means)
		return ""
	}
	program := filepath.Join(b.dir, "anchors")
	cmd := exec.CommandContext(b.ctx, "go", "build", "-o", program, ".")
	cmd.Dir, cmd.Env = b.anchors, append(os.Environ(), "GOWORK=off")
	output(cmd)
	return program
}

// fanRound starts the named server, measures it and stops it at the end of the current scope. anchors is the path of the
// reference program, and publish is the URL to which messages for the product are posted.
func (b *bench) fanRound(s *system, name, anchors, publish string) (found fanResult) {
	var url, hello string
	var pid int
	if name == fanOurs {
		api := s.side("api", map[string]string{"RATE_LIMIT_ANON": "600"}) // the default of the service
		url, hello, pid = api.URL, fanHello, api.PID()
	} else {
		addr := stack.FreeAddr(b)
		program, args := anchors, []string{"wssrv", "-impl", name, "-addr", addr}
		if program == "" {
			program, args = own(), []string{"fan-limit", name, addr}
		}
		pid = b.serve(nil, program, args...).PID()
		b.awaitListener(addr)
		url = "http://" + addr
		publish = url + "/publish"
	}
	stack.Wait(b, time.Second) // waits for the end of the server's start
	b.awaitIdle()
	check(json.Unmarshal(output(pinned(b.ctx, loadCore, own(), "fan-load", "-url", url+"/ws", "-publish", publish, "-hello", hello,
		"-pid", strconv.Itoa(pid), "-conns", strconv.Itoa(b.conns), "-for", b.length.String(),
		"-gone="+strconv.FormatBool(name == fanOurs))), &found))
	return found
}

// servePublisher starts an HTTP server that publishes the body of each POST request as a fact of the feed. It returns the URL for
// these requests.
func (s *system) servePublisher() string {
	env := s.Environment(s.b, "api")
	options := untraced(s.b.ctx).DialOptions()
	cc := must(grpcx.Dial(grpcx.DialConfig{Addr: env["GRPC_ADDR"], Secret: env["LINK_SECRET"], Options: options}))
	feed := feedv1.NewFeedServiceClient(cc)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := publishFact(r.Context(), feed, r.Body); err != nil {
			http.Error(w, err.Error(), http.StatusBadGateway)
			return
		}
		w.WriteHeader(http.StatusNoContent)
	}))
	s.b.Cleanup(func() {
		server.Close()
		_ = cc.Close()
	})
	return server.URL + "/publish"
}

func publishFact(ctx context.Context, feed feedv1.FeedServiceClient, body io.Reader) error {
	data, err := io.ReadAll(body)
	if err != nil {
		return err
	}
	id := uuid.Must(uuid.NewV7()).String()
	ctx, cancel := context.WithTimeout(telemetry.WithRequestID(ctx, id), 5*time.Second)
	defer cancel()
	_, err = feed.Publish(ctx, &feedv1.PublishRequest{Facts: []*feedv1.Fact{{
		Id: id, Type: "operator.live", At: timestamppb.Now(), Handle: "bench", Data: strings.TrimSpace(string(data)),
	}}})
	return err
}

// fanResult contains the measurements that the helper program fan-load prints. Memory is in bytes.
type fanResult struct {
	Connect     fanPhase
	Base        int64 // memory of the server before the first connection
	Idle        int64 // memory with all listeners connected
	Loaded      int64 // memory after the bursts
	Gone        int64 // lowest memory after all connections were closed; 0 if not measured
	GoneAfter   time.Duration
	Lost        int // lost connections
	Frame       int // bytes of one text
	Steady      fanPhase
	Burst       fanPhase
	P50, P99    time.Duration // delays of single messages
	First, Late time.Duration // delays until the first listener: median and 99th percentile
}

// fanPhase contains the measurements of one phase of the load: the deliveries, the CPU time of the server, and the duration.
type fanPhase struct {
	Deliveries, Missing int
	CPU, Took           time.Duration
}

func (p fanPhase) each() float64 { return micros(p.CPU, float64(p.Deliveries)) }
func (p fanPhase) rate() float64 { return float64(p.Deliveries) / p.Took.Seconds() }

// memory returns the memory of one idle connection in kB. conns is the number of connections.
func (f fanResult) memory(conns int) float64 { return float64(f.Idle-f.Base) / 1000 / float64(conns) }

func (f fanResult) print(name string, conns int) {
	fmt.Printf("fanout %s: connected in %.1f s and %.0f us CPU each, %.1f kB a connection (%d to %d MB, %d after load), "+
		"frames of %d bytes, %d lost\n", name, f.Connect.Took.Seconds(), f.Connect.each(), f.memory(conns), f.Base>>20, f.Idle>>20,
		f.Loaded>>20, f.Frame, f.Lost)
	if f.Gone > 0 {
		fmt.Printf("fanout %s: %d MB %.1f s after all connections were closed\n", name, f.Gone>>20, f.GoneAfter.Seconds())
	}
	fmt.Printf("fanout %s: single messages p50=%s p99=%s, first listener p50=%s p99=%s, %.2f us CPU a delivery, %d missing; "+
		"bursts %.0f/s, %.2f us, %d missing\n", name, f.P50, f.P99, f.First, f.Late, f.Steady.each(), f.Steady.Missing,
		f.Burst.rate(), f.Burst.each(), f.Burst.Missing)
}

// reportFan compares the product with each of the other servers and with fixed targets, and adds the results to the report. all
// contains the results of the rounds by server name.
func (b *bench) reportFan(all map[string][]fanResult, servers []string) {
	burst := func(f fanResult) float64 { return f.Burst.rate() }
	p99 := func(f fanResult) float64 { return millis(f.P99) }
	memory := func(f fanResult) float64 { return f.memory(b.conns) }
	ratio := func(what, unit string, way better, target float64, name string, of func(fanResult) float64) {
		if len(all[name]) > 0 {
			b.report.ratio("fanout "+what+" / "+name, unit, way, target, each(all[fanOurs], of), each(all[name], of))
		}
	}
	ratio("bursts", "deliveries/s", higher, 0.7, fanJoined, burst)
	ratio("single messages p99", "ms", lower, 1.25, fanLimit, p99)
	for _, name := range servers {
		if name == fanOurs {
			continue
		}
		ratio("bursts, all rounds", "deliveries/s", higher, 0, name, burst)
		ratio("bursts, cpu a delivery", "us", lower, 0, name, func(f fanResult) float64 { return f.Burst.each() })
		ratio("single messages, cpu a delivery", "us", lower, 0, name, func(f fanResult) float64 { return f.Steady.each() })
		ratio("single messages p50", "ms", lower, 0, name, func(f fanResult) float64 { return millis(f.P50) })
		ratio("single messages p99, all", "ms", lower, 0, name, p99)
		ratio("memory of an idle connection", "kB", lower, 0, name, memory)
	}
	ours := func(job, unit string, target float64, of func(fanResult) float64, limit []float64) {
		b.report.ratio("fanout "+job, unit, lower, target, each(all[fanOurs], of), limit)
	}
	ours("first listener, from the call / 5 ms", "ms", 1, func(f fanResult) float64 { return millis(f.First) }, []float64{5})
	ours("idle connection / 14 kB", "kB", 1, memory, []float64{14})
	ours("memory when all have left / before", "MB", 1.10, func(f fanResult) float64 { return float64(f.Gone) / 1e6 },
		each(all[fanOurs], func(f fanResult) float64 { return float64(f.Base) / 1e6 }))
}
