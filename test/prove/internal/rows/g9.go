package rows

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/md5"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/signalcast/signalcast/test/prove/client"
	"github.com/signalcast/signalcast/test/prove/internal/frame"
	"github.com/signalcast/signalcast/test/prove/stack"
	"github.com/signalcast/signalcast/test/system/openapi"
)

// showRaw are the two routes that show raw provider ids, as the specification wants.
var showRaw = []string{"GET api/api/v1/signals/leaderboard", "GET hub/api/m/{marketId}/signals"}

// passing are routes whose objects come and go: what moved in the last minutes, a
// sign-in that a browser has under way, the socket, which is read in its own way, and
// the stream, which says the same.
var passing = []string{"GET api/api/aura/score", "GET hub/s/{eventKey}", "GET hub/dev/session", "GET api/ws", "GET api/api/v1/feed/stream"}

// g9 looks for the provider ids of people who have called in whatever anybody can
// read, and tries to come from ids to masked ids without the secret.
var g9 = frame.Row{
	ID: "G9", Title: "masked ids cannot be reversed; raw ids stand on two routes alone",
	Fault: frame.Fault{What: "ids are masked without a secret"},
	Run: func(ctx context.Context, env *frame.Env) (*frame.Seen, error) {
		seen := frame.NewSeen()
		s, err := sow(ctx, env, "g9", 2)
		if err != nil {
			return nil, err
		}
		others, err := callers(ctx, env, s)
		if err != nil {
			return nil, err
		}
		ids, err := rawIDs(ctx, env)
		if err != nil {
			return nil, err
		}
		seen.Check(len(ids.raw) > others, "%d raw ids are on record", len(ids.raw))
		routes := 0
		if env.Size > frame.Small {
			if routes, err = crawl(ctx, env, seen, s, ids); err != nil {
				return nil, err
			}
		}
		if err := silent(env, seen); err != nil {
			return nil, err
		}
		guesses := env.Of(10_000, 1_000_000, 10_000_000)
		matches, err := reversed(env, ids, guesses)
		if err != nil {
			return nil, err
		}
		seen.Check(matches == 0, "%d guesses without the secret give a masked id", matches)
		seen.Volume("%d ids, %d answers read, %s guesses", len(ids.raw), routes, frame.Number(guesses))
		seen.Promise("routes that show one: 2, matches 0", fmt.Sprintf("%d, matches %d", len(ids.shown), matches))
		return seen, nil
	},
}

// callers have people of both kinds of the issuer call on the markets that are read,
// and settles one, so that they stand on ledger and boards.
func callers(ctx context.Context, env *frame.Env, s *seeds) (int, error) {
	const people = 3
	for i := range people {
		p, err := signUp(ctx, env, fmt.Sprintf("g9-canary-%d", i), 1)
		if err != nil {
			return 0, err
		}
		for _, market := range s.markets {
			a := env.Client.File(ctx, env.Hub(i), p.keys[0].Key, client.Call{Market: market, Yes: i%2 == 0, Price: 5200})
			if err := a.Into(http.StatusOK, nil); err != nil {
				return 0, err
			}
		}
		a := env.Client.Do(ctx, client.Request{Method: http.MethodPost, URL: env.Hub(i) + "/api/user/follow", As: p.session, Body: map[string]any{"handle": s.Handle}})
		if a.Err != nil {
			return 0, a.Err
		}
	}
	return people, env.Client.Finalize(ctx, env.Hub(0), env.Admin(), s.markets[1], "YES").Into(http.StatusOK, nil)
}

// identities are the raw ids on record, and where one of them was seen.
type identities struct {
	raw, public []string
	needles     [][]byte
	mu          sync.Mutex
	shown       map[string]string // by route: which
}

func rawIDs(ctx context.Context, env *frame.Env) (*identities, error) {
	ids := &identities{shown: map[string]string{}}
	rows, err := env.DB.Query(ctx, `SELECT CASE WHEN issuer LIKE 'http%' THEN provider_id ELSE issuer || '|' || provider_id END, provider_id, public_id
		FROM api.users WHERE issuer <> 'seed'`)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var masked, raw, public string
		if err := rows.Scan(&masked, &raw, &public); err != nil {
			return nil, err
		}
		ids.raw, ids.public = append(ids.raw, masked), append(ids.public, public)
		ids.needles = append(ids.needles, []byte(raw), []byte(url.QueryEscape(raw)), []byte(hex.EncodeToString([]byte(raw))),
			[]byte(base64.StdEncoding.EncodeToString([]byte(raw))[:len(raw)]), []byte(base64.RawURLEncoding.EncodeToString([]byte(raw))[:len(raw)]))
	}
	return ids, rows.Err()
}

// look notes the route if its answer shows a raw id.
func (ids *identities) look(route string, text []byte) {
	for _, n := range ids.needles {
		if len(n) > 8 && bytes.Contains(text, n) {
			ids.mu.Lock()
			ids.shown[route] = string(n)
			ids.mu.Unlock()
			return
		}
	}
	if board := showRaw[0]; route == board && bytes.Contains(text, []byte(`"privyId":"`)) && !bytes.Contains(text, []byte(`"privyId":"op_`)) {
		ids.mu.Lock() // of a full stack, whose best are others
		ids.shown[route] = "a raw id"
		ids.mu.Unlock()
	}
}

// crawl reads every route that anybody may read, with the objects of people and with
// objects that do not exist, the pages, the files and the live feed.
func crawl(ctx context.Context, env *frame.Env, seen *frame.Seen, s *seeds, ids *identities) (int, error) {
	doc, err := openapi.Load(env.Root)
	if err != nil {
		return 0, err
	}
	var asked []read
	for i := range 2 {
		asked = append(asked, s.reads(doc, i, 1)...)
	}
	for _, r := range s.reads(doc, 0, 1) { // the errors: nothing there, and not understood
		r.path = strings.NewReplacer(s.markets[0], "native-0000000000", s.signals[0], s.ID, s.Handle, "nobody_here", s.message, s.ID).Replace(r.path)
		asked = append(asked, r, read{op: r.op, path: r.path + "?limit=x&cursor=%00&id=%7b", as: r.as})
	}
	hosts := map[string]string{"hub": env.Hub(0), "api": env.Stack.API, "clock": env.Stack.Clock}
	asked = append(asked, justNow(ctx, env, doc)...)
	live, err := listen(ctx, env.Stack.API, s)
	if err != nil {
		return 0, err
	}
	good := map[string]bool{}
	frame.Each(len(asked), abreast, func(i int) {
		a := env.Client.Do(ctx, asked[i].request(hosts))
		seen.Check(a.Err == nil, "%s: %v", asked[i].op.Name(), a.Err)
		text := slices.Concat(a.Body, fmt.Append(nil, a.Header))
		if asked[i].path != "/api/dev/whoami" { // tells who asks, and nobody else, who they are
			ids.look(asked[i].op.Name(), text)
		}
		if a.Status < http.StatusBadRequest {
			ids.mu.Lock()
			good[asked[i].op.Name()] = true
			ids.mu.Unlock()
		}
	})
	for _, r := range s.reads(doc, 0, 1) {
		name := r.op.Name()
		seen.Check(good[name] || r.op.Gone() || slices.Contains(passing, name), "%s was never answered well", name)
	}
	tools, err := tellTools(ctx, env, seen, s, ids)
	if err != nil {
		return 0, err
	}
	p, err := signUp(ctx, env, "g9-canary-live", 1)
	if err != nil {
		return 0, err
	}
	if err := env.Client.File(ctx, env.Hub(0), p.keys[0].Key, client.Call{Market: s.markets[0], Yes: true, Price: 5000}).Into(http.StatusOK, nil); err != nil {
		return 0, err
	}
	raw := []byte("did:idp:g9-canary-live")
	ids.needles = append(ids.needles, raw)
	frames, err := live.until(ctx, p.Handle)
	if err != nil {
		return 0, err
	}
	ids.look("GET api/ws", frames)
	for _, route := range slices.Sorted(maps.Keys(ids.shown)) {
		seen.Check(slices.Contains(showRaw, route), "%s shows %s", route, ids.shown[route])
	}
	for _, route := range showRaw {
		seen.Check(ids.shown[route] != "", "%s shows no raw id", route)
	}
	return len(asked) + tools + 1, nil
}

// tellTools reads what the tools of agents say: to anybody, and of people who have called
// to the owner of a key; and the examples of the description.
func tellTools(ctx context.Context, env *frame.Env, seen *frame.Seen, s *seeds, ids *identities) (n int, err error) {
	cast, err := newAgentCast(ctx, env, "g9-canary-agent")
	if err != nil {
		return 0, err
	}
	raw := []byte("did:idp:g9-canary-agent")
	ids.needles = append(ids.needles, raw)
	for _, tool := range allTools {
		for _, arguments := range []map[string]any{
			cast.arguments(tool), {}, {"marketId": s.markets[0]}, {"handle": s.Handle}, {"id": s.signals[0]}, {"handle": "nobody_here", "marketId": "native-0000000000"},
		} {
			t := use(ctx, env, env.Hub(n)+agentDoor, cast.keys[0].Key, tool, arguments)
			seen.Check(t.Err == nil && t.Status == http.StatusOK, "the tool %s: %s", tool, t)
			ids.look("the tool "+tool, slices.Concat(t.Body, []byte(t.text), fmt.Append(nil, t.Header)))
			n++
		}
		cast.keys[0], cast.keys[1] = cast.keys[1], cast.keys[0] // each has sixty a minute
	}
	described, err := os.ReadFile(filepath.Join(env.Root, "proto/openapi/openapi.json"))
	if err != nil {
		return n, err
	}
	ids.look("the description", described)
	seen.Check(!bytes.Contains(described, []byte(`"did:`)), "an example of the description shows a raw id")
	return n + 1, nil
}

// silent looks for the ids of this row in the logs, but that of the issuer, whose
// people they are.
func silent(env *frame.Env, seen *frame.Seen) error {
	logs, err := env.Stack.Logs()
	if err != nil {
		return err
	}
	for _, path := range logs {
		raw, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		seen.Check(filepath.Base(path) == "idp.log" || !bytes.Contains(raw, []byte("did:idp:g9-canary")), "%s shows a raw id", path)
	}
	return nil
}

// justNow reads the objects that are listed just now.
func justNow(ctx context.Context, env *frame.Env, doc *openapi.Document) (out []read) {
	for _, list := range []struct{ from, member, path string }{
		{env.Hub(0) + "/api/situations", "eventKey", "/s/{eventKey}"}, {env.Stack.API + "/api/aura/top", "marketId", "/api/aura/score?marketId="},
	} {
		a := env.Client.Do(ctx, client.Request{URL: list.from})
		_, rest, found := strings.Cut(string(a.Body), `"`+list.member+`":"`)
		key, _, _ := strings.Cut(rest, `"`)
		path, query, _ := strings.Cut(list.path, "?")
		for _, op := range doc.Operations {
			if found && op.Path == path && op.Method == http.MethodGet {
				r := read{op: op, path: strings.Replace(path, "{eventKey}", key, 1)}
				if query != "" {
					r.path += "?" + query + key
				}
				out = append(out, r)
			}
		}
	}
	return out
}

// reversed guesses what could be behind the masks: the ids themselves and others of
// their form, by functions without a secret and by secrets that anybody would try.
func reversed(env *frame.Env, ids *identities, guesses int) (matches int, err error) {
	settings, err := stack.Environment(env.Stack.PID("api"))
	if err != nil {
		return 0, err
	}
	masks := map[string]bool{}
	for i, public := range ids.public {
		masks[public] = true
		if env.Stack.Teeth() == "" && mask(settings["MASK_SECRET"], ids.raw[i]) != public {
			return 0, fmt.Errorf("%s is no mask of its id: the guesses would prove nothing", public)
		}
	}
	secrets := []string{"", "secret", "signalcast", "signalcast-dev", "test-pepper-do-not-use", settings["HUB_URL"], settings["LINK_SECRET"]}
	unkeyed := []func(id []byte) []byte{
		func(id []byte) []byte { s := sha256.Sum256(id); return s[:] },
		func(id []byte) []byte { s := sha512.Sum512(id); return s[:] },
		func(id []byte) []byte { s := sha1.Sum(id); return s[:] },
		func(id []byte) []byte { s := md5.Sum(id); return s[:] },
	}
	for i := range guesses {
		id := fmt.Sprintf("did:idp:%d", i)
		if i < len(ids.raw)*16 {
			id = ids.raw[i%len(ids.raw)]
		}
		way := i / len(ids.raw) % (len(secrets) + len(unkeyed))
		guess := ""
		if way < len(secrets) {
			guess = mask(secrets[way], id)
		} else {
			guess = "op_" + hex.EncodeToString(unkeyed[way-len(secrets)]([]byte(id))[:8])
		}
		if masks[guess] {
			matches++
		}
	}
	return matches, nil
}

// mask is how the protocol masks an id.
func mask(secret, id string) string {
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte(id))
	return "op_" + hex.EncodeToString(mac.Sum(nil)[:8])
}
