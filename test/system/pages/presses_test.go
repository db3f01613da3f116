package pages

import (
	"crypto/rand"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/signalcast/signalcast/test/system/browser"
	"github.com/signalcast/signalcast/test/system/stack"
)

// mostPresses is the number of presses of buttons and links in which a person does the main job. Typing and the pages of the
// identity provider do not count.
const mostPresses = 12

// TestMainJobNeedsFewPresses does the main job at the size of a phone: a new person signs in, answers the welcome page, finds a market by
// a misspelt word, calls it, reads the receipt, follows another forecaster and sees the notification when the market resolves.
func TestMainJobNeedsFewPresses(t *testing.T) {
	t.Parallel()
	s := system(t)
	for name, scripts := range map[string]bool{"with scripts": true, "without scripts": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rival, presses := s.NewOperator(t), 0
			word := rand.Text()
			id := s.NewNativeMarket(t, 4000, stack.JSON{"question": "Will the lighthouse " + word + " burn?"})
			rival.NewCall(t, id, "YES", 4000, nil)
			b := browser.Open(t, browser.Phone)
			if !scripts {
				b.DisableScripts()
			}
			press := func(selector, appears string) {
				t.Helper()
				presses++
				b.Press(selector, appears)
			}
			b.Visit(s.Hub+"/", http.StatusOK)
			press("header .enter", "main a.button")
			press("main a.button", "#user")
			b.SignIn("new_"+strings.ToLower(word[:12]), `form[action="/welcome"]`)
			press(`form[action="/welcome"] button`, ".bell")
			b.Type(".seek input", word+" lighthause\r")
			b.Await("h1", "Results for")
			press(`.hits a[href="/m/`+id+`"]`, "#call")
			presses++
			b.Click(".choice.side-yes")
			press("#call .row button", ".ticket")
			b.Shows(".ticket", "scoring price of YES", word)
			press(`a[href="/m/`+id+`"]`, `.calls a[href="/u/`+rival.Handle+`"]`)
			press(`.calls a[href="/u/`+rival.Handle+`"]`, `form[action$="/follow"]`)
			press(`form[action$="/follow"] button`, `form[action$="/unfollow"]`)
			s.Finalize(t, id, "YES")
			stack.Eventually(t, time.Minute, "the notification of the result", func() bool {
				return stack.Query[int](t, s, "SELECT count(DISTINCT user_id) FROM hub.notifications WHERE market_id = $1", id) > 1 // also rival's
			})
			press(".brand", ".bell")
			press(".bell", ".stream .unread")
			b.Shows(".stream", word, "won", "+53")
			b.RequireNoProblems()
			if presses > mostPresses {
				t.Errorf("the main job needs %d presses; want at most %d", presses, mostPresses)
			}
			t.Logf("the main job needs %d presses", presses)
		})
	}
}
