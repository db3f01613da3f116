package federation

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/signalcast/signalcast/test/system/stack"
)

// keepFor is the time for which a hub shows the entries of an unavailable partner.
const keepFor = 12 * time.Second

// site is a complete system with an operator who has a resolved call and a clip.
type site struct {
	*stack.Stack
	name     string
	operator *stack.Operator
}

// newSite starts a system and creates its operator, call and clip.
func newSite(t *testing.T, name string) *site {
	t.Helper()
	s := stack.Start(t, stack.ScoredAtOnce(), stack.Env("RATE_LIMIT_ANON", "0"), stack.Env("FEDERATION_ALLOW_PRIVATE", "true"),
		stack.Env("FEDERATION_EVERY", "1s"), stack.Env("FEDERATION_KEEP", keepFor.String()))
	out := &site{Stack: s, name: name, operator: s.NewOperator(t)}
	market := s.NewNativeMarket(t, 5000, nil)
	out.operator.File(t, stack.Call(market, "YES", 5000)).Require(http.StatusOK)
	s.Finalize(t, market, "YES")
	_, err := s.DB(t).Exec(t.Context(), `INSERT INTO hub.clips (id, handle, market_id, url, status, created_by, created_at, ready_at)
		VALUES (gen_random_uuid(), $1, $2, 'https://video.example/clip.m3u8', 'ready', $1, now() - interval '1 minute', now())`,
		out.operator.Handle, market)
	if err != nil {
		t.Fatalf("%s: insert a clip: %v", name, err)
	}
	return out
}

// addPartner registers a partner station at this site and activates it. base, tapes and operators are the URLs of the partner.
func (s *site) addPartner(t *testing.T, id, base, tapes, operators string) {
	t.Helper()
	s.operator.Do(t, http.MethodPost, s.API+"/api/v1/stations", stack.Bearer(s.operator.Key), stack.Body(stack.JSON{
		"stationId": id, "name": "Station " + id, "url": base, "tapesUrl": tapes, "operatorsUrl": operators,
	})).Require(http.StatusCreated)
	s.setStatus(t, id, "active")
}

// setStatus changes the status of a station with the admin secret.
func (s *site) setStatus(t *testing.T, station, status string) {
	t.Helper()
	url := s.API + "/api/v1/stations/" + station + "/status"
	stack.Post(t, url, s.Admin(), stack.Body(stack.JSON{"status": status})).Require(http.StatusOK)
}

// entry is one entry of the merged list of tapes or of the merged list of operators.
type entry struct {
	ID, Origin, OriginURL, Handle, Href string
	Boosted                             bool
}

// entries reads a merged list of the site. It returns the entries and, in the same order, the text "origin/handle" of each
// entry.
func (s *site) entries(t *testing.T, list, query string) ([]entry, []string) {
	t.Helper()
	var body map[string]json.RawMessage
	a := stack.Get(t, s.Hub+"/api/network/"+list+query).Require(http.StatusOK)
	var out []entry
	if err := json.Unmarshal(a.Body, &body); err != nil {
		t.Fatalf("%s of %s: %v", list, s.name, err)
	}
	if err := json.Unmarshal(body[list], &out); err != nil {
		t.Fatalf("%s of %s: %v", list, s.name, err)
	}
	names := make([]string, len(out))
	for i, e := range out {
		names[i] = e.Origin + "/" + e.Handle
	}
	return out, names
}

// both returns the texts "origin/handle" of all entries of the merged lists of tapes and of operators.
func (s *site) both(t *testing.T) string {
	t.Helper()
	_, tapes := s.entries(t, "tapes", "")
	_, operators := s.entries(t, "operators", "")
	return strings.Join(tapes, " ") + " | " + strings.Join(operators, " ")
}
