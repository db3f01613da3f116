package rows

import (
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/signalcast/signalcast/test/prove/client"
	"github.com/signalcast/signalcast/test/prove/internal/frame"
	"github.com/signalcast/signalcast/test/system/openapi"
)

// g8 adds to every body what is not the sender's to say, one member at a time and all
// at once, and looks for it in everything that the system keeps.
var g8 = frame.Row{
	ID: "G8", Title: "nobody sets what is not theirs",
	Fault: frame.Fault{What: "a handle is taken from the body of a sign-in"},
	Run: func(ctx context.Context, env *frame.Env) (*frame.Seen, error) {
		seen := frame.NewSeen()
		doc, err := openapi.Load(env.Root)
		if err != nil {
			return nil, err
		}
		i, err := newIntruder(ctx, env, seen)
		if err != nil {
			return nil, err
		}
		for _, op := range doc.Operations {
			if op.Body() == nil || op.Form() && !strings.HasPrefix(op.Path, protocolPath) {
				continue // the forms of our pages have no members beside their own
			}
			if strings.HasPrefix(op.Path, protocolPath+"/oauth/") {
				continue // what an app sends for itself writes nothing that a member could name
			}
			if env.Size == frame.Small && op.Path != "/api/auth/privy" {
				continue
			}
			if err := i.at(ctx, op); err != nil {
				return nil, err
			}
		}
		if err := i.stored(ctx); err != nil {
			return nil, err
		}
		seen.Check(env.Size == frame.Small || i.taken*2 > i.sent, "only %d of %d bodies were taken", i.taken, i.sent)
		seen.Promise("changed fields 0", fmt.Sprintf("changed fields %d", i.changed))
		seen.Figure("accepted", i.taken)
		seen.Volume("%d bodies, %d members that are not the sender's, %d requests (%d taken)", i.bodies, i.members, i.sent, i.taken)
		return seen, nil
	},
}

// intruder is a person who says too much.
type intruder struct {
	fan    person // has a session of its own, with a limit of its own
	env    *frame.Env
	seen   *frame.Seen
	began  time.Time
	me     *estate
	victim *estate
	venue  string            // a market of the primary venue
	slot   map[string]any    // an entry that the programme has room for
	public string            // a key that signs nothing yet
	new    int               // people who sign in for the first time
	told   []client.Operator // who register webhooks: one has at most ten

	bodies, members, sent, taken, changed int
}

func newIntruder(ctx context.Context, env *frame.Env, seen *frame.Seen) (*intruder, error) {
	var began time.Time
	if err := env.DB.QueryRow(ctx, "SELECT now()").Scan(&began); err != nil {
		return nil, err
	}
	me, err := settle(ctx, env, "g8-writer")
	if err != nil {
		return nil, err
	}
	for range env.Of(0, 6, 6) { // each has a limit of its own
		k, err := mintWith(ctx, env, env.Hub(0)+"/api/dev/keys", me.login, nil)
		if err != nil {
			return nil, err
		}
		me.keys = append(me.keys, k)
	}
	i := &intruder{env: env, seen: seen, began: began, me: me}
	if i.fan, err = signUp(ctx, env, "g8-fan", 0); err != nil {
		return nil, err
	}
	if i.venue, err = env.Client.VenueMarket(ctx, env.Stack.Venues, "Will the intruder be pinned?", .41); err != nil {
		return nil, err
	}
	if i.slot, err = entry(ctx, env); err != nil {
		return nil, err
	}
	public, _, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return nil, err
	}
	i.public = hex.EncodeToString(public)
	if i.told, err = pool(ctx, env, "g8_told", 10, 1); err != nil {
		return nil, err
	}
	if i.victim, err = settle(ctx, env, "g8-victim"); err != nil {
		return nil, err
	}
	if err := enlist(ctx, env, me.keys[0].Key, "g8-own"); err != nil {
		return nil, err
	}
	return i, enlist(ctx, env, i.victim.keys[0].Key, "g8-victim")
}

const (
	planted     = "g8canary"
	plantedDay  = "2001-02-03"
	plantedSum  = "987654321"
	plantedUUID = "0badc0de-0000-7000-8000-00000badc0de"
)

// theirs are members that no sender sets, with values that tell.
func (i *intruder) theirs(op *openapi.Operation) map[string]any {
	all := map[string]any{
		"handle": i.victim.Handle, "privyId": planted + "-privy", "providerId": planted + "-provider", "score": 987654321, "status": "WON", "outcome": "YES",
		"createdAt": plantedDay + "T04:05:06.000Z", "resolvedAt": plantedDay + "T04:05:06.000Z", "operatorType": "system_bot", "tier": "enterprise",
		"permissions": []string{"read", "signal", "broadcast"}, "actor": planted + "-actor", "resolver": planted + "-resolver",
		"userId": i.victim.ID, "denpaId": i.victim.ID, "operatorId": i.victim.ID, "ownerId": i.victim.ID, "id": plantedUUID, "publicId": "op_" + planted[:2] + "0000000000",
		"isHouse": true, "seeded": true, "scoreBasisBps": 987654321, "priceVerified": true, "sessionVersion": 987654321, "verifiedAt": plantedDay + "T04:05:06.000Z",
	}
	if op.Path == "/api/auth/privy" {
		all["handle"], all["username"], all["displayName"] = planted+"_handle", planted+"_name", planted+" name"
	}
	if underHooks(op.Path) {
		maps.Copy(all, map[string]any{
			"secret": "whsec_" + planted, "cursor": 987654321, "taken": 987654321, "revision": 987654321, "active": false,
			"failingSince": plantedDay + "T04:05:06.000Z", "nextAttemptAt": plantedDay + "T04:05:06.000Z", "url": "https://" + planted + ".example/",
		})
	}
	for name := range op.Body().Properties {
		delete(all, name) // a member of its own, which is checked where it is read
	}
	return all
}

// at sends a body with each of the members, and then with all.
func (i *intruder) at(ctx context.Context, op *openapi.Operation) error {
	before, err := i.victim.holds(ctx, i.env)
	if err != nil {
		return err
	}
	i.bodies++
	all := i.theirs(op)
	i.members += len(all)
	changes := []map[string]any{nil}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		changes = append(changes, map[string]any{name: all[name]})
	}
	for n, change := range append(changes, all) {
		q, known, err := i.request(ctx, op, n)
		if err != nil {
			return err
		}
		if !known {
			i.seen.Wrong("nobody knows what to send to %s", op.Name())
			return nil
		}
		body, _ := q.Body.(map[string]any)
		maps.Copy(body, change)
		a := inTime(ctx, i.env, q)
		i.sent++
		if a.Status < 300 && a.Err == nil {
			i.taken++
		}
		i.seen.Check(n > 0 || a.Status < 300 || op.Path == protocolPath+"/messages" || op.Path == protocolPath+"/signers" || op.Path == protocolPath+"/messages/verify" ||
			op.Path == "/api/live/{handle}/clip" && a.Code() == "not_live",
			"%s with a body that is right: %s", op.Name(), a)
		said := string(a.Body)
		if a.Err != nil || a.Status >= 500 || a.Status == http.StatusTooManyRequests && op.Path != "/api/reports" || // ten a day
			a.Status < 300 && (strings.Contains(said, planted) || strings.Contains(said, plantedDay) || strings.Contains(said, plantedUUID)) {
			i.changed++
			i.seen.Wrong("%s with %v: %s", op.Name(), slices.Sorted(maps.Keys(change)), a)
		}
	}
	after, err := i.victim.holds(ctx, i.env)
	if before != after {
		i.changed++
		i.seen.Wrong("%s changed what somebody else holds", op.Name())
	}
	return err
}

// request is a right one.
func (i *intruder) request(ctx context.Context, op *openapi.Operation, n int) (q client.Request, known bool, err error) {
	e := i.me
	key := client.Credential(e.keys[n/2%len(e.keys)].Key) // each at every hub
	as, body := client.Credential(nil), map[string]any(nil)
	path := strings.NewReplacer(hooksPath+"/{id}", hooksPath+"/"+e.hook.id, "{marketId}", e.market, "{id}", e.signal, "{appId}", e.app.id, "{stationId}", "g8-own", "{handle}", e.Handle).Replace(op.Path)
	market := ""
	if strings.HasSuffix(op.Path, "/predictions") || strings.HasSuffix(op.Path, "/signals") || strings.HasSuffix(op.Path, "/mcp") || strings.HasPrefix(op.Path, "/api/resolution/") || strings.HasSuffix(op.Path, "resolve-signals") {
		if market, err = i.env.Client.Market(ctx, i.env.Hub(0), i.env.Admin(), fmt.Sprintf("Will intruder %d at %s be heard?", n, op.Path), 5000); err != nil {
			return q, false, err
		}
	}
	someone := func() (client.Credential, error) {
		i.new++
		login, err := i.env.Client.Login(ctx, i.env.Stack.IDP, fmt.Sprintf("g8-new-%d", i.new))
		return login, err
	}
	switch op.Method + " " + op.Path {
	case "POST /api/predictions":
		as, body = e.session, map[string]any{"marketId": market, "direction": "YES", "priceAtPrediction": 5000}
	case "POST " + protocolPath + "/predictions", "POST " + protocolPath + "/signals":
		as, body = key, map[string]any{"marketId": market, "position": "YES", "priceBps": 5000}
	case "POST /api/mcp":
		as, body = key, toolCall("submit_signal", map[string]any{"marketId": market, "direction": "YES", "priceAtPrediction": 5000})
	case "POST " + agentPath:
		body = toolCall("get_market", map[string]any{"marketId": market}) // its tokens are for nothing else, and G7 has them
	case "POST /api/signals/{id}/events":
		as, body = key, map[string]any{"type": "reaffirm"}
	case "POST /api/m/{marketId}/streams":
		as, body = e.session, map[string]any{"url": "https://video.example/a.m3u8"}
	case "POST /api/auth/privy":
		body = map[string]any{}
		as, err = someone()
	case "POST /api/dev/keys", "POST /api/v1/agent/keys":
		body = map[string]any{"label": "a key", "permissions": []string{"read"}}
		as, err = someone()
	case "POST /api/dev/apps":
		body = map[string]any{"name": "App", "type": "public", "redirectUris": []string{appReturns}, "scopes": []string{"profile:read"}}
		as, err = someone()
	case "PATCH /api/dev/apps/{appId}":
		as, body = e.login, map[string]any{"name": "Renamed"}
	case "POST /api/dev/apps/{appId}/secret":
		as, body = e.login, map[string]any{"immediate": true}
	case "POST /api/user/follow", "DELETE /api/user/follow":
		as, body = e.session, map[string]any{"handle": e.friend.Handle}
	case "POST /api/streamer/stream":
		as, body = e.login, map[string]any{"label": "of an intruder"}
		err = approve(ctx, i.env, e.Handle)
	case "POST /api/live/{handle}/clip":
		as, body = i.fan.session, map[string]any{"title": "of an intruder"}
	case "POST /api/streamer/profile":
		as, body = key, map[string]any{"bio": "of an intruder"}
	case "POST /api/streamer/signal":
		as, body = key, map[string]any{"marketId": e.market, "name": "of an intruder"}
	case "POST /api/streamer/heartbeat":
		as, body = key, map[string]any{"state": "live"}
	case "POST /api/streamer/register":
		as, body = e.friend.session, map[string]any{"lanes": []string{"science"}}
	case "POST /api/live/{handle}/view":
		body = map[string]any{"viewerId": "an intruder"}
	case "POST /api/identity/claim":
		as, body = client.All(e.session, byHeader("Privy-Id-Token", e.identity)), map[string]any{"address": e.wallet}
	case "POST " + hooksPath:
		as, body = i.told[n%len(i.told)].Keys[0], hookDraft()
	case "PATCH " + hooksPath + "/{id}":
		as, body = key, map[string]any{"description": "of an intruder"}
	case "POST " + stationsPath:
		i.new++
		as, body = i.told[n%len(i.told)].Keys[0], stationDraft(fmt.Sprintf("g8-new-%d", i.new))
	case "PUT " + stationsPath + "/{stationId}":
		as, body = key, map[string]any{"description": "of an intruder"}
	default:
		as, body = i.rest(op, key, market)
	}
	host := i.env.Hub(n)
	if op.Host == "api" {
		host = i.env.Stack.API
	}
	return client.Request{Method: op.Method, URL: host + path, As: as, Body: body}, body != nil, err
}

// toolCall is a message of an agent.
func toolCall(tool string, arguments map[string]any) map[string]any {
	return map[string]any{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": map[string]any{"name": tool, "arguments": arguments}}
}

// rest are the doors of administrators and of signers.
func (i *intruder) rest(op *openapi.Operation, key client.Credential, market string) (client.Credential, map[string]any) {
	admin := i.env.Admin()
	switch op.Method + " " + op.Path {
	case "POST /api/admin/markets":
		return admin, map[string]any{"question": "Will this market of an intruder hold?", "lane": "OTHER", "cutoffAt": time.Now().AddDate(0, 1, 0).UTC().Format(time.RFC3339)}
	case "POST /api/admin/operators":
		return admin, map[string]any{"handle": i.me.Handle, "house": false}
	case "POST /api/admin/streamers":
		return admin, map[string]any{"handle": i.me.Handle, "status": "approved"}
	case "POST /api/admin/apps/{appId}":
		return admin, map[string]any{"trusted": true}
	case "POST /api/admin/markets/{marketId}":
		return admin, map[string]any{"rated": true, "reason": "checked"}
	case "POST /api/admin/moderation":
		return admin, map[string]any{"kind": "profile", "id": i.me.Handle, "action": "show", "reason": "checked"}
	case "POST /api/reports":
		return key, map[string]any{"kind": "profile", "id": i.me.Handle, "reason": "checked"}
	case "POST /api/admin/pins":
		return admin, map[string]any{"marketId": i.venue}
	case "POST /api/admin/daily-digest":
		return admin, map[string]any{"dry": true}
	case "PUT /api/v1/markets/{marketId}/lane":
		return admin, map[string]any{"lane": "OTHER"}
	case "POST /api/v1/signals/categorize":
		return key, map[string]any{"items": []any{map[string]any{"title": "Will this question of an intruder have a lane?"}}}
	case "POST " + stationsPath + "/{stationId}/status":
		return admin, map[string]any{"status": "paused"}
	case "POST /api/broadcast/preempt":
		return admin, maps.Clone(i.slot)
	case "POST /api/resolution/finalize":
		return admin, map[string]any{"marketId": market, "verdict": "YES"}
	case "POST /api/resolution/dispute":
		return admin, map[string]any{"marketId": market, "disputed": true}
	case "POST /api/admin/resolve-signals":
		return admin, map[string]any{"marketId": market, "outcome": "YES"}
	case "POST " + protocolPath + "/signers/challenge":
		return key, map[string]any{"publicKey": i.public}
	case "POST " + protocolPath + "/signers": // its members are signed: an addition does not fit the proof
		return key, map[string]any{"publicKey": i.me.signer, "scopes": []string{"signal:create"}, "challenge": "x", "proof": strings.Repeat("0", 128)}
	case "POST " + protocolPath + "/messages", "POST " + protocolPath + "/messages/verify": // all members are signed
		return nil, map[string]any{"type": "signal.create", "timestamp": time.Now().UnixMilli(), "nonce": "0123456789abcdef", "payload": map[string]any{}}
	}
	return nil, nil
}

// stored looks for the planted values in every table, and at what may have been set
// to a value that others have, too.
func (i *intruder) stored(ctx context.Context) error {
	tables, err := i.env.Text(ctx, `SELECT string_agg(format('%I.%I', schemaname, tablename), ' ' ORDER BY 1) FROM pg_tables
		WHERE schemaname IN ('api', 'hub', 'clock') AND tablename <> 'schema_version'`)
	if err != nil {
		return err
	}
	for table := range strings.FieldsSeq(tables) {
		n, err := i.env.Count(ctx, "SELECT count(*) FROM "+table+" t WHERE t::text ~ '"+strings.Join([]string{planted, plantedDay, plantedSum, plantedUUID}, "|")+"'")
		if err != nil {
			return err
		}
		if n > 0 {
			i.changed += n
			i.seen.Wrong("%d rows of %s hold what a body said", n, table)
		}
	}
	for what, sql := range map[string]string{
		"calls from before":             "SELECT count(*) FROM api.signals WHERE user_id = $1 AND created_at < $2",
		"keys of another tier":          "SELECT count(*) FROM api.operator_keys WHERE created_at > $2 AND tier <> 'free' AND $1::uuid IS NOT NULL",
		"webhooks of another beginning": "SELECT count(*) FROM api.webhooks WHERE created_at > $2 AND (NOT active OR revision <> 1 OR old_secret IS NOT NULL) AND $1::uuid IS NOT NULL",
		"people of another kind":        "SELECT count(*) FROM api.users WHERE (created_at > $2 OR id = $1) AND (operator_type <> 'human' OR is_house OR seeded)",
	} {
		n, err := i.env.Count(ctx, sql, i.me.ID, i.began)
		if err != nil {
			return fmt.Errorf("%s: %w", what, err)
		}
		if n > 0 {
			i.changed += n
			i.seen.Wrong("%d %s", n, what)
		}
	}
	return nil
}

// approve does what an admin does before an operator may send video.
func approve(ctx context.Context, env *frame.Env, handle string) error {
	_, err := env.DB.Exec(ctx, `INSERT INTO hub.streamer_profiles (handle, status, updated_at) VALUES ($1, 'approved', now())
		ON CONFLICT (handle) DO UPDATE SET status = 'approved'`, handle)
	return err
}
