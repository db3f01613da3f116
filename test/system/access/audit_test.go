package access

import (
	"net/http"
	"strings"
	"testing"

	"github.com/google/uuid"

	"github.com/signalcast/signalcast/test/system/stack"
)

// L2: each request with a secret of administrators or of the scheduler leaves two entries in the audit log of the hub: what was
// asked and what was answered.
func TestRequestsWithSecretsAreAudited(t *testing.T) {
	t.Parallel()
	s := accessStack(t)
	m := newMatrix(t, s)
	for _, op := range loadDocument(t).Operations {
		if op.Host != "hub" {
			continue
		}
		for _, c := range m.all {
			admin, cron := c.name == "admin secret" && op.Takes("adminSecret"), c.name == "cron secret" && op.Takes("cronSecret")
			if !admin && !cron {
				continue
			}
			id := uuid.NewString()
			c.set = both(c.set, stack.Header("X-Request-Id", id))
			a := m.request(t, op, c, admitted)
			if n := stack.Query[int](t, s, "SELECT count(*) FROM hub.audit_log WHERE request_id = $1", id); n != 2 {
				t.Errorf("%s with %s (%d) left %d entries in the audit log, want 2", op.Name(), c.name, a.Status, n)
			}
		}
	}
}

// L2: the api audits what administrators decide about stations, people and markets.
func TestAPIAuditsAdministrators(t *testing.T) {
	t.Parallel()
	s := accessStack(t)
	o := s.NewOperator(t)
	station, market := strings.ReplaceAll(o.Handle, "_", "-"), s.NewNativeMarket(t, 5000, nil)
	o.NewStation(t, station)
	one := s.API + stationsPath + "/" + station
	stack.Post(t, one+"/status", s.Admin(), stack.Body(stack.JSON{"status": "suspended"})).Require(http.StatusOK)
	o.Do(t, http.MethodDelete, one, s.Admin()).Require(http.StatusOK)
	dispute := stack.JSON{"marketId": market, "disputed": true, "reason": "audited"}
	stack.Post(t, s.Hub+"/api/resolution/dispute", s.Admin(), stack.Body(dispute)).Require(http.StatusOK)
	kind := stack.JSON{"handle": o.Handle, "operatorType": "human"}
	stack.Post(t, s.Hub+"/api/admin/operators", s.Admin(), stack.Body(kind)).Require(http.StatusOK)
	for subject, want := range map[string]int{station: 2, market: 1, o.ID: 1} {
		if n := stack.Query[int](t, s, "SELECT count(*) FROM api.audit_log WHERE subject = $1", subject); n != want {
			t.Errorf("%d entries about %s in the audit log of the api, want %d", n, subject, want)
		}
	}
}
