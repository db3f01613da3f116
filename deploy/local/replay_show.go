package main

import (
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"text/tabwriter"
	"time"

	"github.com/signalcast/signalcast/deploy/local/internal/career"
)

// progress shows how far a step is: one line that fills up on a terminal,
// a few plain lines anywhere else.
type progress struct {
	out io.Writer
	tty bool

	mu          sync.Mutex
	label       string
	total, done int
	waiting     int
	began, last time.Time
	quarter     int
}

func newProgress(out *os.File) *progress {
	info, err := out.Stat()
	return &progress{out: out, tty: err == nil && info.Mode()&os.ModeCharDevice != 0 && os.Getenv("TERM") != "dumb"}
}

const (
	barWidth = 28
	redraw   = 100 * time.Millisecond
)

// step begins a step of so many parts.
func (p *progress) step(label string, total int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.label, p.total, p.done, p.quarter = label, total, 0, 0
	p.began, p.last = time.Now(), time.Time{}
}

// add counts parts that are done.
func (p *progress) add(n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.done += n
	now := time.Now()
	switch {
	case p.tty && now.Sub(p.last) >= redraw:
		p.last = now
		_, _ = fmt.Fprint(p.out, "\r\x1b[K"+p.line())
	case !p.tty && p.total > 0 && p.done < p.total && p.done*4/p.total > p.quarter && now.Sub(p.began) > 5*time.Second:
		p.quarter = p.done * 4 / p.total
		_, _ = fmt.Fprintln(p.out, p.line())
	}
}

// wait notes that one more or one fewer waits for its limit, and shows it.
func (p *progress) wait(n int) {
	p.mu.Lock()
	p.waiting += n
	p.mu.Unlock()
	p.add(0)
}

// end leaves the finished line.
func (p *progress) end() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.tty {
		_, _ = fmt.Fprint(p.out, "\r\x1b[K")
	}
	_, _ = fmt.Fprintln(p.out, p.line())
}

func (p *progress) line() string {
	full := barWidth
	if p.total > 0 {
		full = min(barWidth*p.done/p.total, barWidth)
	}
	took := time.Since(p.began)
	rate := ""
	if s := took.Seconds(); s > 0.5 {
		rate = fmt.Sprintf("  %.0f/s", float64(p.done)/s)
	}
	waits := ""
	if p.waiting > 0 {
		waits = fmt.Sprintf("  %d at their limit, waiting", p.waiting)
	}
	return fmt.Sprintf("%-22s [%s%s] %d/%d  %.1f s%s%s", p.label, strings.Repeat("#", full), strings.Repeat(".", barWidth-full),
		p.done, p.total, took.Seconds(), rate, waits)
}

// line is one operator in the printed table.
type line struct {
	title, tier string
	career.Member
}

// printBoard prints the top and the end of the board, the best first.
func printBoard(out io.Writer, lines []line, rows int) {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	_, _ = fmt.Fprintln(w, "rank\toperator\ttier\tcalls by\tcalls\twon\tlost\tvoid\taccuracy\tscore\tbroadcast\t")
	put := func(i int) {
		l := lines[i]
		broadcast, _ := career.Broadcast(l.Score, l.Resolved(), l.Total, l.Takes)
		_, _ = fmt.Fprintf(w, "%d\t%s\t%s\t%s\t%d\t%d\t%d\t%d\t%d%%\t%d\t%d\t\n", i+1, l.Handle, l.tier, l.title,
			l.Total, l.Won, l.Lost, l.Void, career.Accuracy(l.Won, l.Lost), l.Score, broadcast)
	}
	tail := min(5, rows/4)
	for i := range lines {
		switch {
		case len(lines) <= rows || i < rows-tail || i >= len(lines)-tail:
			put(i)
		case i == rows-tail:
			_, _ = fmt.Fprintf(w, "…\t%d more\t\t\t\t\t\t\t\t\t\t\n", len(lines)-rows)
		}
	}
	_ = w.Flush()
}

// printKinds prints what each way of calling came to.
func printKinds(out io.Writer, kinds []career.KindRow) {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	_, _ = fmt.Fprintln(w, "calls by\toperators\tcalls\taccuracy\tscore\ta call\t")
	for _, k := range kinds {
		_, _ = fmt.Fprintf(w, "%s\t%d\t%d\t%d%%\t%d\t%+.2f\t\n", k.Title, k.Operators, k.Total, career.Accuracy(k.Won, k.Lost), k.Score, k.Mean())
	}
	_ = w.Flush()
}
