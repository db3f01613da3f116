package stack

import (
	"crypto/rand"
	"maps"
	"net/http"
	"slices"
	"testing"
	"time"
)

// Venues are the names of the simulated venues.
var Venues = []string{"polymarket", "kalshi", "limitless", "manifold"}

// VenueMarket is a market at a simulated venue.
type VenueMarket struct {
	ID, Venue, Title string

	s *Stack
}

// NewVenueMarket creates a market at a simulated venue. yesPrice is from 0 to 1. The parameter more contains additional members
// of the request to the simulator, or is nil.
func (s *Stack) NewVenueMarket(t testing.TB, venue string, yesPrice float64, more JSON) *VenueMarket {
	t.Helper()
	m := &VenueMarket{Venue: venue, Title: "Will the bridge at " + rand.Text() + " open in time?", s: s}
	body := JSON{"question": m.Title, "yesPrice": yesPrice}
	maps.Copy(body, more)
	m.ID = Post(t, s.Venues+"/sim/"+venue+"/markets", Body(body)).Require(http.StatusCreated).Text("id")
	return m
}

// Change changes properties of the market at its venue, for example the price or the state.
func (m *VenueMarket) Change(t testing.TB, change JSON) {
	t.Helper()
	Post(t, m.s.Venues+"/sim/"+m.Venue+"/markets/"+m.ID, Body(change)).Require(http.StatusOK)
}

// Resolve resolves the market at its venue immediately with the outcome.
func (m *VenueMarket) Resolve(t testing.TB, outcome string) {
	t.Helper()
	m.Change(t, JSON{"state": "resolved", "outcome": outcome})
}

// Read requests the market from the hub. The api stores a venue market when it is read for the first time.
func (m *VenueMarket) Read(t testing.TB) Answer {
	t.Helper()
	return plain.Retry(t, http.MethodGet, m.s.Hub+"/api/m/"+m.ID).Require(http.StatusOK)
}

// AwaitFollowed waits up to 30 s until the api is subscribed to the live prices of the market. The market must be at
// Polymarket.
func (m *VenueMarket) AwaitFollowed(t testing.TB) {
	t.Helper()
	Eventually(t, 30*time.Second, "a subscription to the live prices of market "+m.ID, func() bool {
		var sockets struct{ Markets []string }
		Get(t, m.s.Venues+"/sim/polymarket/sockets").Require(http.StatusOK).Decode(&sockets)
		return slices.Contains(sockets.Markets, m.ID)
	})
}

// FailVenue makes a venue fail for the duration d, or for one second if d is shorter. mode is a fault mode of the simulator.
// The mode "none" ends the failure.
func (s *Stack) FailVenue(t testing.TB, venue, mode string, d time.Duration) {
	t.Helper()
	Post(t, s.Venues+"/sim/"+venue+"/fault", Body(JSON{"mode": mode, "seconds": max(d.Seconds(), 1)})).Require(http.StatusOK)
}

// NewNativeMarket creates a native market that is open for a year and returns its ID. The parameter more contains additional
// members of the request, or is nil.
func (s *Stack) NewNativeMarket(t testing.TB, initialYesBps int, more JSON) string {
	t.Helper()
	body := JSON{
		"question": "Will the gauge at " + rand.Text() + " read above 6 m?", "lane": "SCIENCE", "initialYesBps": initialYesBps,
		"cutoffAt": Stamp(time.Now().AddDate(1, 0, 0)),
	}
	maps.Copy(body, more)
	return plain.Retry(t, http.MethodPost, s.Hub+"/api/admin/markets", s.Admin(), Body(body)).Require(http.StatusCreated).Text("marketId")
}

// Finalize resolves a native market with the outcome, using the admin secret.
func (s *Stack) Finalize(t testing.TB, market, outcome string) {
	t.Helper()
	body := Body(JSON{"marketId": market, "verdict": outcome})
	plain.Retry(t, http.MethodPost, s.Hub+"/api/resolution/finalize", s.Admin(), body).Require(http.StatusOK)
}

// Scan makes the api read the outcomes of open markets from the venues. It returns the response of the hub.
func (s *Stack) Scan(t testing.TB) Answer {
	t.Helper()
	return plain.Retry(t, http.MethodPost, s.Hub+"/api/admin/resolve-signals", s.Admin()).Require(http.StatusOK)
}

// Signal returns the response of the hub to a request for the call with this ID.
func (s *Stack) Signal(t testing.TB, id string) Answer {
	t.Helper()
	return Send(t, http.MethodGet, s.Hub+"/api/signals/"+id).Require(http.StatusOK)
}

// RequireResult makes the api read the venues until the call has a result, and returns the response with the call. It waits up to
// 90 s, because the api may skip a venue for up to a minute after a failure of the venue.
func (s *Stack) RequireResult(t testing.TB, id string) Answer {
	t.Helper()
	var a Answer
	Eventually(t, 90*time.Second, "a result of call "+id, func() bool {
		s.Scan(t)
		a = s.Signal(t, id)
		return a.Text("status") != "pending"
	})
	return a
}
