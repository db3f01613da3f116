package web

import (
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/signalcast/signalcast/test/system/openapi"
	"github.com/signalcast/signalcast/test/system/stack"
)

// credential is the credential of a request, with the security scheme of the OpenAPI document that accepts it.
type credential struct {
	name, scheme string
	set          stack.Set
}

func credentials(t *testing.T, s *stack.Stack) []credential {
	t.Helper()
	o := s.NewOwner(t)
	readKey, _ := o.Mint(t, stack.JSON{"label": "read", "permissions": []string{"read"}})
	basic := func(r *http.Request) { r.SetBasicAuth(o.App.ID, o.App.Secret) }
	cron := func(r *http.Request) {
		q := r.URL.Query()
		q.Set("secret", s.CronSecret)
		r.URL.RawQuery = q.Encode()
	}
	ownPage := func(r *http.Request) {
		developerCookie(o.Login)(r)
		r.Header.Set("Sec-Fetch-Site", "same-origin")
	}
	return []credential{
		{"no credential", "", func(*http.Request) {}},
		{"session", "sessionId", o.Browser},
		{"identity token", "identityToken", stack.Bearer(o.Login)},
		{"developer cookie", "developerToken", ownPage},
		{"key", "operatorKey", stack.Bearer(o.Key)},
		{"key that may only read", "operatorKey", stack.Bearer(readKey)},
		{"token of an application", "appToken", stack.Bearer(o.Tokens.Access)},
		{"credentials of an application", "appCredentials", basic},
		{"administrators' secret", "adminSecret", s.Admin()},
		{"wrong administrators' secret", "", stack.Header("x-admin-secret", "wrong")},
		{"cron secret", "cronSecret", cron},
		{"unknown key", "", stack.Bearer("dk_" + strings.Repeat("A", 43))},
		{"expired session", "", stack.Header("Cookie", "db_uid=x.1.0; db_sig=y")},
	}
}

// TestPrivateAnswersAreNotCached checks that shared caches must not store answers for one person, answers to refused
// credentials, or failures.
func TestPrivateAnswersAreNotCached(t *testing.T) {
	s, doc, crowd := webStack(t), openapi.ForTest(t), stack.NewCrowd(100)
	existing := map[string]string{"marketId": s.NewNativeMarket(t, 5000, nil), "handle": s.NewOperator(t).Handle}
	var private, public atomic.Int64
	all := credentials(t, s)
	t.Parallel()
	operation := func(o *openapi.Operation, n int) {
		for i, c := range all {
			sets := []stack.Set{c.set, stack.Header("Accept", "application/json")}
			if o.Form() {
				sets = append(sets, stack.Form(url.Values{"x": {"x"}}))
			} else if o.Body() != nil && !o.Takes("cronSecret") {
				sets = append(sets, stack.Body("{}"))
			}
			path := o.Fill(existing)
			if o.Path == "/api/admin/daily-digest" {
				path += "?dry=1"
			}
			a := crowd.Do(t, o.Method, s.Base(o.Host, n+i)+path, sets...)
			if !isPrivate(o, c, a.Status) {
				public.Add(1)
				continue
			}
			private.Add(1)
			if value := a.Header.Get("Cache-Control"); mayBeShared(value) {
				t.Errorf("%s with %s was answered %d with Cache-Control %q; want no-store or private", o.Name(), c.name, a.Status, value)
			}
		}
	}
	var signOuts []*openapi.Operation
	stack.Each(len(doc.Operations), 3, func(i int) {
		if o := doc.Operations[i]; !o.Streams() && !signsOut(o) {
			operation(o, i)
		}
	})
	for _, o := range doc.Operations {
		if signsOut(o) {
			signOuts = append(signOuts, o)
		}
	}
	for i, o := range signOuts {
		operation(o, i)
	}
	if private.Load() <= 100 || public.Load() <= 10 {
		t.Errorf("%d private and %d public answers were received; want more than 100 and 10", private.Load(), public.Load())
	}
}

func signsOut(o *openapi.Operation) bool {
	return o.Path == "/api/auth/privy" && o.Method == http.MethodDelete || o.Path == "/sign-out" ||
		o.Path == "/settings/sessions/revoke-all"
}

// isPrivate reports whether no cache may give the answer of an operation to another caller: answers to writes, to requests with
// credentials, and most errors.
func isPrivate(o *openapi.Operation, c credential, status int) bool {
	switch {
	case o.Gone():
		return false
	case o.Method != http.MethodGet, status >= 500:
		return true
	case status == http.StatusUnauthorized, status == http.StatusForbidden, status == http.StatusTooManyRequests:
		return true
	case status >= 400:
		return false
	}
	return !o.Public() || c.scheme != "" && o.Takes(c.scheme)
}

func mayBeShared(cacheControl string) bool {
	return strings.Contains(cacheControl, "public") || strings.Contains(cacheControl, "s-maxage") ||
		!strings.Contains(cacheControl, "no-store") && !strings.Contains(cacheControl, "private")
}
