package conform

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/signalcast/signalcast/cmd/signalcast/internal/show"
)

// Report is the result of a run of the conformance checks, and the JSON output of the command.
type Report struct {
	Target   string   `json:"target"`
	Passed   int      `json:"passed"`
	Failed   int      `json:"failed"`
	Skipped  int      `json:"skipped"`
	NotTried int      `json:"notTried"` // checks that were skipped because of a limit or an unavailable service
	Complete bool     `json:"complete"` // the run reached its end and NotTried is 0
	Requests int      `json:"requests"`
	Waited   int      `json:"waitedSeconds"` // time that the run waited for limits
	Checks   []Result `json:"checks"`
	Left     []string `json:"left,omitempty"` // what an interrupted run could not remove from the server

	total       int  // number of checks of a complete run
	ended       bool // the run was interrupted
	limited     bool // at least one check was not tried because of a limit
	unavailable bool // at least one check was not tried because a service cannot be reached
}

// count sets the counts and Complete from the results.
func (p *Report) count() {
	for _, c := range p.Checks {
		switch c.Outcome {
		case Pass:
			p.Passed++
		case Fail:
			p.Failed++
		case Skip:
			p.Skipped++
		}
		if c.Limited || c.Unavailable {
			p.NotTried++
		}
		p.limited, p.unavailable = p.limited || c.Limited, p.unavailable || c.Unavailable
	}
	p.Complete = p.NotTried == 0 && !p.ended
}

// notTried states how many of the checks were not tried.
func (p *Report) notTried() string {
	if p.NotTried == 1 {
		return "1 of " + countText(len(p.Checks)) + " was not tried"
	}
	return fmt.Sprintf("%d of %s were not tried", p.NotTried, countText(len(p.Checks)))
}

// countText returns a number of checks as text.
func countText(n int) string {
	if n == 1 {
		return "1 check"
	}
	return fmt.Sprintf("%d checks", n)
}

// line writes one line with the outcome of a check, and further lines with its findings.
func line(to *show.Output, c *Result) error {
	word := to.Paint(map[Outcome]string{Pass: "ok  ", Fail: "FAIL", Skip: "skip"}[c.Outcome])
	text := fmt.Sprintf("%s  %-20s %s  [%s]", word, c.ID, c.Title, c.Source)
	if c.Because != "" {
		text += "  because: " + c.Because
	}
	if c.Note != "" {
		text += "  note: " + c.Note
	}
	if _, err := fmt.Fprintln(to, text); err != nil {
		return err
	}
	for _, f := range c.Findings {
		if _, err := fmt.Fprintf(to, "        %s\n          actual:   %s\n          expected: %s\n", f.Request, f.Actual,
			f.Expected); err != nil {
			return err
		}
	}
	if c.More > 0 {
		_, err := fmt.Fprintf(to, "        and %d more\n", c.More)
		return err
	}
	return nil
}

// end writes the last line of the report, with the counts.
func (p *Report) end(to io.Writer) error {
	requests := "requests"
	if p.Requests == 1 {
		requests = "request"
	}
	text := fmt.Sprintf("%d passed, %d failed, %d skipped, with %d %s to %s", p.Passed, p.Failed, p.Skipped, p.Requests, requests,
		show.Clean(p.Target))
	if p.NotTried > 0 {
		because := map[[2]bool]string{
			{true, false}: "of limits", {false, true}: "a service cannot be reached",
			{true, true}: "of limits or because a service cannot be reached",
		}
		text += "; " + p.notTried() + " because " + because[[2]bool{p.limited, p.unavailable}]
	}
	if p.Waited > 0 {
		text += fmt.Sprintf("; waited %v for limits", time.Duration(p.Waited)*time.Second)
	}
	if p.ended {
		text += fmt.Sprintf("; NOT COMPLETE: the run was interrupted after %d of %d checks", p.finished(), p.total)
	}
	_, err := fmt.Fprintln(to, text)
	return err
}

// left returns a list of the data that an interrupted run left on the server, as the end of an error text. It returns "" if
// there is none.
func (p *Report) left() string {
	if len(p.Left) == 0 {
		return ""
	}
	return "; left on the server: " + strings.Join(p.Left, ", ")
}

// finished returns the number of checks that ended without an interruption.
func (p *Report) finished() (n int) {
	for _, c := range p.Checks {
		if !c.Ended {
			n++
		}
	}
	return n
}

func (p *Report) json(to io.Writer) error {
	raw, err := json.Marshal(p)
	if err != nil {
		return err
	}
	return show.JSON(to, raw)
}
