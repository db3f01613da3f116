package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"
)

// options of a run.
type options struct {
	only    []string
	length  time.Duration // of one measured stretch
	rounds  int
	quiet   time.Duration // longest wait for other work to pause
	clients []int
	sizes   []int
	ledgers []int    // sizes of the whole ledger
	conns   int      // listeners of the fan-out
	servers []string // that take turns in it
	buffers string   // of the database under a large ledger
	anchors string   // directory of the reference servers of the fan-out and of the bare programme
	dir     string
	out     string
	logs    string // where the logs of the services are kept; empty: nowhere
}

// sections in the order in which they run.
var sections = []struct {
	name string
	run  func(*bench, context.Context) error
}{
	{"reads", (*bench).reads},
	{"search", (*bench).search},
	{"write", (*bench).write},
	{"resolve", (*bench).resolve},
	{"hop", (*bench).hop},
	{"fanout", (*bench).fanout},
	{"clock", (*bench).clock},
	{"catalogue", (*bench).catalogue},
	{"scale", (*bench).scale},
}

func main() {
	ctx, cancel := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer cancel()
	run := func() error { return measure(ctx, os.Args[1:]) }
	if len(os.Args) > 1 && helpers[os.Args[1]] != nil {
		run = func() error { return helpers[os.Args[1]](ctx, os.Args[2:]) }
	}
	if err := run(); err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// helpers are the programs that this one starts from itself.
var helpers = map[string]func(context.Context, []string) error{
	"hop-server":   hopServer,
	"plain-server": plainServer,
	"hop-load":     hopLoad,
	"fan-load":     fanLoad,
	"fan-limit":    limitServer,
}

func readOptions(args []string) (options, error) {
	var o options
	var only, clients, sizes, ledgers, servers string
	fs := flag.NewFlagSet("bench", flag.ContinueOnError)
	fs.StringVar(&only, "only", "", "sections to run: reads, search, write, resolve, hop, fanout, clock, catalogue, scale (comma list; empty: all)")
	fs.DurationVar(&o.length, "for", 6*time.Second, "length of one measured stretch")
	fs.IntVar(&o.rounds, "rounds", 3, "rounds; limit and product take turns")
	fs.DurationVar(&o.quiet, "quiet", 15*time.Second, "longest wait for other work on the machine to pause")
	fs.StringVar(&clients, "clients", "8,64,256", "clients of the write")
	fs.StringVar(&sizes, "sizes", "10000,100000", "signals on the resolved market")
	fs.StringVar(&ledgers, "ledgers", "1000000", "calls of the ledgers that are held against one of 10,000")
	fs.StringVar(&o.buffers, "buffers", "2GB", "shared buffers of those ledgers; ten million calls have 10 GB of pages")
	fs.IntVar(&o.conns, "conns", 10_000, "listeners of the fan-out")
	fs.StringVar(&servers, "servers", "epoll,epoll-batch,ours,coder-raw-batch,coder-serial", "servers of the fan-out, which take turns")
	fs.StringVar(&o.anchors, "anchors", "../shared/bench/perfkit", "directory of a program with the reference servers of the fan-out and the bare programme")
	fs.StringVar(&o.dir, "dir", "", "directory on disk for the data (default: one in the temporary directory)")
	fs.StringVar(&o.out, "out", "bench.json", "where the result goes")
	fs.StringVar(&o.logs, "logs", "", "directory that keeps the logs of the services")
	if err := fs.Parse(args); err != nil {
		return o, err
	}
	if only != "" {
		o.only = strings.Split(only, ",")
	}
	o.servers = strings.Split(servers, ",")
	for _, list := range []struct {
		text string
		to   *[]int
	}{{clients, &o.clients}, {sizes, &o.sizes}, {ledgers, &o.ledgers}} {
		for s := range strings.SplitSeq(list.text, ",") {
			var n int
			if _, err := fmt.Sscan(s, &n); err != nil || n < 1 {
				return o, fmt.Errorf("%q is not a list of numbers", list.text)
			}
			*list.to = append(*list.to, n)
		}
	}
	if !slices.Contains(o.servers, fanOurs) {
		return o, fmt.Errorf("-servers must name %s", fanOurs)
	}
	if o.rounds < 1 || o.length < 100*time.Millisecond {
		return o, errors.New("at least one round of 100ms is needed")
	}
	return o, nil
}

// bench is one run.
type bench struct {
	options
	dir    string // of this run
	stack  *stack
	seed   *seed
	report report
}

func measure(ctx context.Context, args []string) error {
	o, err := readOptions(args)
	if err != nil {
		return err
	}
	if err := tools(o); err != nil {
		return err
	}
	b := &bench{options: o, report: newReport(o)}
	if b.dir, err = workDir(o.dir); err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(b.dir) }()
	if slices.ContainsFunc([]string{"reads", "search", "write", "resolve"}, b.wants) {
		// The markets are read for movement as often as in service.
		if b.stack, err = startStack(ctx, b.dir, "stack", "MOVEMENT_EVERY=60s"); err != nil {
			return err
		}
		defer func() { b.endStack() }()
		if b.seed, err = fill(ctx, b.stack); err != nil {
			return fmt.Errorf("fill the database: %w", err)
		}
		if b.wants("reads") || b.wants("search") {
			if err := b.seed.addBook(ctx); err != nil {
				return fmt.Errorf("fill the catalogue: %w", err)
			}
		}
	}
	for _, s := range sections {
		if !b.wants(s.name) {
			continue
		}
		if err := s.run(b, ctx); err != nil {
			return fmt.Errorf("%s: %w", s.name, err)
		}
	}
	b.report.summary()
	return b.report.save(o.out)
}

// endStack stops the stack that the first sections share, once.
func (b *bench) endStack() {
	if b.stack != nil {
		b.seed.close()
		b.stack.stop(b.logs)
		b.stack = nil
	}
}

func (b *bench) wants(section string) bool {
	return len(b.only) == 0 || slices.Contains(b.only, section)
}

// workDir is where everything of one run lives.
func workDir(parent string) (string, error) {
	if parent == "" {
		// Not os.TempDir: that may be in memory, and the data has to be on disk.
		parent = "/var/tmp"
	}
	if err := os.MkdirAll(parent, 0o711); err != nil {
		return "", err
	}
	dir, err := os.MkdirTemp(parent, "signalcast-bench-")
	if err != nil {
		return "", err
	}
	// The database runs as another user.
	return dir, os.Chmod(dir, 0o711)
}
