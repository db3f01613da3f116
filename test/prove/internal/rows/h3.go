package rows

import (
	"bytes"
	"context"
	"net/http"
	"strings"

	"github.com/signalcast/signalcast/test/prove/client"
	"github.com/signalcast/signalcast/test/prove/internal/frame"
	"github.com/signalcast/signalcast/test/system/openapi"
)

// h3 sends the cookies of a person to every route of the protocol. Those that want a
// credential refuse them; those that want none answer as if there were no cookies.
var h3 = frame.Row{
	ID: "H3", Title: "protocol routes never read or set a cookie",
	Fault: frame.Fault{What: "the protocol's routes take sessions"},
	Run: func(ctx context.Context, env *frame.Env) (*frame.Seen, error) {
		seen := frame.NewSeen()
		doc, err := openapi.Load(env.Root)
		if err != nil {
			return nil, err
		}
		r, err := mintRing(ctx, env, "h3-holder")
		if err != nil {
			return nil, err
		}
		e, err := settle(ctx, env, "h3-owner")
		if err != nil {
			return nil, err
		}
		j := jar{ring: r, seen: seen, env: env}
		for _, op := range doc.Operations {
			if op.Host == "hub" && (underProtocol(op.Path) || strings.HasPrefix(op.Path, "/.well-known/")) {
				j.routes++
				j.empty(ctx, op, e)
				if !op.Public() && !op.Takes("appCredentials") {
					j.beside(ctx, op, e)
				}
			}
		}
		if err := j.write(ctx, e); err != nil {
			return nil, err
		}
		seen.Promise("401 100%, Set-Cookie 0", percent(j.due-j.missed, j.due)+", Set-Cookie "+frame.Number(j.set))
		seen.Figure("setCookie", j.set)
		seen.Volume("%d routes, %d requests with cookies alone, %d of them for a credential, %d beside a bearer", j.routes, j.alone, j.due, j.pairs)
		return seen, nil
	},
}

func percent(part, whole int) string {
	if part == whole {
		return "401 100%"
	}
	return "401 " + frame.Number(part) + " of " + frame.Number(whole)
}

// jar counts what came of cookies.
type jar struct {
	ring *ring
	seen *frame.Seen
	env  *frame.Env

	routes, alone, pairs, due, missed, set int
}

// cookies are the jars of a browser.
func (j *jar) cookies(e *estate) map[string]client.Credential {
	return map[string]client.Credential{
		"a session":           e.session,
		"a session and more":  client.All(e.session, byHeader("Origin", j.env.Stack.Hub), developer(string(e.token))),
		"a session elsewhere": client.All(e.session, byHeader("Origin", "https://evil.example"), byHeader("Sec-Fetch-Site", "cross-site")),
		"half a session":      client.Session{UID: e.session.UID},
		"nonsense":            client.Session{UID: "x.1.0", Sig: "y"},
		"a token as a cookie": byHeader("Cookie", "access_token="+e.granted.Access+"; authorization=Bearer "+e.granted.Access),
	}
}

// noted looks at what every answer has to be like.
func (j *jar) noted(op *openapi.Operation, a client.Answer) client.Answer {
	if set := a.Header.Values("Set-Cookie"); len(set) > 0 {
		j.set += len(set)
		j.seen.Wrong("%s sets a cookie: %.80s", op.Name(), set[0])
	}
	return a
}

// empty holds an answer to cookies alone against one to nothing.
func (j *jar) empty(ctx context.Context, op *openapi.Operation, e *estate) {
	bare := j.noted(op, j.ring.knock(ctx, j.env, op, pass{name: "nothing"}, 0))
	i := 0
	for name, as := range j.cookies(e) {
		i++
		p := pass{name: name, as: as}
		a := j.noted(op, j.ring.knock(ctx, j.env, op, p, i))
		j.alone++
		d := p.at(op)
		if d.status == http.StatusUnauthorized {
			j.due++
			if why := d.verdict(op, p, a); why != "" {
				j.missed++
				j.seen.Wrong("%s with %s %s: %.120s", op.Name(), name, why, a)
			}
			continue
		}
		same := a.Status == bare.Status && (a.Status >= 400 || bytes.Equal(a.Body, bare.Body))
		j.seen.Check(same, "%s answers otherwise to %s: %.120s, without %.120s", op.Name(), name, a, bare)
	}
}

// beside sends somebody's token with the cookies of somebody else: it is as if the
// token had come alone.
func (j *jar) beside(ctx context.Context, op *openapi.Operation, e *estate) {
	for _, p := range j.ring.passes {
		if p.name != "a key" && p.name != "an app's token" {
			continue
		}
		bare := j.noted(op, j.ring.knock(ctx, j.env, op, p, 0))
		p.as = client.All(p.as, e.session)
		a := j.noted(op, j.ring.knock(ctx, j.env, op, p, 1))
		j.pairs++
		j.seen.Check(a.Status == bare.Status && !strings.Contains(string(a.Body), e.ID), "%s with %s beside another's cookies: %.120s, without %.120s", op.Name(), p.name, a, bare)
	}
}

// write sends what would be right to the doors that change something.
func (j *jar) write(ctx context.Context, e *estate) error {
	before, err := e.holds(ctx, j.env)
	if err != nil {
		return err
	}
	market, err := j.env.Client.Market(ctx, j.env.Hub(0), j.env.Admin(), "Will a cookie file a call?", 5000)
	if err != nil {
		return err
	}
	call := map[string]any{"marketId": market, "position": "YES", "priceBps": 5000}
	for i, q := range []client.Request{
		{URL: "/predictions", Body: call},
		{URL: "/signals", Body: call},
		{URL: "/signers/challenge", Body: map[string]any{"publicKey": noKey}},
		{Method: http.MethodDelete, URL: "/grants/" + e.granted.Grant},
		{Method: http.MethodDelete, URL: "/signers/" + e.signer},
		{URL: "/me"},
		{URL: "/grants"},
	} {
		for name, as := range j.cookies(e) {
			q := client.Request{Method: q.Method, URL: j.env.Hub(i) + protocolPath + q.URL, Body: q.Body, As: as}
			a := j.env.Client.Do(ctx, q)
			j.due, j.alone = j.due+1, j.alone+1
			if a.Status != http.StatusUnauthorized || len(a.Header.Values("Set-Cookie")) > 0 {
				j.missed++
				j.seen.Wrong("%s with %s: %s", q.URL, name, a)
			}
		}
	}
	after, err := e.holds(ctx, j.env)
	j.seen.Check(before == after, "cookies changed what their owner holds")
	return err
}
