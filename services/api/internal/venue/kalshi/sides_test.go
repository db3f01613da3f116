package kalshi

import (
	"slices"
	"testing"

	"github.com/signalcast/signalcast/services/api/internal/venue/loosejson"
)

func TestSides(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		yes, no loosejson.Text
		want    []string
	}{
		{"Ochre Rovers", "Slate City", []string{"Ochre Rovers", "Slate City"}},
		{"Above 4.5 m", "Above 4.5 m", []string{"Yes", "No"}}, // the name of the market
		{"Above 4.5 m", "above 4.5 M ", []string{"Yes", "No"}},
		{"Ochre Rovers", "", []string{"Yes", "No"}},
		{"", "", []string{"Yes", "No"}},
	} {
		o := object{YesTitle: c.yes, NoTitle: c.no}
		if got := o.sides(); !slices.Equal(got, c.want) {
			t.Errorf("%q and %q: %q, want %q", c.yes, c.no, got, c.want)
		}
	}
}
