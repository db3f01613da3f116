package program

import (
	"fmt"
	"testing"
)

// A station airs its lanes and providers; names that are none are left out, and with
// none left it airs what a station without lanes does.
func TestStationQuery(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		station Station
		want    string
	}{
		{Station{}, "[sports music film tv fashion crypto] []"},
		{Station{Lanes: []string{"MOON"}, Providers: []string{"nobody"}}, "[sports music film tv fashion crypto] []"},
		{Station{Lanes: []string{"SCIENCE", "MOON"}, Providers: []string{"manual", "kalshi"}}, "[science] [kalshi manual]"},
		{Station{Lanes: []string{"culture", "ENTERTAINMENT"}}, "[film tv fashion culture] []"},
	} {
		q := c.station.query(DefaultLanes())
		if got := fmt.Sprint(q.Lanes(), " ", q.Providers); got != c.want {
			t.Errorf("%+v airs %s, want %s", c.station, got, c.want)
		}
	}
	if StationChannel("default") == DefaultChannel {
		t.Error("a station has the name of the default channel")
	}
}
