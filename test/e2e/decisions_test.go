package e2e

import (
	"net/http"
	"testing"
)

// TestDecisionsOfAdministrators: an administrator decides on a market, a text and an app, and reads
// what was decided.
func TestDecisionsOfAdministrators(t *testing.T) {
	t.Parallel()
	s := up(t)
	p := s.person(t)
	market := s.native(t, 5000)
	call := p.call(t, market, "YES", 5000, obj{"textTake": "The gauge is broken."})
	post(t, s.Hub+"/api/admin/markets/"+market, s.admin(), payload(obj{"rated": false, "reason": "ambiguous"})).is(http.StatusOK)
	post(t, s.Hub+"/api/admin/moderation", s.admin(), payload(obj{"kind": "signal", "id": call, "action": "hide", "reason": "spam"})).is(http.StatusOK)
	get(t, s.Hub+"/api/admin/moderation", s.admin()).is(http.StatusOK)
	post(t, s.Hub+"/api/reports", p.auth(t), payload(obj{"kind": "signal", "id": call, "reason": "spam"})).is(http.StatusCreated)
	app := p.app(t, "http://127.0.0.1/cb", "profile:read")
	post(t, s.Hub+"/api/admin/apps/"+app.ClientID, s.admin(), payload(obj{"trusted": true})).is(http.StatusOK)
}
