package access

import (
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/signalcast/signalcast/test/system/openapi"
	"github.com/signalcast/signalcast/test/system/stack"
)

// Values of members that the test adds to requests. A sender must not be able to set these members.
const (
	plantedText   = "plantedcanary"
	plantedDay    = "2001-02-03"
	plantedNumber = 987654321
	plantedID     = "0badc0de-0000-7000-8000-00000badc0de"
)

// TestBodiesSetOnlyTheirMembers checks that members of a body which the sender must not set have no effect (guarantee
// G8).
func TestBodiesSetOnlyTheirMembers(t *testing.T) {
	t.Parallel()
	s := accessStack(t)
	began := stack.Query[time.Time](t, s, "SELECT now()")
	b := &bodies{
		s: s, crowd: stack.NewCrowd(200), began: began, me: s.NewOwner(t), victim: s.NewOwner(t), fan: s.NewOperator(t), webhooks: s.SeedOperators(t, 10),
	}
	b.fanBrowser, b.friendBrowser = b.fan.Session(t), b.me.Friend.Session(t)
	b.me.NewStation(t, b.ownStation())
	if _, err := s.DB(t).Exec(t.Context(), `INSERT INTO hub.streamer_profiles (handle, status, updated_at) VALUES ($1, 'approved', now())
		ON CONFLICT (handle) DO UPDATE SET status = 'approved'`, b.me.Handle); err != nil {
		t.Fatal(err)
	}
	for _, op := range openapi.ForTest(t).Operations {
		inProtocol := strings.HasPrefix(op.Path, stack.ProtocolPath)
		if op.Body() == nil || op.Form() && !inProtocol || strings.HasPrefix(op.Path, stack.ProtocolPath+"/oauth/") {
			continue // forms store no further members
		}
		t.Run(op.Name(), func(t *testing.T) { b.plant(t, op) })
	}
	b.requireNothingStored(t)
}

// bodies sends request bodies that contain additional members.
type bodies struct {
	s                         *stack.Stack
	crowd                     *stack.Crowd
	me, victim                *stack.Owner
	fan                       *stack.Operator
	fanBrowser, friendBrowser stack.Set
	webhooks                  []*stack.Operator // a person may have at most ten webhooks
	began                     time.Time
	n                         int
}

func (b *bodies) ownStation() string { return "own-" + b.me.Station }

// planted returns members that a sender must not set, without those that the route itself defines.
func (b *bodies) planted(op *openapi.Operation) stack.JSON {
	at := plantedDay + "T04:05:06.000Z"
	all := stack.JSON{
		"handle": b.victim.Handle, "privyId": plantedText + "-privy", "providerId": plantedText + "-provider", "score": plantedNumber,
		"status": "WON", "outcome": "YES", "createdAt": at, "resolvedAt": at, "operatorType": "system_bot", "tier": "enterprise",
		"permissions": []string{"read", "signal", "broadcast"}, "actor": plantedText + "-actor", "resolver": plantedText + "-resolver",
		"userId": b.victim.ID, "denpaId": b.victim.ID, "operatorId": b.victim.ID, "ownerId": b.victim.ID, "id": plantedID,
		"publicId": "op_pl0000000000", "isHouse": true, "seeded": true, "scoreBasisBps": plantedNumber, "priceVerified": true,
		"sessionVersion": plantedNumber, "verifiedAt": at,
	}
	if op.Path == "/api/auth/privy" {
		all["handle"], all["username"], all["displayName"] = plantedText+"_handle", plantedText+"_name", plantedText+" name"
	}
	if strings.HasPrefix(op.Path, webhooksPath) {
		maps.Copy(all, stack.JSON{
			"secret": "whsec_" + plantedText, "cursor": plantedNumber, "taken": plantedNumber, "revision": plantedNumber, "active": false,
			"failingSince": at, "nextAttemptAt": at, "url": "https://" + plantedText + ".example/",
		})
	}
	for name := range op.Body().Properties {
		delete(all, name)
	}
	return all
}

// plant sends a valid body without changes, and then with all planted members. If that is refused, it sends the body with each
// planted member separately.
func (b *bodies) plant(t *testing.T, op *openapi.Operation) {
	before := b.victim.Holdings(t)
	planted := b.planted(op)
	a := b.send(t, op, nil)
	for range 5 { // the programme may have changed the slot in the meantime
		if a.Code() == "slot_taken" {
			a = b.send(t, op, nil)
		}
	}
	if a.Status >= 300 && !slices.Contains(mayRefuse, op.Path) {
		t.Errorf("a valid body was answered %d; want a success: %s", a.Status, a.Body)
	}
	if a := b.send(t, op, planted); a.Status >= 300 {
		for name, value := range planted {
			b.send(t, op, stack.JSON{name: value})
		}
	}
	if after := b.victim.Holdings(t); before != after {
		t.Errorf("the request changed objects of another person; after:\n%s\nbefore:\n%s", after, before)
	}
}

// mayRefuse lists routes that may refuse the requests of this test: their bodies are signed, or they need a live
// stream.
var mayRefuse = []string{
	stack.ProtocolPath + "/messages", stack.ProtocolPath + "/messages/verify", stack.ProtocolPath + "/signers", "/api/live/{handle}/clip",
}

// send sends a valid request with additional members in its body and in its query.
func (b *bodies) send(t *testing.T, op *openapi.Operation, planted stack.JSON) stack.Answer {
	t.Helper()
	b.n++
	set, body := b.valid(t, op)
	if body == nil {
		t.Fatalf("bodies.valid has no case for %s; add one", op.Name())
	}
	body = maps.Clone(body)
	maps.Copy(body, planted)
	base := b.s.HubAt(b.n)
	if op.Host == "api" {
		base = b.s.API
	}
	path := strings.NewReplacer(
		webhooksPath+"/{id}", webhooksPath+"/"+b.me.Webhook, "{marketId}", b.me.Market, "{id}", b.me.Call, "{appId}", b.me.App.ID,
		"{stationId}", b.ownStation(), "{handle}", b.me.Handle,
	).Replace(op.Path)
	values := url.Values{}
	for name, value := range planted {
		values.Set(name, fmt.Sprint(value))
	}
	a := sendPatiently(t, b.crowd, op.Method, base+path+"?"+values.Encode(), combine(set, stack.Body(body)))
	limited := a.Status == http.StatusTooManyRequests && op.Path != "/api/reports" // at most ten reports per day
	shown := a.Status < 300 && (a.Contains(plantedText) || a.Contains(plantedDay) || a.Contains(plantedID))
	if a.Status >= 500 || limited || shown {
		t.Errorf("a body with the members %v was answered %d: %.300s", slices.Sorted(maps.Keys(planted)), a.Status, a.Body)
	}
	return a
}

// valid returns a credential and a body that the route of the operation accepts.
func (b *bodies) valid(t *testing.T, op *openapi.Operation) (stack.Set, stack.JSON) {
	t.Helper()
	const p = stack.ProtocolPath
	e, key, login := b.me, stack.Bearer(b.me.Key), stack.Bearer(b.me.Login)
	market := func() string { return b.s.NewNativeMarket(t, 5000, nil) }
	webhook := b.webhooks[b.n%len(b.webhooks)]
	newcomer := func() stack.Set {
		person := "newcomer_" + uuid.NewString()[24:]
		return stack.Bearer(stack.Post(t, b.s.IDP+"/mint", stack.Body(stack.JSON{"user": person})).Require(http.StatusOK).Text("token"))
	}
	switch op.Method + " " + op.Path {
	case "POST /api/predictions":
		return e.Browser, stack.Call(market(), "YES", 5000)
	case "POST " + p + "/predictions", "POST " + p + "/signals":
		return key, stack.JSON{"marketId": market(), "position": "YES", "priceBps": 5000}
	case "POST /api/mcp":
		return key, toolCall("submit_signal", stack.Call(market(), "YES", 5000))
	case "POST " + p + "/mcp":
		return nil, toolCall("get_market", stack.JSON{"marketId": market()})
	case "POST /api/signals/{id}/events":
		return key, stack.JSON{"type": "reaffirm"}
	case "POST /api/m/{marketId}/streams":
		return e.Browser, stack.JSON{"url": "https://video.example/a.m3u8"}
	case "POST /api/auth/privy":
		return newcomer(), stack.JSON{}
	case "POST /api/dev/keys", "POST /api/v1/agent/keys":
		return newcomer(), stack.JSON{"label": "a key", "permissions": []string{"read"}}
	case "POST /api/dev/apps":
		return newcomer(), stack.JSON{
			"name": "App", "type": "public", "redirectUris": []string{stack.AppRedirect}, "scopes": []string{"profile:read"},
		}
	case "PATCH /api/dev/apps/{appId}":
		return login, stack.JSON{"name": "Renamed"}
	case "POST /api/dev/apps/{appId}/secret":
		return login, stack.JSON{"immediate": true}
	case "POST /api/user/notifications/read":
		list := stack.Get(t, b.s.Hub+"/api/user/notifications", e.Browser).Require(http.StatusOK)
		return e.Browser, stack.JSON{"upTo": list.Text("notifications.0.id")}
	case "POST /api/user/follow", "DELETE /api/user/follow":
		return e.Browser, stack.JSON{"handle": e.Friend.Handle}
	case "POST /api/streamer/stream":
		return login, stack.JSON{"label": "a stream"}
	case "POST /api/live/{handle}/clip":
		return b.fanBrowser, stack.JSON{"title": "a clip"}
	case "POST /api/streamer/profile":
		return key, stack.JSON{"bio": "a bio"}
	case "POST /api/streamer/signal":
		return key, stack.JSON{"marketId": e.Market, "name": "an overlay"}
	case "POST /api/streamer/heartbeat":
		return key, stack.JSON{"state": "live"}
	case "POST /api/streamer/register":
		return b.friendBrowser, stack.JSON{"lanes": []string{"science"}}
	case "POST /api/live/{handle}/view":
		return nil, stack.JSON{"viewerId": "a viewer"}
	case "POST /api/identity/claim":
		return combine(e.Browser, stack.Header("Privy-Id-Token", e.IdentityToken)), stack.JSON{"address": e.Wallet}
	case "POST " + webhooksPath:
		return stack.Bearer(webhook.Key), stack.WebhookDraft()
	case "PATCH " + webhooksPath + "/{id}", "PUT " + stationsPath + "/{stationId}":
		return key, stack.JSON{"description": "a description"}
	case "POST " + stationsPath:
		id := "new-" + uuid.NewString()[24:]
		return stack.Bearer(webhook.Key), stack.JSON{"stationId": id, "name": "A station", "url": "https://station.example"}
	case "POST /api/reports":
		return key, stack.JSON{"kind": "profile", "id": e.Handle, "reason": "checked"}
	case "POST /api/v1/signals/categorize":
		return key, stack.JSON{"items": []any{stack.JSON{"title": "Will this question have a lane?"}}}
	case "POST " + p + "/signers/challenge":
		return key, stack.JSON{"publicKey": e.NewSigner(t).PublicKey}
	case "POST " + p + "/signers":
		return key, stack.JSON{
			"publicKey": e.Signer.PublicKey, "scopes": []string{"signal:create"}, "challenge": "x", "proof": strings.Repeat("0", 128),
		}
	case "POST " + p + "/messages", "POST " + p + "/messages/verify":
		return nil, stack.JSON{
			"type": "signal.create", "timestamp": time.Now().UnixMilli(), "nonce": "0123456789abcdef", "payload": stack.JSON{},
		}
	}
	return b.s.Admin(), b.validForAdmin(t, op)
}

// validForAdmin returns a body that a route for administrators accepts.
func (b *bodies) validForAdmin(t *testing.T, op *openapi.Operation) stack.JSON {
	t.Helper()
	market := func() string { return b.s.NewNativeMarket(t, 5000, nil) }
	switch op.Method + " " + op.Path {
	case "POST /api/admin/markets":
		return stack.JSON{"question": "Will this market be created?", "lane": "OTHER", "cutoffAt": stack.Stamp(time.Now().AddDate(0, 1, 0))}
	case "POST /api/admin/operators":
		return stack.JSON{"handle": b.me.Handle, "house": false}
	case "POST /api/admin/clips":
		return stack.JSON{"id": b.me.Clip, "boosted": false}
	case "POST /api/admin/streamers":
		return stack.JSON{"handle": b.me.Handle, "status": "approved"}
	case "POST /api/admin/apps/{appId}":
		return stack.JSON{"trusted": true}
	case "POST /api/admin/markets/{marketId}":
		return stack.JSON{"rated": true, "reason": "checked"}
	case "POST /api/admin/moderation":
		return stack.JSON{"kind": "profile", "id": b.me.Handle, "action": "show", "reason": "checked"}
	case "POST /api/admin/pins":
		return stack.JSON{"marketId": b.s.NewVenueMarket(t, "polymarket", .41, nil).ID}
	case "POST /api/admin/daily-digest":
		return stack.JSON{"dry": true}
	case "PUT /api/v1/markets/{marketId}/lane":
		return stack.JSON{"lane": "OTHER"}
	case "POST " + stationsPath + "/{stationId}/status":
		return stack.JSON{"status": "paused"}
	case "POST /api/broadcast/preempt":
		return freeSlot(t, b.s)
	case "POST /api/resolution/finalize":
		return stack.JSON{"marketId": market(), "verdict": "YES"}
	case "POST /api/resolution/dispute":
		return stack.JSON{"marketId": market(), "disputed": true}
	case "POST /api/admin/resolve-signals":
		return stack.JSON{"marketId": market(), "outcome": "YES"}
	}
	return nil
}

// toolCall returns the MCP request that calls a tool.
func toolCall(tool string, arguments stack.JSON) stack.JSON {
	return stack.JSON{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": stack.JSON{"name": tool, "arguments": arguments}}
}

// usedSlots contains the slots that freeSlot has returned, by lane and time.
var usedSlots sync.Map

// freeSlot returns the body of a programme entry that the hub accepts: it repeats a bumper at the time of that bumper. It never
// returns the same slot twice.
func freeSlot(t *testing.T, s *stack.Stack) (slot stack.JSON) {
	t.Helper()
	stack.Eventually(t, 30*time.Second, "a bumper in the programme", func() bool {
		a := stack.Get(t, s.Hub+"/api/broadcast/program?limit=400&lanes=0").Require(http.StatusOK)
		for _, v := range a.List("segments") {
			segment, _ := v.(map[string]any)
			starts, _ := segment["startsAt"].(string)
			if at, err := time.Parse(time.RFC3339, starts); segment["kind"] != "bumper" || err != nil || time.Until(at) < time.Minute {
				continue
			}
			if _, used := usedSlots.LoadOrStore(fmt.Sprint(segment["category"], starts), true); !used {
				slot = stack.JSON{"marketId": segment["id"], "lane": segment["category"], "startsAt": starts, "reason": "as it was"}
				return true
			}
		}
		return false
	})
	return slot
}

// requireNothingStored reports a test error for each table that contains a planted value. For members whose planted value also
// occurs for other reasons, it executes separate queries.
func (b *bodies) requireNothingStored(t *testing.T) {
	t.Helper()
	tables := stack.Query[string](t, b.s, `SELECT string_agg(format('%I.%I', schemaname, tablename), ' ' ORDER BY 1) FROM pg_tables
		WHERE schemaname IN ('api', 'hub', 'clock') AND tablename <> 'schema_version'`)
	for table := range strings.FieldsSeq(tables) {
		const pattern = plantedText + "|" + plantedDay + "|987654321|" + plantedID
		if n := stack.Query[int](t, b.s, "SELECT count(*) FROM "+table+" t WHERE t::text ~ '"+pattern+"'"); n > 0 {
			t.Errorf("%d rows of %s contain planted values; want 0", n, table)
		}
	}
	for what, sql := range map[string]string{
		"calls from before the test": "SELECT count(*) FROM api.signals WHERE user_id = $1 AND created_at < $2",
		"keys of another tier": `SELECT count(*) FROM api.operator_keys WHERE created_at > $2 AND tier <> 'free'
			AND user_id IN (SELECT id FROM api.users WHERE handle LIKE 'newcomer%' OR id = $1)`,
		"people of another kind": `SELECT count(*) FROM api.users WHERE (created_at > $2 AND handle LIKE 'newcomer%' OR id = $1)
			AND (operator_type <> 'human' OR is_house OR seeded)`,
	} {
		if n := stack.Query[int](t, b.s, sql, b.me.ID, b.began); n > 0 {
			t.Errorf("%d %s; want 0", n, what)
		}
	}
	ids := make([]string, len(b.webhooks))
	for i, o := range b.webhooks {
		ids[i] = o.ID
	}
	if n := stack.Query[int](t, b.s, `SELECT count(*) FROM api.webhooks WHERE user_id = any($1::uuid[])
		AND (NOT active OR revision <> 1 OR old_secret IS NOT NULL)`, ids); n > 0 {
		t.Errorf("%d webhooks have another initial state than a new webhook; want 0", n)
	}
}
