package access

import (
	"math/rand/v2"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/signalcast/signalcast/test/system/openapi"
	"github.com/signalcast/signalcast/test/system/stack"
)

// TestRoutesAcceptOnlyTheirCredentials checks that each route accepts the credentials that the OpenAPI document names,
// and no others (guarantee G7).
func TestRoutesAcceptOnlyTheirCredentials(t *testing.T) {
	t.Parallel()
	s, doc := accessStack(t), openapi.ForTest(t)
	m := newMatrix(t, s)
	var consent, rest, signOut []*openapi.Operation
	for _, op := range doc.Operations {
		switch op.Name() {
		case "GET hub/protocol/authorize", "POST hub/protocol/authorize":
			consent = append(consent, op) // tested first, while no session has used up its limit
		case "DELETE hub/api/auth/privy", "POST hub/sign-out", "POST hub/settings/sessions/revoke-all":
			signOut = append(signOut, op) // tested last, because they end sessions
		default:
			rest = append(rest, op)
		}
	}
	for _, group := range [][]*openapi.Operation{consent, rest, signOut} {
		t.Run("group", func(t *testing.T) {
			for _, op := range group {
				t.Run(op.Name(), func(t *testing.T) {
					t.Parallel()
					for _, c := range m.all {
						m.check(t, op, c)
					}
				})
			}
		})
	}
	t.Run("cron secret with a body", func(t *testing.T) {
		for _, op := range doc.Operations {
			if op.Takes("cronSecret") && op.Body() != nil {
				body := stack.Body(stack.JSON{"marketId": m.Market, "outcome": "YES"})
				a := m.send(t, op.Method, s.Hub+op.Path, query("secret", s.CronSecret), body)
				a.RequireError(http.StatusUnauthorized, "unauthenticated")
			}
		}
	})
}

// TestServedRoutesAreDescribed checks that the OpenAPI document contains exactly the routes that the services serve.
func TestServedRoutesAreDescribed(t *testing.T) {
	t.Parallel()
	s := accessStack(t)
	served := map[string]bool{}
	for _, op := range openapi.ForTest(t).Operations {
		served[op.Name()] = strings.HasSuffix(op.Path, "/healthz") || strings.HasSuffix(op.Path, "/readyz") // health checks are not in the route tables
	}
	parameter := regexp.MustCompile(`:(\w+)`)
	for process, host := range map[string]string{"hub": "hub", "hub-2": "hub", "api": "api", "clock": "clock"} {
		for _, route := range s.Routes(t, process) {
			method, path, _ := strings.Cut(route, " ")
			name := method + " " + host + parameter.ReplaceAllString(strings.Replace(path, "*", "{rest}", 1), "{$1}")
			if _, described := served[name]; !described {
				t.Errorf("%s serves %s, which the OpenAPI document does not describe", process, name)
			}
			served[name] = true
		}
	}
	for name, is := range served {
		if !is {
			t.Errorf("the OpenAPI document describes %s, which no service serves", name)
		}
	}
}

// matrix sends each credential to each route and checks the answers.
type matrix struct {
	*credentials
	crowd *stack.Crowd
}

func newMatrix(t *testing.T, s *stack.Stack) *matrix {
	t.Helper()
	return &matrix{credentials: newCredentials(t, s), crowd: stack.NewCrowd(200)}
}

// send sends a request from the next address of the crowd.
func (m *matrix) send(t testing.TB, method, address string, sets ...stack.Set) stack.Answer {
	t.Helper()
	return sendPatiently(t, m.crowd, method, address, sets...)
}

// check sends a request with a credential and reports an error if the answer is not the expected one.
func (m *matrix) check(t *testing.T, op *openapi.Operation, c credential) {
	t.Helper()
	want := c.expected(op)
	a := m.request(t, op, c, want)
	if why := want.mismatch(op, c, a); why != "" {
		t.Errorf("%s with %s: %s\n%d %.200s", op.Name(), c.name, why, a.Status, a.Body)
	}
}

// request sends a request that changes nothing, even if it is authorized: it refers to objects that do not exist, or lacks
// members.
func (m *matrix) request(t *testing.T, op *openapi.Operation, c credential, want expectation) stack.Answer {
	t.Helper()
	hub := m.s.HubAt(rand.IntN(2))
	base := map[string]string{"hub": hub, "api": m.s.API, "clock": m.s.Clock}[op.Host]
	path := m.path(op)
	if c.handle != "" && op.Takes("operatorKey") {
		path = strings.Replace(path, "/users/"+m.Handle+"/", "/users/"+c.handle+"/", 1)
	}
	sets := []stack.Set{stack.Header("Accept", "application/json"), combine(c.set)}
	switch {
	case op.Path == "/ws": // refused for its websocket version, after the check of the credential
		for name, value := range map[string]string{
			"Connection": "Upgrade", "Upgrade": "websocket", "Sec-Websocket-Version": "7", "Sec-Websocket-Key": "AAAAAAAAAAAAAAAAAAAAAA==",
		} {
			sets = append(sets, stack.Header(name, value))
		}
	case strings.HasPrefix(op.Path, stack.ProtocolPath+"/oauth/"):
		unknown := strings.Repeat("A", 43)
		form := url.Values{"grant_type": {"refresh_token"}, "refresh_token": {"drt_" + unknown}, "token": {"dat_" + unknown}}
		if !c.client {
			form.Set("client_id", m.public.ID)
		}
		sets = append(sets, stack.Form(form))
	case op.Path == "/settings/sessions/revoke-all" && c.session != nil: // ends the session, so each request has its own
		sets = append(sets, func(r *http.Request) { r.Header.Del("Cookie") }, m.Session(t), stack.Form(url.Values{}))
	case op.Form():
		form := stack.Form(m.form(t, op, c, want, hub))
		sets = append(sets, form, stack.Header("Sec-Fetch-Site", "same-origin"))
	case op.Method == http.MethodGet && op.Path == "/dev/session":
		sets = append(sets, func(r *http.Request) {
			r.AddCookie(&http.Cookie{Name: "db_dev_state", Value: "x"})
			r.AddCookie(&http.Cookie{Name: "db_dev_next", Value: m.Login})
		})
	case op.Body() != nil && !op.Takes("cronSecret"):
		sets = append(sets, stack.Body("{}"))
	}
	return m.send(t, op.Method, base+path, sets...)
}

// form returns the form values that a page of the hub sends.
func (m *matrix) form(t *testing.T, op *openapi.Operation, c credential, want expectation, hub string) url.Values {
	t.Helper()
	switch op.Path {
	case "/apps/revoke":
		return url.Values{"grant": {openapi.NoID}}
	case "/dev/keys/revoke":
		return url.Values{"id": {openapi.NoID}}
	case "/dev/session":
		return url.Values{"token": {"a.b.c"}, "state": {"x"}}
	case "/protocol/authorize":
		request := "x"
		if c.session != nil && want == admitted {
			page := m.send(t, http.MethodGet, hub+"/protocol/authorize?"+m.public.AuthorizeRequest("profile:read").Encode(), c.session)
			request = page.Require(http.StatusOK).ConsentRequest()
		}
		return url.Values{"request": {request}, "decision": {"deny"}}
	}
	return url.Values{}
}

// path returns the path of a route. Routes that only read refer to existing objects, other routes to objects that do
// not exist.
func (m *matrix) path(op *openapi.Operation) string {
	id := m.Call
	webhooks := strings.HasPrefix(op.Path, webhooksPath)
	switch {
	case strings.Contains(op.Path, "/passports/"):
		id = m.ID
	case strings.Contains(op.Path, "/messages/"):
		id = m.Message
	case webhooks && op.Method == http.MethodGet:
		id = m.Webhook
	case webhooks:
		id = openapi.NoID
	}
	app := openapi.NoID
	if op.Method == http.MethodGet {
		app = m.public.ID
	}
	path := strings.NewReplacer(
		"{marketId}", m.Market, "{id}", id, "{handle}", m.Handle, "{appId}", app, "{grantId}", openapi.NoID, "{publicKey}", openapi.NoKey,
		"{type}", "signal.create", "{eventKey}", "x", "{file}", "app.css", "{rest}", "x",
		"{operation}", "getSignal", "{schema}", "Signal",
	).Replace(op.Path)
	switch op.Path {
	case "/api/admin/daily-digest":
		path += "?dry=1"
	case "/dev/session":
		path += "?state=x"
	case "/protocol/authorize":
		if op.Method == http.MethodGet {
			path += "?" + m.public.AuthorizeRequest("profile:read").Encode()
		}
	}
	return path
}

// expectation is the expected answer of a route to a credential: an error, or the zero value if the route admits the request.
type expectation struct {
	status int
	code   string
	scope  string // scope or permission that is missing
}

var admitted = expectation{}

// expected returns the expected answer of a route to a credential, from the OpenAPI document and requiredPowers.
func (c credential) expected(op *openapi.Operation) expectation {
	forOther := slices.Contains(c.schemes, "appToken") && c.forAgents != (op.Path == stack.ProtocolPath+"/mcp")
	fits := slices.ContainsFunc(c.schemes, op.Takes) && !forOther
	unknown := expectation{status: http.StatusUnauthorized, code: "unauthenticated"}
	if op.Takes("appCredentials") {
		unknown.code = "invalid_client"
	}
	longLived := op.Path == "/ws" || op.Path == "/api/v1/feed/stream"
	tolerated := op.Method == http.MethodGet && op.Public() && slices.ContainsFunc(c.schemes, isBearerScheme) &&
		!op.Takes("appCredentials") && !strings.Contains(op.Path, "/dev") // a public read accepts every valid bearer
	switch {
	case !op.Knows(http.StatusUnauthorized): // the route reads no credential
		return admitted
	case longLived && c.query: // refused, because URLs are logged
		return unknown
	case c.bearer && tolerated && !fits:
		return admitted
	case c.bearer && fits, !c.bearer && fits && (!op.Takes("adminSecret") || op.Takes("sessionId") && c.admin == noSecret):
		return c.expectedPower(op)
	case c.bearer:
		return unknown
	case op.Takes("adminSecret") && c.admin != noSecret:
		return c.admin.expected()
	case op.Takes("cronSecret") && c.cron != noSecret:
		return c.cron.expected()
	case op.Public():
		return admitted
	}
	return unknown
}

// isBearerScheme reports whether a security scheme is one of the bearer credentials that identify an operator, an app or a person.
func isBearerScheme(scheme string) bool {
	return scheme == "operatorKey" || scheme == "appToken" || scheme == "identityToken"
}

func (s secretState) expected() expectation {
	if s == rightSecret {
		return admitted
	}
	return expectation{status: http.StatusForbidden, code: "forbidden"}
}

// expectedPower returns the expected answer of a route to a valid credential that may lack a scope or permission.
func (c credential) expectedPower(op *openapi.Operation) expectation {
	required, ok := requiredPowers[op.Name()]
	if !ok || c.powers == nil {
		return admitted
	}
	power := required.scope
	if slices.Contains(c.schemes, "operatorKey") {
		power = required.permission
	}
	if power == "" || slices.Contains(c.powers, power) {
		return admitted
	}
	return expectation{status: http.StatusForbidden, code: "insufficient_scope", scope: required.named(op)}
}

// mismatch returns a text that states how an answer differs from the expected one, or "" if it does not differ.
func (e expectation) mismatch(op *openapi.Operation, c credential, a stack.Answer) string {
	switch {
	case e == admitted && op.Path == "/ws":
		if a.Status != http.StatusBadRequest && a.Status != http.StatusUpgradeRequired {
			return "want the refusal of the websocket version"
		}
		return ""
	case e == admitted:
		refused := (a.Status == http.StatusUnauthorized || a.Status == http.StatusForbidden) && a.Code() != "not_approved"
		if refused || !op.Knows(a.Status) || a.Status >= 500 {
			return "want an answer to an authorized request"
		}
		return ""
	case a.Status != e.status || a.Code() != e.code:
		return "want the refusal " + http.StatusText(e.status) + " " + e.code
	case a.Member("message") == "" || a.Status == http.StatusUnauthorized && a.Member("reason") == "":
		return "want a message, and the reason of a 401"
	}
	return e.missingChallenge(op, c, a.Header.Get("WWW-Authenticate"))
}

// missingChallenge returns the part that the WWW-Authenticate challenge of a refusal lacks (RFC 6750 3, RFC 7235 4.1), or "" if
// it lacks none.
func (e expectation) missingChallenge(op *openapi.Operation, c credential, challenge string) string {
	protocol := underProtocol(op.Path)
	want := []string{"Bearer"}
	switch {
	case e.code == "invalid_client":
		want = []string{"Basic realm="}
	case e.code == "insufficient_scope":
		want = []string{"Bearer ", `error="insufficient_scope"`, `scope="` + e.scope + `"`}
	case e.status != http.StatusUnauthorized:
		return ""
	case protocol && c.bearer:
		want = []string{"Bearer ", `error="invalid_token"`}
	}
	if protocol && e.code != "invalid_client" {
		want = append(want, "resource_metadata=")
	}
	for _, part := range want {
		if !strings.Contains(challenge, part) {
			return "want " + part + " in the challenge " + challenge
		}
	}
	if !c.bearer && strings.Contains(challenge, "invalid_token") {
		return "the challenge names a token that was not sent: " + challenge
	}
	return ""
}

// underProtocol reports whether the path belongs to the protocol routes, which read no cookies.
func underProtocol(path string) bool {
	return path == stack.ProtocolPath || strings.HasPrefix(path, stack.ProtocolPath+"/")
}
