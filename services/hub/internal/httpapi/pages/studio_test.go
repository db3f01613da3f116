package pages

import (
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/signalcast/signalcast/services/hub/internal/livestream"
)

// TestStudioForms checks that forms without a route are disabled until the script runs, so that no form puts its input into the
// URL.
func TestStudioForms(t *testing.T) {
	t.Parallel()
	raw, err := os.ReadFile("templates/studio.html")
	if err != nil {
		t.Fatal(err)
	}
	forms := regexp.MustCompile(`(?s)<form.*?</form>`).FindAllString(string(raw), -1)
	if len(forms) < 5 {
		t.Fatalf("%d forms", len(forms))
	}
	for _, f := range forms {
		sends := strings.Contains(f, `method="post" action=`)
		waits := regexp.MustCompile(`(?s)^<form[^>]*><fieldset disabled>.*</fieldset></form>$`).MatchString(f)
		if sends == waits {
			t.Errorf("%s", f)
		}
	}
	script, err := os.ReadFile("static/studio.js")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(script), ".disabled = false") {
		t.Error("the script does not enable the forms")
	}
}

// TestStudioSteps checks the steps that the studio shows as done and as the next one.
func TestStudioSteps(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 9, 18, 12, 0, 0, 0, time.UTC)
	open := livestream.Session{ID: "1", StartedAt: now}
	live, over := open, open
	live.URL, over.EndedAt, over.Signal = "https://video.example/a.m3u8", now.Add(-2*time.Minute), &livestream.Signal{MarketID: "7"}
	state := func(word, stream string, session livestream.Session) livestream.State {
		return livestream.State{Word: word, Stream: stream, Session: session}
	}
	for name, tc := range map[string]struct {
		state       studioState
		label, done string
		next        int // index of the next step; -1: none
		text        string
	}{
		"applied":  {studioState{Status: livestream.Pending}, "Waiting for approval", "-----", -1, ""},
		"approved": {studioState{Status: livestream.Approved}, "Approved", "-----", 0, ""},
		"key":      {studioState{Status: livestream.Approved, State: state("idle", live.URL, livestream.Session{})}, "Approved", "x----", 1, ""},
		"no picture": {
			studioState{Status: livestream.Approved, State: state("idle", live.URL, open)}, "Live, no picture yet", "x----", 1, "No picture yet",
		},
		"live": {
			studioState{Status: livestream.Approved, State: state("live", live.URL, live), Overlay: livestream.Overlay{MarketID: "7"}},
			"Live", "xxx--", 3, "Call the market on your overlay.",
		},
		"called": {studioState{Status: livestream.Approved, State: state("live", live.URL, live), Recap: &livestream.Recap{Count: 1}}, "Live", "xx-x-", 2, ""},
		"ended": {
			studioState{Status: livestream.Approved, State: state("ended", live.URL, over), Recap: &livestream.Recap{Count: 2, Score: 31, Peak: 5}},
			"Approved", "xxxxx", -1, "Ended 2 min ago: 2 calls, +31 points, at most 5 viewers.",
		},
	} {
		p := studioPage{Handle: "mara_k", CanProvision: true}
		p.fill(&tc.state, now)
		done, next, texts := "", -1, ""
		for i, step := range p.Steps {
			if step.Here {
				next = i
			}
			if step.Done {
				done += "x"
			} else {
				done += "-"
			}
			texts += step.Text
		}
		if p.StateLabel != tc.label || done != tc.done || next != tc.next || !strings.Contains(texts, tc.text) {
			t.Errorf("%s: %q, done %s, next %d: %s", name, p.StateLabel, done, next, texts)
		}
	}
}
