package pages

import (
	"net/http"
	"testing"

	"github.com/signalcast/signalcast/test/system/browser"
	"github.com/signalcast/signalcast/test/system/stack"
)

// TestCallInTheBrowser checks that a visitor chooses a side and types a take, signs in, comes back to the filled form, files the call
// and adds a take to it, with and without scripts.
func TestCallInTheBrowser(t *testing.T) {
	t.Parallel()
	s := system(t)
	for name, scripts := range map[string]bool{"with scripts": true, "without scripts": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, id, b := s.NewOperator(t), s.NewNativeMarket(t, 4000, nil), browser.Open(t, browser.PhoneAndDesktop[0])
			if !scripts {
				b.DisableScripts()
			}
			page := s.Hub + "/m/" + id
			b.VisitWhole(page)
			b.Shows("#call", "Make your call", "40¢", "60¢", "Public and final: one call per market.", "Sign in to call")
			b.RequireFits()
			b.Click(".choice.side-no")
			b.Click(".call-more summary", "#call-take")
			b.Type("#call-take", "The gate is shut.")
			b.Press("#call .row button", "a.button")
			b.Shows("main", "the market you were looking at")
			b.Press("a.button", "#user")
			b.SignIn(p.Handle, "#call-take") // the part with the take is open, because it has a text
			requireURL(t, b, page+"?side=NO#call")
			if take := b.Value("#call-take"); take != "The gate is shut." {
				t.Errorf("after the sign-in the take is %q", take)
			}
			if side := b.Value("#call [name=direction]:checked"); side != "NO" {
				t.Errorf("after the sign-in the chosen side is %q", side)
			}
			b.Shows("#call", "If NO: +40 points. If YES: −60 points.", "Make this call")
			if signed := s.Hub + "/api/m/" + id + "/signals"; read(t, signed).Contains("The gate is shut.") {
				t.Error("the call was filed without a press")
			}
			b.RequireAccessible()
			b.Press("#call .row button", ".ticket")
			b.Shows(".ticket", "NO", "60¢", "The gate is shut.")
			b.Shows(".share", "Post on X")
			b.RequireFits()
			b.RequireAccessible()
			b.Type("#event-take", "It stays shut.")
			b.Press("form:has(#event-take) button", ".history")
			b.Shows(".history", "It stays shut.")
			b.Visit(page, http.StatusOK)
			b.Shows("#call", "Your call", "60¢")
			b.RequireNoProblems()
			read(t, s.Hub+"/api/m/"+id+"/crowd", p.Session(t)).Expect(stack.JSON{"currentUserSignal.direction": "NO"})
		})
	}
}
