package edge_test

import (
	"context"
	"strings"
	"sync"
	"testing"

	"github.com/signalcast/signalcast/pkg/testkit"
	"github.com/signalcast/signalcast/services/hub/internal/edge"
	"github.com/signalcast/signalcast/services/hub/internal/follow"
	"github.com/signalcast/signalcast/services/hub/internal/memledger"
	"github.com/signalcast/signalcast/services/hub/internal/postgres"
	"github.com/signalcast/signalcast/services/hub/internal/upstream"
)

const followed = "/api/user/follow?handle=tidewatch"

func TestFollow(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.ledger.AddOperator("tidewatch")
	golden(t, "follow/nobody", b.send("GET", followed, ""))
	golden(t, "follow/followed", b.send("POST", "/api/user/follow", `{"handle":"TideWatch"}`, b.bySession()))
	golden(t, "follow/again", b.send("POST", "/api/user/follow", `{"handle":"tidewatch"}`, b.bySession()))
	golden(t, "follow/own", b.send("GET", followed, "", b.bySession()))
	anonymous := b.send("GET", followed, "")
	golden(t, "follow/anonymous", anonymous)
	if tag := anonymous.Header().Get("Etag"); b.send("GET", followed, "", with("If-None-Match", tag)).Code != 304 || anonymous.Header().Get("Vary") != "Cookie" {
		t.Errorf("headers %v", anonymous.Header())
	}
	golden(t, "follow/unfollowed", b.send("DELETE", "/api/user/follow", `{"handle":"tidewatch"}`, b.bySession()))
	golden(t, "follow/unfollowed_again", b.send("DELETE", followed, "", b.bySession()))
}

func TestFollowsThatAreNone(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.ledger.AddOperator("tidewatch")
	for _, method := range []string{"POST", "DELETE"} {
		for body, c := range map[string]struct {
			status int
			code   string
		}{
			`{}`:                        {400, "missing_handle"},
			`{"handle":""}`:             {400, "missing_handle"},
			`{"handle":null}`:           {400, "missing_handle"},
			`{"handle":7}`:              {400, "invalid_handle"},
			`{"handle":["tidewatch"]}`:  {400, "invalid_handle"},
			`{"handle":"x"}`:            {400, "invalid_handle"},
			`{"handle":"tide watch"}`:   {400, "invalid_handle"},
			`{"handle":"../admin"}`:     {400, "invalid_handle"},
			`{"handle":"tïdewatch"}`:    {400, "invalid_handle"},
			`{"handle":"mara_k"}`:       {400, "invalid_handle"}, // oneself
			`{"handle":"MARA_K"}`:       {400, "invalid_handle"},
			`{"handle":"nobody_there"}`: {404, "not_found"},
			`{"Handle":"tidewatch"}`:    {400, "missing_handle"},
			`[]`:                        {400, "invalid_body"},
			`{"handle":"` + strings.Repeat("a", 33) + `"}`: {400, "invalid_handle"},
		} {
			want(t, b.send(method, "/api/user/follow", body, b.bySession()), c.status, c.code)
		}
	}
	want(t, b.send("DELETE", "/api/user/follow", "", b.bySession()), 400, "missing_handle")
	want(t, b.send("DELETE", "/api/user/follow?handle=a%20b", "", b.bySession()), 400, "invalid_handle")
	want(t, b.send("DELETE", "/api/user/follow?handle=mara_k", "", b.bySession()), 400, "invalid_handle")
	want(t, b.send("DELETE", "/api/user/follow?handle=nobody_there", "", b.bySession()), 404, "not_found")
	want(t, b.send("GET", "/api/user/follow", ""), 400, "missing_handle")
	want(t, b.send("GET", "/api/user/follow?handle=%00", ""), 404, "not_found")
	want(t, b.send("GET", "/api/user/follow?handle=nobody_there", ""), 404, "not_found")
	if n := len(b.people.follows); n != 0 {
		t.Errorf("%d follows", n)
	}
}

// TestFollowIsForPages: nothing but a session on our own page follows.
func TestFollowIsForPages(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.ledger.AddOperator("tidewatch")
	const body = `{"handle":"tidewatch"}`
	for _, method := range []string{"POST", "DELETE"} {
		want(t, b.send(method, "/api/user/follow", body), 401, "unauthenticated")
		want(t, b.send(method, "/api/user/follow", body, b.byKey()), 401, "unauthenticated")
		want(t, b.send(method, "/api/user/follow", body, byLogin("mara_k")), 401, "unauthenticated")
		want(t, b.send(method, "/api/user/follow", body, with("Cookie", b.cookie)), 403, "forbidden")
		want(t, b.send(method, "/api/user/follow", body, with("Cookie", b.cookie), with("Origin", "https://evil.example")), 403, "forbidden")
		want(t, b.send(method, "/api/user/follow", body, with("Cookie", b.cookie), with("Sec-Fetch-Site", "cross-site")), 403, "forbidden")
	}
	if n := len(b.people.follows); n != 0 {
		t.Errorf("%d follows", n)
	}
}

func TestFollowAway(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.ledger.AddOperator("tidewatch")
	b.people.fail = memledger.ErrDB
	want(t, b.send("POST", "/api/user/follow", `{"handle":"tidewatch"}`, b.bySession()), 503, "db_unavailable")
	want(t, b.send("GET", followed, ""), 503, "db_unavailable")
	b.setBefore(func(_ context.Context, method string) error {
		if method == "GetOperator" {
			return memledger.ErrDB
		}
		return nil
	})
	want(t, b.send("POST", "/api/user/follow", `{"handle":"tidewatch"}`, b.bySession()), 503, "db_unavailable")
}

// TestFollowsAtOnceOverHTTP: one person on many pages follows once.
func TestFollowsAtOnceOverHTTP(t *testing.T) {
	t.Parallel()
	store := postgres.New(testkit.Pool(t, testkit.Postgres(t, postgres.Schema("")).URL("hub_rw")))
	b := setup(t, func(_ *edge.Config, d *edge.Deps) {
		d.Accounts.Follows = follow.NewService(d.Directory.(*upstream.Operators), store, d.Now)
	})
	b.ledger.AddOperator("tidewatch")
	var group sync.WaitGroup
	for range 20 {
		group.Go(func() {
			w := b.send("POST", "/api/user/follow", `{"handle":"tidewatch"}`, b.bySession())
			if w.Code == 200 && (field(w, "followers") != "1" || field(w, "following") != "1") || w.Code != 200 && w.Code != 503 {
				t.Errorf("%d %s", w.Code, w.Body)
			}
		})
	}
	group.Wait()
	w := b.send("POST", "/api/user/follow", `{"handle":"tidewatch"}`, b.bySession())
	if field(w, "followers") != "1" || field(w, "following") != "1" {
		t.Errorf("%s", w.Body)
	}
}
