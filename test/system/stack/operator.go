package stack

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"maps"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/signalcast/signalcast/sdk/go/signalcast"
)

// Operator is a user with an operator key. Tests file calls with this key. The requests of an operator come from an IP
// address that no other operator uses.
type Operator struct {
	*Client
	ID     string // user id; empty if the system has no DatabaseURL
	Handle string
	Login  string // identity token; empty for operators of SeedOperators
	Key    string

	s *Stack
}

var (
	operators atomic.Int64
	runID     = strings.ToLower(rand.Text()[:6])
)

// NewOperator signs a new user in at the development identity provider and creates an operator key.
func (s *Stack) NewOperator(t testing.TB) *Operator {
	t.Helper()
	o := &Operator{Client: NewClient(), Handle: fmt.Sprintf("sys_%s_%d", runID, operators.Add(1)), s: s}
	o.Login = o.NewLogin(t)
	o.Key, _ = o.Mint(t, JSON{"label": "system test"})
	if s.DatabaseURL == "" {
		return o
	}
	o.ID = Query[string](t, s, "SELECT id::text FROM api.users WHERE handle = $1", o.Handle)
	return o
}

// NewLogin returns a new identity token of the operator from the development identity provider.
func (o *Operator) NewLogin(t testing.TB) string {
	t.Helper()
	return o.Do(t, http.MethodPost, o.s.IDP+"/mint", Body(JSON{"user": o.Handle})).Require(http.StatusOK).Text("token")
}

// Mint creates an operator key and returns the key and its ID. body is the request body.
func (o *Operator) Mint(t testing.TB, body JSON) (key, id string) {
	t.Helper()
	a := o.Retry(t, http.MethodPost, o.s.Hub+"/api/dev/keys", Bearer(o.Login), Body(body)).Require(http.StatusCreated)
	return a.Text("key"), a.Text("id")
}

// Session signs the operator in at the hub. It returns a Set that adds the session cookies, and the header Sec-Fetch-Site that a
// page of the hub would send.
func (o *Operator) Session(t testing.TB) Set {
	t.Helper()
	cookies := o.Retry(t, http.MethodPost, o.s.Hub+"/api/auth/privy", Bearer(o.Login)).Require(http.StatusOK).Cookies()
	return func(r *http.Request) {
		for _, c := range cookies {
			r.AddCookie(c)
		}
		r.Header.Set("Sec-Fetch-Site", "same-origin")
	}
}

// SetStreamer uses the admin secret to set the streamer status of the operator, for example to "approved" or "suspended".
func (o *Operator) SetStreamer(t testing.TB, status string) {
	t.Helper()
	body := Body(JSON{"handle": o.Handle, "status": status})
	plain.Retry(t, http.MethodPost, o.s.Hub+"/api/admin/streamers", o.s.Admin(), body).Require(http.StatusOK)
}

// PageCookies signs the operator in and returns, by name, the cookies of a browser that is signed in on all pages.
func (o *Operator) PageCookies(t testing.TB) map[string]string {
	t.Helper()
	all := map[string]string{"db_dev": o.Login} // used by the developer page
	for _, c := range o.Retry(t, http.MethodPost, o.s.Hub+"/api/auth/privy", Bearer(o.Login)).Require(http.StatusOK).Cookies() {
		all[c.Name] = c.Value
	}
	return all
}

// Cookies returns the cookies that the response sets.
func (a Answer) Cookies() []*http.Cookie { return (&http.Response{Header: a.Header}).Cookies() }

// SDK returns a client of the Go SDK that sends the key of the operator.
func (o *Operator) SDK(t testing.TB) *signalcast.Client {
	t.Helper()
	c, err := signalcast.New(signalcast.Options{
		Hub: o.s.Hub, API: o.s.API, Clock: o.s.Clock, Token: signalcast.Key(o.Key), HTTPClient: o.http,
	})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// File files a call through POST /api/predictions with the operator key and returns the response. It does not retry.
func (o *Operator) File(t testing.TB, body JSON, sets ...Set) Answer {
	t.Helper()
	return o.Do(t, http.MethodPost, o.s.Hub+"/api/predictions", append([]Set{Bearer(o.Key), Body(body)}, sets...)...)
}

// NewCall files a call and returns its ID. It fails the test if the call is refused. The parameter more contains additional
// members of the request, or is nil.
func (o *Operator) NewCall(t testing.TB, market, side string, price int, more JSON) string {
	t.Helper()
	body := Call(market, side, price)
	maps.Copy(body, more)
	a := retry(t, func() Answer { return o.File(t, body) })
	if a.Code() == "already_predicted" { // the response to an earlier attempt was 503 although the call was stored
		return a.Text("id")
	}
	return a.Require(http.StatusOK).Text("id")
}

// Send sends a POST request to a path of the hub. The parameter as sets the credential. Send fails the test unless the
// response has this status.
func (o *Operator) Send(t testing.TB, path string, status int, as Set, body JSON) Answer {
	t.Helper()
	return o.Retry(t, http.MethodPost, o.s.Hub+path, as, Body(body)).Require(status)
}

// Call returns a request body with the three members that a call requires. price is the price of the chosen side in basis points.
func Call(market, side string, price int) JSON {
	return JSON{"marketId": market, "direction": side, "priceAtPrediction": price}
}

// With returns a copy of the object j in which one member is set: name is its name, and value is its value.
func (j JSON) With(name string, value any) JSON {
	out := JSON{name: value}
	for n, v := range j {
		if n != name {
			out[n] = v
		}
	}
	return out
}

const insertOperators = `
WITH u AS (
    INSERT INTO api.users (id, issuer, provider_id, public_id, handle, display_name, created_at)
    SELECT id, 'seed', handle, public_id, handle, handle, now()
    FROM unnest($1::uuid[], $2::text[], $3::text[]) AS t (id, handle, public_id)
    RETURNING id
), scores AS (
    INSERT INTO api.operator_scores (user_id) SELECT id FROM u
), totals AS (
    INSERT INTO api.operator_totals (user_id) SELECT id FROM u
)
SELECT count(*) FROM u`

const insertKeys = `
INSERT INTO api.operator_keys (id, user_id, hash, prefix, last4, label, permissions, created_at)
SELECT id, user_id, hash, 'dk_', last4, 'seeded', '{read,signal,broadcast}', now()
FROM unnest($1::uuid[], $2::uuid[], $3::bytea[], $4::text[]) AS t (id, user_id, hash, last4)`

// SeedOperators inserts n operators with one key each directly into the database. Each operator sends requests from a different
// IP address.
func (s *Stack) SeedOperators(t testing.TB, n int) []*Operator {
	t.Helper()
	out := make([]*Operator, n)
	var ids, handles, publics, keyIDs, last4 []string
	var hashes [][]byte
	for i := range out {
		id, secret := uuid.Must(uuid.NewV7()).String(), make([]byte, 32)
		_, _ = rand.Read(secret) // never returns an error
		o := &Operator{
			Client: NewClient(), ID: id, Handle: fmt.Sprintf("seed_%s_%d", runID, operators.Add(1)),
			Key: "dk_" + base64.RawURLEncoding.EncodeToString(secret), s: s,
		}
		hash, public := sha256.Sum256([]byte(o.Key)), sha256.Sum256([]byte("public "+id))
		ids, handles, publics = append(ids, id), append(handles, o.Handle), append(publics, "op_"+hex.EncodeToString(public[:8]))
		keyIDs, hashes, last4 = append(keyIDs, uuid.Must(uuid.NewV7()).String()), append(hashes, hash[:]), append(last4, o.Key[len(o.Key)-4:])
		out[i] = o
	}
	if _, err := s.DB(t).Exec(t.Context(), insertOperators, ids, handles, publics); err != nil {
		t.Fatalf("insert operators: %v", err)
	}
	if _, err := s.DB(t).Exec(t.Context(), insertKeys, keyIDs, ids, hashes, last4); err != nil {
		t.Fatalf("insert keys: %v", err)
	}
	return out
}

// Stamp formats a time in the format of the API: RFC 3339 in UTC with milliseconds.
func Stamp(at time.Time) string { return at.UTC().Format("2006-01-02T15:04:05.000Z") }
