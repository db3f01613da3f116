package rows

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/signalcast/signalcast/test/prove/client"
	"github.com/signalcast/signalcast/test/prove/internal/frame"
	"github.com/signalcast/signalcast/test/system/openapi"
)

// nothingThere are names of objects that do not exist.
const (
	noID  = "00000000-0000-7000-8000-000000000000"
	noKey = "0000000000000000000000000000000000000000000000000000000000000000"
)

// hostOf is where the doors of a service are; the hubs take turns.
func hostOf(env *frame.Env, service string, i int) string {
	switch service {
	case "api":
		return env.Stack.API
	case "clock":
		return env.Stack.Clock
	}
	return env.Hub(i)
}

// holds tells whether a door keeps its connection open.
func holds(op *openapi.Operation) bool { return op.Path == "/ws" || op.Path == "/api/v1/feed/stream" }

// patiently asks again while the answer is that the database is busy: it says nothing
// about who asks.
func patiently(ctx context.Context, env *frame.Env, q client.Request) (a client.Answer) {
	for again := range 4 {
		a = env.Client.Do(ctx, q)
		if a.Status != http.StatusServiceUnavailable || wait(ctx, time.Now().Add(time.Duration(again+1)*200*time.Millisecond)) != nil {
			break
		}
	}
	return a
}

// both is a pass with something beside it that is none.
func both(as, beside client.Credential) client.Credential {
	if as == nil {
		return beside
	}
	return client.All(as, beside)
}

// form is what our own page would send.
func (r *ring) form(ctx context.Context, env *frame.Env, op *openapi.Operation, p pass, hub string) (url.Values, error) {
	switch op.Path {
	case "/apps/revoke":
		return url.Values{"grant": {noID}}, nil
	case "/dev/keys/revoke":
		return url.Values{"id": {noID}}, nil
	case "/dev/session":
		return url.Values{"token": {"a.b.c"}, "state": {"x"}}, nil
	case "/protocol/authorize":
		session, ok := p.session(r)
		if !ok || p.at(op) != letIn {
			return url.Values{"request": {"x"}, "decision": {"deny"}}, nil
		}
		request, err := askConsent(ctx, env, hub, session, r.open, "profile:read")
		return url.Values{"request": {request}, "decision": {"deny"}}, err
	}
	return url.Values{}, nil
}

// path is the address of a door, with what exists where it is read and with what
// does not where it could be changed.
func (r *ring) path(op *openapi.Operation) string {
	path := op.Path
	id := r.signal
	switch {
	case strings.Contains(path, "/passports/"):
		id = r.passport
	case strings.Contains(path, "/messages/"):
		id = r.message
	case underHooks(path) && op.Method == http.MethodGet:
		id = r.hook.id
	case underHooks(path):
		id = noID
	}
	app := noID
	if op.Method == http.MethodGet {
		app = r.open.id
	}
	path = strings.NewReplacer(
		"{marketId}", r.market, "{id}", id, "{handle}", r.Handle, "{appId}", app, "{grantId}", noID, "{publicKey}", noKey,
		"{type}", "signal.create", "{eventKey}", "x", "{file}", "app.css", "{rest}", "x",
	).Replace(path)
	switch op.Path {
	case "/api/admin/daily-digest":
		path += "?dry=1"
	case "/dev/session":
		path += "?state=x"
	case "/protocol/authorize":
		if op.Method == http.MethodGet {
			path += "?" + url.Values{
				"response_type": {"code"}, "client_id": {r.open.id}, "redirect_uri": {appReturns}, "scope": {"profile:read"},
				"code_challenge": {challengeOf(verifier)}, "code_challenge_method": {"S256"},
			}.Encode()
		}
	}
	return path
}

// verdict says what speaks against an answer; empty: it is as due.
func (d due) verdict(op *openapi.Operation, p pass, a client.Answer) string {
	switch {
	case a.Err != nil:
		return a.Err.Error()
	case d == letIn && op.Path == "/ws":
		if a.Status != http.StatusBadRequest && a.Status != http.StatusUpgradeRequired {
			return "is not let in"
		}
		return ""
	case d == letIn && a.Code() == "not_approved": // behind the credential
		return ""
	case d == letIn && (a.Status == http.StatusUnauthorized || a.Status == http.StatusForbidden || !op.Knows(a.Status) || a.Status >= 500):
		return "is not let in"
	case d == letIn:
		return ""
	case a.Status != d.status || a.Code() != d.code:
		return fmt.Sprintf("is not refused with %d %s", d.status, d.code)
	}
	return d.challenged(op, p, a.Header.Get("WWW-Authenticate"))
}

// challenged holds what a refusal asks for against RFC 6750 and RFC 7235.
func (d due) challenged(op *openapi.Operation, p pass, told string) string {
	want := []string{"Bearer"}
	switch {
	case d.code == "invalid_client":
		want = []string{"Basic realm="}
	case d.code == "insufficient_scope":
		want = []string{"Bearer ", `error="insufficient_scope"`, `scope="` + d.need + `"`}
		if underProtocol(op.Path) {
			want = append(want, "resource_metadata=")
		}
	case d.status != http.StatusUnauthorized:
		return ""
	case underProtocol(op.Path) && p.bearer:
		want = []string{"Bearer ", `error="invalid_token"`, "resource_metadata="}
	case underProtocol(op.Path):
		want = []string{"Bearer ", "resource_metadata="}
	}
	for _, part := range want {
		if !strings.Contains(told, part) {
			return fmt.Sprintf("is told %q, without %s", told, part)
		}
	}
	if !p.bearer && strings.Contains(told, "invalid_token") {
		return "is told of a token that it did not bring"
	}
	return ""
}

// session is the one that a pass brings.
func (p pass) session(r *ring) (client.Session, bool) {
	s, ok := r.sessions[p.name]
	return s, ok
}
