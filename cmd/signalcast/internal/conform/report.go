package conform

import (
	"encoding/json"
	"fmt"
	"io"
	"time"

	"github.com/signalcast/signalcast/cmd/signalcast/internal/show"
)

// Report is a whole run.
type Report struct {
	Target   string   `json:"target"`
	Passed   int      `json:"passed"`
	Failed   int      `json:"failed"`
	Skipped  int      `json:"skipped"`
	NotTried int      `json:"notTried"` // of those skipped, because of a limit
	Requests int      `json:"requests"`
	Waited   int      `json:"waitedSeconds"` // for limits
	Checks   []Result `json:"checks"`
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
		if c.Limited {
			p.NotTried++
		}
	}
}

// line writes a check with its findings.
func line(to io.Writer, c *Result) error {
	word := map[Outcome]string{Pass: "ok  ", Fail: "FAIL", Skip: "skip"}[c.Outcome]
	text := fmt.Sprintf("%s  %-20s %s  [%s]", word, c.ID, c.Title, c.Source)
	if c.Because != "" {
		text += "  because: " + c.Because
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
	}
	if p.Waited > 0 {
		text += fmt.Sprintf("; waited %v for limits", time.Duration(p.Waited)*time.Second)
	}
	_, err := fmt.Fprintln(to, text)
	return err
}

func (p *Report) json(to io.Writer) error {
	raw, err := json.Marshal(p)
	if err != nil {
		return err
	}
	return show.JSON(to, raw)
}
