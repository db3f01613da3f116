package rows

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"

	"github.com/signalcast/signalcast/test/prove/client"
	"github.com/signalcast/signalcast/test/prove/internal/frame"
	"github.com/signalcast/signalcast/test/system/wsclient"
)

// e8 comes from every kind of origin with the cookies of somebody who is signed in, and
// with keys in the address. A foreign page must get nothing by the first, and nobody may
// get used to the second, since addresses are written down everywhere.
var e8 = frame.Row{
	ID: "E8", Title: "feeds take no cookie, and no key in the address",
	Fault: frame.Fault{What: "a key in the address is overlooked"},
	Run: func(ctx context.Context, env *frame.Env) (*frame.Seen, error) {
		seen := frame.NewSeen()
		host, err := startFeedHost(ctx, env, map[string]string{"LOG_LEVEL": "debug"})
		if err != nil {
			return nil, err
		}
		defer host.over(env)
		p := pages{env: env, seen: seen, host: host}
		if p.victim, err = signUp(ctx, env, "e8-victim", 1); err != nil {
			return nil, err
		}
		if p.others, err = pool(ctx, env, "e8", 20, 1); err != nil {
			return nil, err
		}
		for range env.Of(1, 3, 20) {
			p.everywhere(ctx)
		}
		p.addresses(ctx)
		log, err := os.ReadFile(host.Log())
		if err != nil {
			return nil, err
		}
		for _, secret := range []string{string(p.victim.keys[0].Key), p.victim.session.Sig, string(p.victim.login)} {
			seen.Check(!bytes.Contains(log, []byte(secret)), "a credential is in the log")
		}
		seen.Check(p.ignored == p.opened && p.refused == p.keys, "%d of %d, %d of %d", p.ignored, p.opened, p.refused, p.keys)
		seen.Promise("cookies ignored all, keys in the address refused all", fmt.Sprintf("%s of %s, %s of %s",
			frame.Number(p.ignored), frame.Number(p.opened), frame.Number(p.refused), frame.Number(p.keys)))
		seen.Volume("%d connections with cookies from %d origins, %d addresses with a key", p.opened, len(origins)+2, p.keys)
		return seen, nil
	},
}

// origins are where a page may come from; the empty one says nothing of it.
var origins = []string{
	"", "null", "https://evil.example", "http://evil.example:8080", "https://localhost", "http://127.0.0.1", "file://", "chrome-extension://abcdefgh",
	"https://signalcast.example.evil.example", "https://xn--bcher-kva.example", "not an origin", "https://" + strings.Repeat("a", 2000) + ".example",
}

// pages are what a browser is led to do.
type pages struct {
	env    *frame.Env
	seen   *frame.Seen
	host   *feedHost
	victim person
	others []client.Operator
	n      int // connections so far
	turn   int // of others

	opened, ignored int
	keys, refused   int
}

func (p *pages) judge(good *int, name string, err error) {
	if err != nil {
		p.seen.Wrong("%s: %v", name, err)
		return
	}
	*good++
}

// cookies are those of somebody who is signed in, and others under every name that
// might be taken for one of ours.
func (p *pages) cookies() []string {
	whole := "db_uid=" + p.victim.session.UID + "; db_sig=" + p.victim.session.Sig
	key := string(p.victim.keys[0].Key)
	return []string{
		"Cookie: " + whole,
		"Cookie: " + whole + "; key=" + key + "; token=" + key + "; Authorization=Bearer " + key,
		"Cookie: db_uid=" + p.victim.session.UID + "; db_sig=broken",
		"Cookie: ;;;=; a=b; \"",
	}
}

// everywhere opens both kinds of feed from every origin with each set of cookies.
func (p *pages) everywhere(ctx context.Context) {
	for _, origin := range append([]string{p.env.Hub(0), p.host.URL}, origins...) {
		for i, cookie := range p.cookies() {
			lines := []string{cookie}
			if origin != "" {
				lines = append(lines, "Origin: "+origin)
			}
			p.opened += 3
			name := fmt.Sprintf("origin %.40s, cookies %d, ", origin, i)
			p.judge(&p.ignored, name+"websocket", p.socket(ctx, lines))
			p.judge(&p.ignored, name+"stream", p.stream(ctx, lines))
			p.judge(&p.ignored, name+"websocket with another's key", p.withKey(ctx, lines))
		}
	}
}

// clean wants an answer that neither sets a cookie nor lets a page use any.
func clean(h http.Header) error {
	for _, name := range []string{"Set-Cookie", "Access-Control-Allow-Credentials"} {
		if h.Get(name) != "" {
			return fmt.Errorf("the answer has %s: %s", name, h.Get(name))
		}
	}
	return nil
}

// socket must be let in as nobody.
func (p *pages) socket(ctx context.Context, lines []string) error {
	p.n++
	c, err := p.host.open(ctx, p.n, lines...)
	if err != nil {
		return err
	}
	defer c.Close()
	if err := clean(c.Head); err != nil {
		return err
	}
	if err := asked(c, `{"op":"subscribe","id":"1","channels":["me"]}`, `{"op":"error","id":"1","error":"unauthenticated"`); err != nil {
		return err
	}
	return asked(c, `{"op":"subscribe","id":"2","channels":["signals"]}`, `{"op":"ack","id":"2","channels":["signals"]}`)
}

// stream must be let in as nobody, and is nobody's.
func (p *pages) stream(ctx context.Context, lines []string) error {
	p.n++
	c, err := p.host.dial.Stream(ctx, p.host.homes.of(p.n), "/api/v1/feed/stream?channels=signals", lines...)
	if err != nil {
		return err
	}
	defer c.Close()
	if err := clean(c.Head); err != nil {
		return err
	}
	if open := c.Head.Get("Access-Control-Allow-Origin"); open != "*" {
		return fmt.Errorf("the answer is open to %q", open)
	}
	return p.refusal(ctx, "/api/v1/feed/stream?channels=me", true, lines...)
}

// withKey must be the key's owner, whatever the cookies say.
func (p *pages) withKey(ctx context.Context, lines []string) error {
	p.n++
	c, err := p.host.open(ctx, p.n, lines...)
	if err != nil {
		return err
	}
	defer c.Close()
	p.turn++
	other := p.others[p.turn%len(p.others)] // a key may speak 120 times a minute
	if err := asked(c, `{"op":"auth","id":"1","token":"`+string(other.Keys[0])+`"}`, `{"op":"ack","id":"1"`); err != nil {
		return err
	}
	return asked(c, `{"op":"subscribe","id":"2","channels":["me"]}`, `"data":{"handle":"`+other.Handle+`"`)
}

// refusal wants 401 before anything is opened.
func (p *pages) refusal(ctx context.Context, path string, stream bool, lines ...string) error {
	p.n++
	d := p.host.dial
	d.Path = path
	open := d.Open
	if stream {
		open = func(ctx context.Context, from net.IP, lines ...string) (*wsclient.Conn, error) {
			return d.Stream(ctx, from, path, lines...)
		}
	}
	c, err := open(ctx, p.host.homes.of(p.n), lines...)
	var no *wsclient.Refusal
	switch {
	case err == nil:
		c.Close()
		return errors.New("it is let in")
	case !errors.As(err, &no) || no.Status != http.StatusUnauthorized || !strings.Contains(no.Body, `"unauthenticated"`):
		return err
	}
	return clean(no.Header)
}

// addresses carry a key in every way that a client may think of.
func (p *pages) addresses(ctx context.Context) {
	key := string(p.victim.keys[0].Key)
	login := string(p.victim.login)
	var queries []string
	for _, name := range []string{"token", "key", "api_key", "apikey", "access_token", "authorization", "auth", "secret", "jwt", "bearer", "x"} {
		for _, value := range []string{key, login} {
			queries = append(queries, name+"="+value, strings.ToUpper(name)+"="+value, "a=1&"+name+"="+value, name+"=no&"+name+"="+value)
		}
	}
	queries = append(queries, key, "%64%6b_"+key[3:]+"=1", "x=%64%6b_"+key[3:], "token=", "since="+key, "token="+url.QueryEscape("Bearer "+key))
	bearer := "Authorization: Bearer " + key
	for _, query := range queries {
		p.keys += 3
		shown := strings.NewReplacer(key, "KEY", login, "LOGIN").Replace(query)
		p.judge(&p.refused, "/ws?"+shown, p.refusal(ctx, "/ws?"+query, false))
		p.judge(&p.refused, "/ws?"+shown+" beside a header", p.refusal(ctx, "/ws?"+query, false, bearer))
		p.judge(&p.refused, "/api/v1/feed/stream?"+shown, p.refusal(ctx, "/api/v1/feed/stream?channels=signals&"+query, true))
	}
	p.keys++
	p.judge(&p.refused, "a key as a subprotocol", p.subprotocol(ctx, key))
}

// subprotocol must neither come back nor open anything that is the key's.
func (p *pages) subprotocol(ctx context.Context, key string) error {
	p.n++
	c, err := p.host.open(ctx, p.n, "Sec-WebSocket-Protocol: signal.v1, "+key)
	if err != nil {
		return err
	}
	defer c.Close()
	if got := c.Head.Get("Sec-WebSocket-Protocol"); got != "signal.v1" {
		return fmt.Errorf("the subprotocol is %q", got)
	}
	return asked(c, `{"op":"subscribe","id":"1","channels":["me"]}`, `{"op":"error","id":"1","error":"unauthenticated"`)
}
