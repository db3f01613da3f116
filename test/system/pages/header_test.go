package pages

import (
	"fmt"
	"testing"

	"github.com/signalcast/signalcast/test/system/browser"
)

// TestHeaderHasOneLine checks at several widths that the header has one line, that the page does not scroll sideways, and that the
// search suggests results while a visitor types.
func TestHeaderHasOneLine(t *testing.T) {
	t.Parallel()
	s := system(t)
	p := s.NewOperator(t)
	for _, width := range []int64{320, 390, 768, 960, 961, 1280, 1920} {
		t.Run(fmt.Sprint(width), func(t *testing.T) {
			b := browser.Open(t, browser.Size{Width: width, Height: 800})
			b.VisitWhole(s.Hub + "/board")
			if height := browser.Eval[float64](b, `document.querySelector("header.bar").offsetHeight`); height > 70 {
				t.Errorf("the header is %v pixels high; want one line of at most 70", height)
			}
			b.RequireAccessible()
			b.Type(".seek input", "@"+p.Handle)
			b.Await(".seek [role=option]", "@"+p.Handle)
			b.RequireNoProblems()
		})
	}
}
