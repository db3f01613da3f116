package contract

import (
	"crypto/rand"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/signalcast/signalcast/test/system/stack"
)

// TestHandleChanges checks that pages, answers, feeds, search and notifications follow a change of a handle, that the former
// handle leads to its operator and no other operator gets it, and that the next change is possible after 365 days.
func TestHandleChanges(t *testing.T) {
	t.Parallel()
	s := system(t)
	p, other := s.NewOperator(t), s.NewOperator(t)
	session, rival := p.Session(t), other.Session(t)
	market := s.NewNativeMarket(t, 5000, nil)
	answer := form("handle", p.Handle, "displayName", "Rivers", "lanes", "SCIENCE")
	post(t, s.Hub+"/welcome", session, answer).Require(http.StatusSeeOther)
	call := p.NewCall(t, market, "YES", 5000, nil)
	post(t, s.Hub+"/u/"+other.Handle+"/follow", session, form()).Require(http.StatusSeeOther)
	former, present := p.Handle, strings.ToLower(rand.Text())
	change := func(who stack.Set, handle string) stack.Answer {
		t.Helper()
		return post(t, s.Hub+"/settings/handle", who, form("handle", handle))
	}
	if to := change(session, present).Require(http.StatusSeeOther).Header.Get("Location"); to != "/settings/profile?done=handle" {
		t.Errorf("the change leads to %s", to)
	}
	for _, path := range []string{
		"/u/*", "/u/*?state=open", "/u/*/feed.xml", "/u/*/picture", "/live/*", "/tip/*", "/operator/*/embed", "/overlay/*",
	} {
		a := get(t, s.Hub+strings.Replace(path, "*", former, 1), stack.Header("Accept", "text/html"))
		a.Require(http.StatusMovedPermanently)
		if to := a.Header.Get("Location"); to != strings.Replace(path, "*", present, 1) {
			t.Errorf("%s leads to %s", path, to)
		}
	}
	follows := map[string]stack.Set{
		s.Hub + "/u/" + present: nil, s.Hub + "/u/" + present + "/feed.xml": nil, s.Hub + "/m/" + market: nil,
		s.Hub + "/receipts/" + call:    nil,
		s.Hub + "/search?q=" + present: nil, s.Hub + "/search/suggest?q=" + present: nil, s.Hub + "/feed.xml": nil,
		s.Hub + "/api/operator/" + former: nil, s.Hub + "/api/network/field-record/" + former: nil,
		s.Hub + "/api/operator/" + former + "/skill":     nil,
		s.Hub + "/api/streamer/profile?handle=" + former: nil, s.Hub + "/api/m/" + market + "/signals": nil,
		s.Hub + "/api/signals/" + call:             nil,
		s.API + "/api/v1/signals?handle=" + former: nil, s.API + "/api/v1/feed?handle=" + former: nil,
		s.API + "/api/v1/users/" + former + "/stats":   stack.Bearer(p.Key),
		s.API + "/api/v1/users/" + former + "/signals": stack.Bearer(p.Key),
		s.Hub + "/api/user/notifications":              rival, s.Hub + "/notifications": rival,
	}
	for address, who := range follows {
		if who == nil {
			who = func(*http.Request) {}
		}
		stack.Eventually(t, time.Minute, address+" with the present handle", func() bool { // answers are cached
			a := get(t, address, who).Require(http.StatusOK)
			body := strings.ReplaceAll(string(a.Body), "did:idp:"+former, "") // id at the identity provider
			return strings.Contains(body, present) && !strings.Contains(body, former)
		})
	}

	change(rival, former).Require(http.StatusConflict)
	change(rival, "Admin").Require(http.StatusConflict)
	change(rival, "x").Require(http.StatusBadRequest)
	requireRefusal := func(want string) {
		t.Helper()
		if a := change(session, "again_"+present[:8]).Require(http.StatusConflict); !a.Contains(want) {
			t.Errorf("the answer does not contain %q: %.500s", want, a.Body)
		}
	}
	requireRefusal("You can change your handle again from")
	age := func(by string) {
		t.Helper()
		stack.Query[int](t, s, `WITH u AS (
			UPDATE api.users SET handle_changed_at = handle_changed_at - $2::interval WHERE id = $1 RETURNING 1)
			SELECT count(*) FROM u`, p.ID, by)
	}
	age("364 days")
	requireRefusal("You can change your handle again from")
	age("1 day")
	change(session, former).Require(http.StatusSeeOther) // its own former handle
	get(t, s.Hub+"/u/"+present, stack.Header("Accept", "text/html")).Require(http.StatusMovedPermanently)
	get(t, s.Hub+"/u/"+former, stack.Header("Accept", "text/html")).Require(http.StatusOK)
}
