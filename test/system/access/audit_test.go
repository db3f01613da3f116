package access

import (
	"net/http"
	"strings"
	"testing"

	"github.com/google/uuid"

	"github.com/signalcast/signalcast/test/system/openapi"
	"github.com/signalcast/signalcast/test/system/stack"
)

// TestRequestsWithSecretsAreAudited checks that each request with the secret of administrators or of the scheduler adds
// two entries to the audit log of the hub: the request and its result (guarantee L2).
func TestRequestsWithSecretsAreAudited(t *testing.T) {
	t.Parallel()
	s := accessStack(t)
	b, crowd := &bodies{s: s, me: s.NewOwner(t)}, stack.NewCrowd(200)
	requireEntries := func(op *openapi.Operation, as string, sets ...stack.Set) {
		id := uuid.NewString()
		path := strings.NewReplacer("{appId}", b.me.App.ID, "{marketId}", b.me.Market).Replace(op.Path)
		parameters := map[string]string{"dry": "1", "handle": b.me.Handle}
		if op.Method == http.MethodDelete {
			parameters["marketId"] = s.NewVenueMarket(t, "polymarket", .41, nil).ID
		}
		for _, p := range op.Parameters() {
			if value, ok := parameters[p.Name]; ok && p.In == "query" {
				sets = append(sets, query(p.Name, value))
			}
		}
		a := sendPatiently(t, crowd, op.Method, s.Hub+path, append(sets, stack.Header("X-Request-Id", id))...)
		n := stack.Query[int](t, s, "SELECT count(*) FROM hub.audit_log WHERE request_id = $1", id)
		if a.Status >= 300 || n != 2 {
			t.Errorf("%s with the %s secret: status %d and %d entries in the audit log; want a success and 2 entries\n%.200s", op.Name(), as, a.Status, n, a.Body)
		}
	}
	for _, op := range openapi.ForTest(t).Operations {
		if op.Host != "hub" {
			continue
		}
		if op.Takes("adminSecret") {
			sets := []stack.Set{s.Admin()}
			if op.Body() != nil {
				sets = append(sets, stack.Body(b.validForAdmin(t, op)))
			}
			requireEntries(op, "admin", sets...)
		}
		if op.Takes("cronSecret") {
			requireEntries(op, "cron", query("secret", s.CronSecret))
		}
	}
}

// TestAPIAuditsAdministrators checks that the api logs the decisions of administrators about stations, people and
// markets in its audit log (guarantee L2).
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
			t.Errorf("%d entries about %s in the audit log of the api; want %d", n, subject, want)
		}
	}
}
