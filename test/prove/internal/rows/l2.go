package rows

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"strings"
	"sync/atomic"
	"time"

	"github.com/google/uuid"

	"github.com/signalcast/signalcast/test/prove/client"
	"github.com/signalcast/signalcast/test/prove/internal/frame"
	"github.com/signalcast/signalcast/test/system/openapi"
)

// failuresAllowed is how many wrong secrets one address may bring in a minute.
const failuresAllowed = 10

// l2 guesses at the doors of the administrators and the scheduler, and reads the log
// and the audit log of a hub that writes down every request.
var l2 = frame.Row{
	ID: "L2", Title: "admin and cron secrets are refused, counted, hidden and audited",
	Fault: frame.Fault{What: "of two secrets the first one counts"},
	Run: func(ctx context.Context, env *frame.Env) (*frame.Seen, error) {
		seen := frame.NewSeen()
		doc, err := openapi.Load(env.Root)
		if err != nil {
			return nil, err
		}
		side, err := env.Stack.Side(ctx, "hub", map[string]string{"LOG_LEVEL": "debug"})
		if err != nil {
			return nil, err
		}
		defer side.Stop()
		var doors []*openapi.Operation
		for _, op := range doc.Operations {
			if op.Takes("adminSecret") || op.Takes("cronSecret") {
				doors = append(doors, op)
			}
		}
		tries, accepted := guess(ctx, env, seen, side.URL, doors, env.Of(100, 1000, 10_000))
		if env.Size > frame.Small {
			if err := tenWrong(ctx, env, seen, side.URL); err != nil {
				return nil, err
			}
		}
		acts, err := adminActs(ctx, env, seen, side.URL, doors)
		if err != nil {
			return nil, err
		}
		audited := 0
		for id, name := range acts {
			n, err := env.Count(ctx, `SELECT count(*) FROM hub.audit_log WHERE request_id = $1`, id)
			if err != nil {
				return nil, err
			}
			seen.Check(n == 2, "%s left %d entries in the audit log", name, n)
			audited += min(n, 2) / 2
		}
		side.Stop()
		lines, shown, err := cronLines(env, side.Log())
		if err != nil {
			return nil, err
		}
		seen.Check(lines > 0, "the log has no line of the scheduler's routes")
		seen.Check(shown == 0, "%d of %d log lines show what was in ?secret=", shown, lines)
		seen.Promise("accepts 0, stripped 100%, audited 100%",
			fmt.Sprintf("accepts %d, stripped %d of %d, audited %d of %d", accepted, lines-shown, lines, audited, len(acts)))
		seen.Volume("%s wrong secrets at %d doors", frame.Number(tries), len(doors))
		return seen, nil
	},
}

// wrongSecrets are ways to bring what is not the secret of a door, or to bring it in
// another way than the one that counts. Each stands for the header and the query.
func wrongSecrets(admin, cron string) (all []func(r *client.Request)) {
	header := func(values ...string) func(r *client.Request) {
		return func(r *client.Request) { r.Header["X-Admin-Secret"] = values }
	}
	query := func(values ...string) func(r *client.Request) {
		return func(r *client.Request) { r.URL += "?" + url.Values{"secret": values}.Encode() }
	}
	both := func(a, b func(r *client.Request)) func(r *client.Request) {
		return func(r *client.Request) { a(r); b(r) }
	}
	bearer := func(text string) func(r *client.Request) {
		return func(r *client.Request) { r.Header["Authorization"] = []string{"Bearer " + text} }
	}
	other := strings.ToUpper(admin)
	if other == admin {
		other = strings.ToLower(admin)
	}
	return []func(r *client.Request){
		header(admin, admin), header(""), header(cronGuess), header(admin[:len(admin)-1]), header(admin + "x"), header(other), header(cron),
		header(admin, cronGuess), header("", admin), header(admin + "," + admin),
		query(""), query(cronGuess), query(cron[1:]), query(admin), query(cron, cron), query(cronGuess, cron),
		both(header(cronGuess), query(cron)), both(header(""), query(cron)), both(header(cron), query(admin)),
		bearer(admin), both(bearer(cron), header(admin)), both(bearer(cronGuess), query(cron)),
	}
}

// cronGuess is a wrong secret that must not be seen anywhere.
const cronGuess = "Wr0ngGu3ssF0rTheScheduler-9kQ2vX7"

// guess brings wrong secrets from many addresses to every door in turn.
func guess(ctx context.Context, env *frame.Env, seen *frame.Seen, hub string, doors []*openapi.Operation, n int) (tries, accepted int) {
	ways := wrongSecrets(env.Stack.AdminSecret, env.Stack.CronSecret)
	var taken atomic.Int64
	frame.Each(n, abreast, func(i int) {
		// Each way at each door before any comes again.
		op, way := doors[i%len(doors)], ways[(i/len(doors)+i)%len(ways)]
		r := client.Request{Method: op.Method, URL: hub + op.Path, Header: http.Header{}}
		if op.Host == "api" {
			r.URL = env.Stack.API + strings.Replace(op.Path, "{stationId}", "l2-guessed", 1)
		}
		way(&r)
		a := env.Client.Do(ctx, r)
		refused := a.Status == http.StatusUnauthorized || a.Status == http.StatusForbidden || a.Status == http.StatusTooManyRequests
		if !refused {
			taken.Add(1)
			seen.Wrong("%s with a wrong secret was answered %s", op.Name(), a)
		}
		text := string(a.Body) + fmt.Sprint(a.Header)
		for _, secret := range []string{env.Stack.AdminSecret, env.Stack.CronSecret, cronGuess} {
			seen.Check(!strings.Contains(text, secret), "%s shows a secret", op.Name())
		}
	})
	return n, int(taken.Load())
}

// tenWrong brings wrong secrets from one address: after ten none is looked at from
// there, the right one neither, and other addresses are none the worse for it.
func tenWrong(ctx context.Context, env *frame.Env, seen *frame.Seen, hub string) error {
	one := client.NewAt("127.99.7.31")
	defer one.Close()
	ask := func(c *client.Client, secret string) client.Answer {
		return c.Do(ctx, client.Request{URL: hub + "/api/admin/pins", As: client.Admin(secret)})
	}
	for i := range failuresAllowed {
		a := ask(one, cronGuess)
		seen.Check(a.Status == http.StatusForbidden, "wrong secret %d was answered %s", i+1, a)
	}
	for _, secret := range []string{cronGuess, env.Stack.AdminSecret} {
		a := ask(one, secret)
		seen.Check(a.Status == http.StatusTooManyRequests && a.Header.Get("Retry-After") != "", "after ten wrong secrets: %s", a)
	}
	a := ask(env.Client, env.Stack.AdminSecret)
	seen.Check(a.Status == http.StatusOK, "another address was answered %s", a)
	return ctx.Err()
}

// adminActs does one act at every door with each secret that it takes, and gives the
// request ids.
func adminActs(ctx context.Context, env *frame.Env, seen *frame.Seen, hub string, doors []*openapi.Operation) (map[string]string, error) {
	ids, err := markets(ctx, env, "L2", 3)
	if err != nil {
		return nil, err
	}
	p, err := signUp(ctx, env, "l2-classified", 1)
	if err != nil {
		return nil, err
	}
	pinned, err := env.Client.VenueMarket(ctx, env.Stack.Venues, "Will row L2 be kept?", .4)
	if err != nil {
		return nil, err
	}
	slot, err := entry(ctx, env)
	if err != nil {
		return nil, err
	}
	reviewed, err := newApp(ctx, env, p.login, "public", "profile:read")
	if err != nil {
		return nil, err
	}
	named := strings.NewReplacer("{appId}", reviewed.id, "{marketId}", ids[2])
	bodies := map[string]any{
		"POST /api/admin/apps/{appId}":       map[string]any{"trusted": true},
		"POST /api/admin/markets/{marketId}": map[string]any{"rated": true, "reason": "checked"},
		"POST /api/broadcast/preempt":        slot,
		"POST /api/resolution/finalize":      map[string]any{"marketId": ids[0], "verdict": "YES"},
		"POST /api/resolution/dispute":       map[string]any{"marketId": ids[1], "disputed": true, "reason": "row L2"},
		"POST /api/admin/markets": map[string]any{
			"question": "Will row L2 make a market?", "lane": "OTHER", "cutoffAt": time.Now().AddDate(0, 1, 0).UTC().Format(time.RFC3339),
		},
		"POST /api/admin/operators":  map[string]any{"handle": p.Handle, "operatorType": "human"},
		"POST /api/admin/streamers":  map[string]any{"handle": p.Handle, "status": "approved"},
		"POST /api/admin/pins":       map[string]any{"marketId": pinned},
		"POST /api/admin/moderation": map[string]any{"kind": "profile", "id": p.Handle, "action": "show", "reason": "checked"},
	}
	acts := map[string]string{}
	do := func(op *openapi.Operation, name string, r client.Request) {
		id := uuid.NewString()
		r.Method, r.Header = op.Method, http.Header{"X-Request-Id": {id}}
		a := env.Client.Do(ctx, r)
		seen.Check(a.Status/100 == 2, "%s was answered %s", name, a)
		acts[id] = name
	}
	for _, op := range doors {
		if op.Host == "api" {
			continue
		}
		r := client.Request{URL: hub + named.Replace(op.Path), As: env.Admin(), Body: bodies[op.Method+" "+op.Path], Timeout: time.Minute}
		if op.Method == http.MethodDelete {
			r.URL += "?marketId=" + pinned
		}
		if op.Path == "/api/streamer/analytics" {
			r.URL += "?handle=" + p.Handle
		}
		if strings.HasSuffix(op.Path, "daily-digest") {
			r.URL += "?dry=1"
		}
		do(op, op.Name()+" by an admin", r)
		if op.Takes("cronSecret") {
			r.As = nil
			r.URL += map[bool]string{true: "&", false: "?"}[strings.Contains(r.URL, "?")] + "secret=" + env.Stack.CronSecret
			do(op, op.Name()+" by the scheduler", r)
		}
	}
	if err := stationActs(ctx, env, seen, p); err != nil {
		return nil, err
	}
	for subject, what := range map[string]string{ids[1]: "the dispute", p.ID: "the change of an operator", l2Station: "a ruling on a station"} {
		n, err := env.Count(ctx, `SELECT count(*) FROM api.audit_log WHERE subject = $1`, subject)
		if err != nil {
			return nil, err
		}
		seen.Check(n > 0, "%s stands in no audit log of the ledger", what)
	}
	return acts, nil
}

// l2Station is the station that admins rule on here.
const l2Station = "l2-ruled"

// stationActs are the acts at the ledger's own host, which it writes down itself.
func stationActs(ctx context.Context, env *frame.Env, seen *frame.Seen, owner person) error {
	if err := enlist(ctx, env, owner.keys[0].Key, l2Station); err != nil {
		return err
	}
	one := env.Stack.API + stationsPath + "/" + l2Station
	for _, r := range []client.Request{
		{Method: http.MethodPost, URL: one + "/status", As: env.Admin(), Body: map[string]any{"status": "suspended"}},
		{Method: http.MethodDelete, URL: one, As: env.Admin()},
	} {
		a := env.Client.Do(ctx, r)
		seen.Check(a.Status == http.StatusOK, "%s %s was answered %s", r.Method, r.URL, a)
	}
	n, err := env.Count(ctx, `SELECT count(*) FROM api.audit_log WHERE subject = $1`, l2Station)
	seen.Check(n == 2, "two acts on a station left %d entries in the audit log", n)
	return err
}

// cronLines counts the access lines of the scheduler's routes, and those that show
// what was in the query.
func cronLines(env *frame.Env, path string) (lines, shown int, err error) {
	raw, err := os.ReadFile(path)
	if err != nil {
		return 0, 0, err
	}
	for line := range strings.Lines(string(raw)) {
		if !strings.Contains(line, "secret=") {
			continue
		}
		lines++
		for _, secret := range []string{env.Stack.CronSecret, env.Stack.AdminSecret, env.Stack.CronSecret[1:], cronGuess} {
			if strings.Contains(line, secret) || strings.Contains(line, url.QueryEscape(secret)) {
				shown++
				break
			}
		}
	}
	return lines, shown, nil
}
