package rows

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"github.com/signalcast/signalcast/test/prove/client"
	"github.com/signalcast/signalcast/test/prove/internal/frame"
)

// g5 forges sessions: every bit of both cookies is turned once, halves of several
// people are put together, and the true secret signs what the hubs never would. Then
// the secrets are replaced while people are signed in.
var g5 = frame.Row{
	ID: "G5", Title: "a session is signed, checked first, and outlives a change of secrets",
	Fault: frame.Fault{What: "the beginning of a signature is enough"},
	Run: func(ctx context.Context, env *frame.Env) (*frame.Seen, error) {
		seen := frame.NewSeen()
		people, err := crowd(ctx, env, "g5", 12, env.Hub(0))
		if err != nil {
			return nil, err
		}
		list, err := forgeries(env, people)
		if err != nil {
			return nil, err
		}
		if env.Size == frame.Small {
			list = every(list, 8)
		}
		accepted := tryForged(ctx, env, seen, people, list)
		if err := flags(ctx, env, seen); err != nil {
			return nil, err
		}
		kept, held := 0, 0
		if env.Size != frame.Small {
			if kept, held, err = rotate(ctx, env, seen, people); err != nil {
				return nil, err
			}
		}
		seen.Promise(fmt.Sprintf("accepted forged 0 of %s, sessions lost 0", frame.Number(len(list))),
			fmt.Sprintf("accepted %d of %s, lost %d", accepted, frame.Number(len(list)), held-kept))
		seen.Check(len(list) >= forgedCookies || env.Size == frame.Small, "only %d sessions were forged", len(list))
		seen.Figure("lookedAtInRotation", held)
		seen.Volume("%s forged cookie pairs, %d looks at good ones through a change of secrets", frame.Number(len(list)), held)
		return seen, nil
	},
}

// forgedCookies is how many are tried.
const forgedCookies = 1024

// crowd signs people in at a hub.
func crowd(ctx context.Context, env *frame.Env, name string, n int, hub string) ([]person, error) {
	people := make([]person, n)
	errs := make([]error, n)
	frame.Each(n, 4, func(i int) {
		p := &people[i]
		if p.login, errs[i] = env.Client.Login(ctx, env.Stack.IDP, fmt.Sprintf("%s-%d", name, i)); errs[i] == nil {
			p.session, p.User, errs[i] = env.Client.SignIn(ctx, hub, p.login)
		}
	})
	for _, err := range errs {
		if err != nil {
			return nil, fmt.Errorf("sign in: %w", err)
		}
	}
	return people, nil
}

func every(list []client.Session, nth int) (out []client.Session) {
	for i := 0; i < len(list); i += nth {
		out = append(out, list[i])
	}
	return out
}

// forgeries lists cookie pairs that nobody was given.
func forgeries(env *frame.Env, people []person) ([]client.Session, error) {
	one := people[0].session
	var out []client.Session
	for bit := range 8 * len(one.UID) {
		out = append(out, client.Session{UID: turned(one.UID, bit), Sig: one.Sig})
	}
	for bit := range 8 * len(one.Sig) {
		out = append(out, client.Session{UID: one.UID, Sig: turned(one.Sig, bit)})
	}
	for i, a := range people {
		for k, b := range people {
			if i != k {
				out = append(out, client.Session{UID: a.session.UID, Sig: b.session.Sig})
			}
		}
	}
	for n := range len(one.Sig) {
		out = append(out, client.Session{UID: one.UID, Sig: one.Sig[:n]})
	}
	secret, err := sessionSecret(env)
	if err != nil {
		return nil, err
	}
	now := time.Now()
	for i := range 12 { // by the true secret: too old, of the future, of another version, of nobody
		id := people[i%len(people)].ID
		out = append(out,
			signSession(secret, id, now.AddDate(0, 0, -30-i).Add(-time.Minute), 0), signSession(secret, id, now.Add(time.Duration(i+2)*time.Minute), 0),
			signSession(secret, id, now, int64(i+1)), signSession(secret, noID[:len(noID)-2]+fmt.Sprintf("%02d", i), now, 0))
	}
	for i := range 40 { // by any other one
		out = append(out, signSession(strings.Repeat(string(rune('a'+i%26)), 20+i), people[0].ID, now, 0))
	}
	return append(out,
		client.Session{UID: one.UID, Sig: one.Sig + "="}, client.Session{UID: one.UID + ".0", Sig: one.Sig},
		client.Session{UID: one.Sig, Sig: one.UID}, client.Session{UID: one.UID, Sig: one.UID},
		signSession("", people[0].ID, now, 0), signSession(secret, "", now, 0), signSession(secret, "admin", now, 0),
	), nil
}

func turned(text string, bit int) string {
	b := []byte(text)
	b[bit/8] ^= 1 << (bit % 8)
	return string(b)
}

// tryForged shows every pair to a route that wants a session, and a true one before
// and behind them.
func tryForged(ctx context.Context, env *frame.Env, seen *frame.Seen, people []person, list []client.Session) int {
	var accepted atomic.Int64
	good := func() {
		for i := range env.Hubs {
			status, err := rawly(ctx, env.Hub(i), i, people[0].session)
			seen.Check(err == nil && status == http.StatusOK, "a true session: %d, %v", status, err)
		}
	}
	good()
	frame.Each(len(list), 8, func(i int) {
		status, err := rawly(ctx, env.Hub(i), i, list[i])
		if err == nil && (status == http.StatusUnauthorized || status == http.StatusBadRequest) {
			return
		}
		if status < 300 {
			accepted.Add(1)
		}
		seen.Wrong("forged session %d (%q, %q): %d, %v", i, list[i].UID, list[i].Sig, status, err)
	})
	good()
	return int(accepted.Load())
}

// rawly sends cookies byte by byte, for no library writes what a forger may: from
// an address of its own, so that no limit answers first.
func rawly(ctx context.Context, hub string, i int, s client.Session) (int, error) {
	d := net.Dialer{Timeout: 5 * time.Second, LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 233, byte(i/200), byte(1+i%200))}}
	conn, err := d.DialContext(ctx, "tcp", strings.TrimPrefix(hub, "http://"))
	if err != nil {
		return 0, err
	}
	defer func() { _ = conn.Close() }()
	if err := conn.SetDeadline(time.Now().Add(10 * time.Second)); err != nil {
		return 0, err
	}
	if _, err := fmt.Fprintf(conn, "GET /api/identity/claim HTTP/1.1\r\nHost: hub\r\nConnection: close\r\nCookie: db_uid=%s; db_sig=%s\r\n\r\n", s.UID, s.Sig); err != nil {
		return 0, err
	}
	resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		return 0, err
	}
	return resp.StatusCode, resp.Body.Close()
}

// flags looks at what the cookies say of themselves, here and in production.
func flags(ctx context.Context, env *frame.Env, seen *frame.Seen) error {
	login, err := env.Client.Login(ctx, env.Stack.IDP, "g5-flags")
	if err != nil {
		return err
	}
	held := env.Client.Do(ctx, client.Request{Method: http.MethodPost, URL: env.Hub(0) + "/api/auth/privy", As: login})
	cookies := held.Header.Values("Set-Cookie")
	seen.Check(len(cookies) == 2, "a sign-in sets %d cookies", len(cookies))
	for _, line := range cookies {
		seen.Check(strings.Contains(line, "; HttpOnly") && strings.Contains(line, "; SameSite=Lax") && strings.Contains(line, "; Max-Age=2592000") && strings.Contains(line, "; Path=/"), "a cookie is %.30s…%s", line, after(line, ";"))
	}
	if env.Size == frame.Small {
		return nil
	}
	side, err := env.Stack.Side(ctx, "hub", inProduction)
	if err != nil {
		return err
	}
	defer side.Stop()
	ended := env.Client.Do(ctx, client.Request{Method: http.MethodDelete, URL: side.URL + "/api/auth/privy"})
	cookies = ended.Header.Values("Set-Cookie")
	seen.Check(len(cookies) == 3, "a sign-out sets %d cookies in production", len(cookies))
	for _, line := range cookies {
		seen.Check(strings.Contains(line, "; Secure") && strings.Contains(line, "; HttpOnly"), "in production a cookie is %s", line)
	}
	return nil
}

func after(text, mark string) string {
	_, rest, _ := strings.Cut(text, mark)
	return rest
}
