package program

import (
	"fmt"
	"testing"
)

// TestStationQuery checks that the query of a station has the known lanes and providers of the station. Without a known lane, it
// has the default lanes.
func TestStationQuery(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		station Station
		want    string
	}{
		{Station{}, "[sports music film tv fashion crypto] []"},
		{Station{Lanes: []string{"MOON"}, Providers: []string{"unknown"}}, "[sports music film tv fashion crypto] []"},
		{Station{Lanes: []string{"SCIENCE", "MOON"}, Providers: []string{"manual", "kalshi"}}, "[science] [kalshi manual]"},
		{Station{Lanes: []string{"culture", "ENTERTAINMENT"}}, "[film tv fashion culture] []"},
	} {
		q := c.station.query(DefaultLanes())
		if got := fmt.Sprint(q.Lanes(), " ", q.Providers); got != c.want {
			t.Errorf("%+v airs %s, want %s", c.station, got, c.want)
		}
	}
	if StationChannel("default") == DefaultChannel {
		t.Error("the station named default has the channel name of the default channel")
	}
}
