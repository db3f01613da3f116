package rows

import (
	"context"
	"net/http"
	"net/url"

	"github.com/signalcast/signalcast/test/prove/client"
	"github.com/signalcast/signalcast/test/prove/internal/frame"
	"github.com/signalcast/signalcast/test/prove/stack"
)

// k1 asks both doors of agents as a page of somebody else would have a browser ask, and
// as programs of this machine do.
var k1 = frame.Row{
	ID: "K1", Title: "a foreign Origin or Host is 403 at the doors of agents",
	Fault: frame.Fault{What: "nobody looks where a request comes from"},
	Run: func(ctx context.Context, env *frame.Env) (*frame.Seen, error) {
		seen := frame.NewSeen()
		cast, err := newAgentCast(ctx, env, "k1-owner")
		if err != nil {
			return nil, err
		}
		settings, err := stack.Environment(env.Stack.PID("hub"))
		if err != nil {
			return nil, err
		}
		asked, good := 0, 0
		pairs := comings(settings["HUB_URL"])
		for i, p := range pairs {
			at, err := url.Parse(env.Hub(i))
			if err != nil {
				return nil, err
			}
			real := usage("submit_signal", map[string]any{"marketId": cast.market, "direction": "YES", "priceAtPrediction": 5000})
			for _, door := range []struct {
				path  string
				pages bool // of anybody, with tokens that no browser keeps
			}{{agentDoor, false}, {protocolPath + agentPart, true}} {
				refused := p.host != "" && !p.own || !door.pages && len(p.origins) > 0 && !p.home
				for _, body := range [][]byte{greeting, message("tools/list", nil), real} {
					var as client.Credential
					if door.path == agentDoor && refused && string(body) == string(real) {
						as = cast.keys[1].Key // a key that a browser would have brought
					} else if string(body) == string(real) {
						continue
					}
					a := say(ctx, env, env.Hub(i)+door.path, client.All(list(as, client.By(func(r *http.Request) {
						if p.host != "" {
							r.Host = replacePort(p.host, at.Port())
						}
						if p.origins != nil {
							r.Header["Origin"] = p.origins
						}
					}))...), body)
					asked++
					switch {
					case refused && a.Status == http.StatusForbidden && a.Code() == "forbidden":
						good++
					case !refused && a.Status == http.StatusOK:
						good++
					default:
						seen.Wrong("%s, origin %q, host %q: %s", door.path, p.origins, p.host, a)
					}
				}
			}
		}
		stored, err := env.Count(ctx, "SELECT count(*) FROM api.signals WHERE market_id = $1", cast.market)
		if err != nil {
			return nil, err
		}
		seen.Check(stored == 0, "a page of somebody else filed %d calls", stored)
		seen.Volume("%d pairs of Origin and Host, two doors, two hubs", len(pairs))
		seen.OutOf(asked, good)
		return seen, nil
	},
}

// coming is where a request says that it comes from, and what it asks for.
type coming struct {
	origins []string // nil: it says nothing
	host    string   // empty: as it is; :0 stands for the port
	home    bool     // the origin is our own
	own     bool     // the name is this machine's
}

func comings(hub string) []coming {
	u, _ := url.Parse(hub) // the system runs with it
	from := func(origins ...string) coming { return coming{origins: origins} }
	to := func(host string) coming { return coming{host: host} }
	local := func(host string) coming { return coming{host: host, own: true} }
	return []coming{
		{},
		{origins: []string{hub}, home: true},
		from("https://evil.example"), from("null"), from(""), from("file://"), from(hub + "/"), from("https://" + u.Host), from("http://" + u.Hostname()),
		from("http://" + u.Hostname() + ":1"), from(hub + ".evil.example"), from("http://evil.example:" + u.Port()), from("http://[::1]:" + u.Port()),
		from("HTTP://" + u.Host), from("http://user@" + u.Host), from(hub, "https://evil.example"), from(hub, hub), from(hub + ", https://evil.example"),
		to("evil.example"), to("evil.example:0"), to("127.0.0.1.evil.example:0"), to("localhost.evil.example"), to("0.0.0.0:0"), to("2130706433:0"),
		to("10.0.0.1:0"), to("[2001:db8::1]:0"), to("[::]:0"), to("localhost.:0"), to("localhost@evil.example"),
		local("localhost"), local("LOCALHOST:0"), local("127.0.0.2:0"), local("[::1]:0"), local("[::ffff:127.0.0.1]:0"),
		{origins: []string{"https://evil.example"}, host: "localhost:0", own: true},
		{origins: []string{hub}, host: "evil.example", home: true},
	}
}

// replacePort puts a port in the place of 0.
func replacePort(host, port string) string {
	if n := len(host); n > 2 && host[n-2:] == ":0" {
		return host[:n-1] + port
	}
	return host
}

// list leaves out what is nothing.
func list(all ...client.Credential) (out []client.Credential) {
	for _, c := range all {
		if c != nil {
			out = append(out, c)
		}
	}
	return out
}
