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

	"github.com/signalcast/signalcast/test/system/stack"
)

// options contains the values of the command line flags.
type options struct {
	only    []string
	length  time.Duration // length of one measurement
	rounds  int
	quiet   time.Duration // longest wait until other work pauses
	clients []int
	sizes   []int
	ledgers []int    // numbers of calls in the large ledgers
	conns   int      // listeners in the section fanout
	servers []string // servers in the section fanout
	buffers string   // shared_buffers of the large ledgers
	anchors string   // source directory of the reference program for fanout and clock
	against string   // revision of the older tree to compare with
	out     string
	logs    string // directory for the logs of the services; empty: the logs are deleted
}

// sections lists the sections, which are groups of measurements, in the order in which they run.
var sections = []struct {
	name   string
	shared bool // uses the system that the shared sections have in common
	run    func(*bench)
}{
	{"reads", true, (*bench).reads},
	{"search", true, (*bench).search},
	{"write", true, (*bench).write},
	{"resolve", true, (*bench).resolve},
	{"hop", false, (*bench).hop},
	{"fanout", false, (*bench).fanout},
	{"clock", false, (*bench).clock},
	{"catalogue", false, (*bench).catalogue},
	{"scale", false, (*bench).scale},
}

// helpers contains the functions of the helper programs by name. bench starts a helper program from its own executable, with the
// name as the first argument.
var helpers = map[string]func(ctx context.Context, args []string){
	"hop-server":   hopServer,
	"hop-load":     hopLoad,
	"plain-server": plainServer,
	"fan-load":     fanLoad,
	"fan-limit":    limitServer,
}

func main() {
	ctx, cancel := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer cancel()
	err := recoverError(func() {
		if len(os.Args) > 1 && helpers[os.Args[1]] != nil {
			helpers[os.Args[1]](ctx, os.Args[2:])
		} else {
			measure(ctx, os.Args[1:])
		}
	})
	if err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func readOptions(args []string) (o options) {
	var only, servers, names string
	for _, s := range sections {
		names += ", " + s.name
	}
	fs := flag.NewFlagSet("bench", flag.ContinueOnError)
	fs.StringVar(&only, "only", "", "comma list of sections to run (empty: all): "+names[2:])
	fs.DurationVar(&o.length, "for", 6*time.Second, "length of one measurement")
	fs.IntVar(&o.rounds, "rounds", 3, "rounds, in which product and limit alternate (default with -against: 5)")
	fs.DurationVar(&o.quiet, "quiet", 15*time.Second, "longest wait for other work on the machine to pause")
	clients := fs.String("clients", "8,64,256", "numbers of clients that file calls (default with -against: 8,64)")
	sizes := fs.String("sizes", "10000,100000", "numbers of calls on the resolved market")
	ledgers := fs.String("ledgers", "1000000", "numbers of calls in the ledgers that are compared with one of 10,000")
	fs.StringVar(&o.buffers, "buffers", "2GB", "shared buffers of those ledgers; ten million calls have 10 GB of pages")
	fs.IntVar(&o.conns, "conns", 10_000, "listeners of the fan-out")
	fs.StringVar(&servers, "servers", "epoll,epoll-batch,ours,coder-raw-batch,coder-serial", "alternating servers of the fan-out")
	fs.StringVar(&o.anchors, "anchors", "../shared/bench/perfkit", "directory of the program with references of fanout and clock")
	fs.StringVar(&o.against, "against", "", "revision to compare with: filing, and the ratios of the sections of -only")
	dir := fs.String("dir", "/var/tmp", "directory on disk for the data")
	fs.StringVar(&o.out, "out", "bench.json", "file for the result")
	fs.StringVar(&o.logs, "logs", "", "directory for the logs of the services")
	check(fs.Parse(args))
	if only != "" {
		o.only = strings.Split(only, ",")
	}
	o.servers = strings.Split(servers, ",")
	given := map[string]bool{}
	fs.Visit(func(f *flag.Flag) { given[f.Name] = true })
	if o.against != "" && !given["clients"] {
		*clients = "8,64" // with fewer clients, work that does not depend on calls is a large share
	}
	o.clients, o.sizes, o.ledgers = numbers(*clients), numbers(*sizes), numbers(*ledgers)
	check(os.MkdirAll(*dir, 0o711))
	check(os.Setenv("TMPDIR", *dir)) // package stack must use this directory too; the default may be in memory
	switch {
	case !slices.Contains(o.servers, fanOurs):
		check(fmt.Errorf("-servers must contain %s", fanOurs))
	case o.rounds < 1 || o.length < 100*time.Millisecond:
		check(errors.New("-rounds must be at least 1 and -for at least 100ms"))
	case o.against != "" && !given["rounds"]:
		o.rounds = 5
	}
	return o
}

func numbers(list string) (out []int) {
	for s := range strings.SplitSeq(list, ",") {
		var n int
		if _, err := fmt.Sscan(s, &n); err != nil || n < 1 {
			check(fmt.Errorf("%q must be a comma-separated list of numbers", list))
		}
		out = append(out, n)
	}
	return out
}

func measure(ctx context.Context, args []string) {
	o := readOptions(args)
	b := &bench{options: o, ctx: ctx, report: newReport(o)}
	b.requirePrograms()
	b.dir = must(os.MkdirTemp("", "signalcast-bench-"))
	defer func() { _ = os.RemoveAll(b.dir) }()
	check(os.Chmod(b.dir, 0o711)) // the database runs as another user
	check(os.Setenv("TMPDIR", b.dir))
	if o.against != "" {
		b.scope(b.compareTrees)
	} else {
		b.scope(b.runShared)
		for _, s := range sections {
			if b.selected(s.name) && !s.shared {
				fmt.Println("section", s.name)
				b.scope(func() { s.run(b) })
			}
		}
	}
	b.report.summary()
	b.report.save(o.out)
}

// runShared runs the selected sections that share one system. It starts the system when the first of them needs it.
func (b *bench) runShared() {
	for _, s := range sections {
		if !b.selected(s.name) || !s.shared {
			continue
		}
		if b.main == nil {
			// The default period for reading market movements.
			b.main = b.start(nil, stack.Env("MOVEMENT_EVERY", "60s"))
			b.main.fill()
			if b.selected("reads") || b.selected("search") {
				b.main.addBook()
			}
		}
		fmt.Println("section", s.name)
		b.scope(func() { s.run(b) })
	}
}

// selected reports whether a section is selected.
func (b *bench) selected(section string) bool {
	return len(b.only) == 0 || slices.Contains(b.only, section)
}
