package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/signalcast/signalcast/deploy/local/internal/career"
)

// replayCmd drives a whole career against a running stack through its public
// doors and works everything out a second time.
type replayCmd struct {
	File      string `arg:"" optional:"" help:"Career to replay: CSV with the columns source,id,question,priced_at,yes_bps,outcome_yes,resolved_on,closes_at,url. Without it one is invented from the seed." type:"existingfile"`
	Dir       string `default:".local" help:"State directory of the stack."`
	Seed      uint64 `default:"1" help:"Decides who calls what, and the invented career."`
	Operators int    `default:"200" help:"How many operators call; at least 10."`
	Questions int    `default:"712" help:"Length of an invented career."`
	Tolerance int    `default:"1000" env:"PRICE_TOLERANCE_BPS" help:"The stack's price tolerance in basis points."`
	Rows      int    `default:"30" help:"How many rows of the board to print."`
}

const (
	maxOperators = 5000
	maxQuestions = 100_000
	width        = 32 // acts under way at a time, where they are ours to bundle
	callers      = 96 // operators that call at a time
)

// Run is the whole replay; differences are an error.
func (c *replayCmd) Run(ctx context.Context) error {
	if err := c.checkFlags(); err != nil {
		return err
	}
	s, err := readStack(c.Dir)
	if err != nil {
		return fmt.Errorf("%w; start one with: go run ./deploy/local up", err)
	}
	questions, err := c.career(os.Stdout)
	if err != nil {
		return err
	}
	return c.drive(ctx, s, questions, os.Stdout)
}

func (c *replayCmd) checkFlags() error {
	if c.Operators < career.MinOperators || c.Operators > maxOperators {
		return fmt.Errorf("--operators must be %d to %d: at least %d call each question", career.MinOperators, maxOperators, career.MinOperators)
	}
	if c.Questions < 1 || c.Questions > maxQuestions {
		return fmt.Errorf("--questions must be 1 to %d", maxQuestions)
	}
	if c.Tolerance < 0 || c.Tolerance > 10_000 {
		return errors.New("--tolerance must be 0 to 10000 basis points")
	}
	return nil
}

// ownTolerance is the price tolerance that a stack started from here has.
func ownTolerance() int {
	if n, err := strconv.Atoi(os.Getenv("PRICE_TOLERANCE_BPS")); err == nil {
		return n
	}
	return career.Tolerance
}

// career reads the file or invents one.
func (c *replayCmd) career(out io.Writer) ([]career.Question, error) {
	if c.File == "" {
		return career.Invent(c.Seed, c.Questions), nil
	}
	f, err := os.Open(c.File)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	file, err := career.Read(f)
	tell(out, "refused", file.Refused)
	tell(out, "note", file.Notes)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", c.File, err)
	}
	return file.Questions, nil
}

func tell(out io.Writer, what string, remarks []career.Remark) {
	const most = 20
	for _, r := range remarks[:min(len(remarks), most)] {
		_, _ = fmt.Fprintf(out, "%s: %s\n", what, r)
	}
	if more := len(remarks) - most; more > 0 {
		_, _ = fmt.Fprintf(out, "%s: and %d more lines\n", what, more)
	}
}

// replay is one career under way.
type replay struct {
	stack     stack
	seed      uint64
	tolerance int
	questions []career.Question
	cast      []career.Operator
	plan      [][]career.Call // by operator

	meets   meets
	doors   []*door // by operator
	keys    []string
	who     []career.Identity
	markets []string         // by question
	filed   [][]career.Filed // by operator, in the order of plan; without id: refused
	show    *progress
	faults  faults
}

// faults is what did not come out as it must, in the order of the steps.
type faults struct {
	mu   sync.Mutex
	list []string
	step int // where the list of the running step begins
}

func (f *faults) add(list ...string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.list = append(f.list, list...)
}

// end sorts what one step found, whose parts ran side by side, and gives all.
func (f *faults) end() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	slices.Sort(f.list[f.step:])
	f.step = len(f.list)
	return f.list
}

func (c *replayCmd) drive(ctx context.Context, s stack, questions []career.Question, out *os.File) error {
	r := &replay{stack: s, seed: c.Seed, tolerance: c.Tolerance, questions: questions, show: newProgress(out)}
	r.cast = career.Cast(c.Seed, c.Operators)
	r.plan = career.Plan(c.Seed, r.cast, questions)
	calls := 0
	for _, list := range r.plan {
		calls += len(list)
	}
	_, _ = fmt.Fprintf(out, "%d questions, %d operators, %d calls, seed %d\n", len(questions), len(r.cast), calls, c.Seed)
	began := time.Now()
	for i := range r.cast {
		r.doors = append(r.doors, newDoor(i, &r.meets))
	}
	defer func() {
		for _, d := range r.doors {
			d.close()
		}
	}()
	for _, step := range []func(context.Context) error{r.signIn, r.open, r.file, r.resolve} {
		if err := step(ctx); err != nil {
			return err
		}
		r.faults.end()
	}
	counts, err := r.check(ctx)
	if err != nil {
		return err
	}
	_, _ = fmt.Fprintf(out, "%.1f s in all; %d answers said 429, %d tries were repeated\n\n",
		time.Since(began).Seconds(), r.meets.limited.Load(), r.meets.retried.Load())
	r.print(out, c.Rows)
	return conclude(out, counts, r.faults.end())
}

// conclude prints the one line that counts.
func conclude(out io.Writer, n counts, faults []string) error {
	line := fmt.Sprintf("checked %d signals, %d markets, %d board rows", n.signals, n.markets, n.rows)
	if len(faults) == 0 {
		_, _ = fmt.Fprintf(out, "\n%s: all equal\n", line)
		return nil
	}
	const most = 50
	_, _ = fmt.Fprintf(out, "\n%s: %d differences\n  %s\n", line, len(faults), strings.Join(faults[:min(len(faults), most)], "\n  "))
	if more := len(faults) - most; more > 0 {
		_, _ = fmt.Fprintf(out, "  and %d more\n", more)
	}
	return fmt.Errorf("%d differences", len(faults))
}

// print shows who came out how.
func (r *replay) print(out io.Writer, rows int) {
	members := r.members()
	tallies := make([]career.Tally, len(members))
	lines := make([]line, len(members))
	for i, m := range members {
		tallies[i] = m.Tally
		lines[i] = line{title: r.cast[i].Title(), tier: m.Tier, Member: m}
	}
	slices.SortStableFunc(lines, func(a, b line) int { return career.ByRecord(a.Member, b.Member) })
	printBoard(out, lines, max(rows, 1))
	_, _ = fmt.Fprintln(out)
	printKinds(out, career.Kinds(r.cast, tallies))
}

// members are the operators with the records that the contract gives them.
func (r *replay) members() []career.Member {
	out := make([]career.Member, len(r.cast))
	for i := range out {
		out[i].Identity = r.who[i]
		for _, f := range r.filed[i] {
			if f.ID != "" {
				out[i].Add(f.Want)
			}
		}
	}
	return out
}

// each runs do for 0 to n-1, so many at a time; the first error ends it.
func each(ctx context.Context, n, atATime int, do func(context.Context, int) error) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(atATime)
	for i := range n {
		group.Go(func() error {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			return do(ctx, i)
		})
	}
	return group.Wait()
}

// door is one of the operators' clients, for what anybody may ask.
func (r *replay) door(i int) *door { return r.doors[i%len(r.doors)] }
