package conform

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/signalcast/signalcast/cmd/signalcast/internal/show"
)

// Report is the result of a run.
type Report struct {
	Target   string   `json:"target"`
	Passed   int      `json:"passed"`
	Failed   int      `json:"failed"`
	Skipped  int      `json:"skipped"`
	NotTried int      `json:"notTried"` // of those skipped, because of a limit or an unavailable service
	Complete bool     `json:"complete"` // the run came to its end, and nothing was left untried
	Requests int      `json:"requests"`
	Waited   int      `json:"waitedSeconds"` // for limits
	Checks   []Result `json:"checks"`
	Left     []string `json:"left,omitempty"` // on the server, by a run that was ended

	due   int  // checks of a whole run
	ended bool // the run was interrupted
	away  bool // at least one check was not tried because a service cannot be reached
}

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
		if c.Limited || c.Away {
			p.NotTried++
		}
		p.away = p.away || c.Away
	}
	p.Complete = p.NotTried == 0 && !p.ended
}

// line writes a check with its findings.
func line(to io.Writer, c *Result) error {
	word := map[Outcome]string{Pass: "ok  ", Fail: "FAIL", Skip: "skip"}[c.Outcome]
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
		if _, err := fmt.Fprintf(to, "        %s\n          came: %s\n          due:  %s\n", f.Asked, f.Came, f.Due); err != nil {
			return err
		}
	}
	if c.More > 0 {
		_, err := fmt.Fprintf(to, "        and %d more\n", c.More)
		return err
	}
	return nil
}

// end writes the counts.
func (p *Report) end(to io.Writer) error {
	text := fmt.Sprintf("%d passed, %d failed, %d skipped, with %d requests to %s", p.Passed, p.Failed, p.Skipped, p.Requests, show.Clean(p.Target))
	if p.NotTried > 0 {
		text += fmt.Sprintf("; %d of those skipped were not tried because of limits", p.NotTried)
		if p.away {
			text += " or as a service cannot be reached"
		}
	}
	if p.Waited > 0 {
		text += fmt.Sprintf("; waited %v for limits", time.Duration(p.Waited)*time.Second)
	}
	if p.ended {
		text += fmt.Sprintf("; NOT COMPLETE: the run was ended after %d of %d checks", p.finished(), p.due)
	}
	_, err := fmt.Fprintln(to, text)
	return err
}

// left lists what the run has left on the server.
func (p *Report) left() string {
	if len(p.Left) == 0 {
		return ""
	}
	return "; left on the server: " + strings.Join(p.Left, ", ")
}

// finished are the checks that came to their end.
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
