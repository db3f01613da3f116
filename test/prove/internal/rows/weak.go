package rows

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"

	"github.com/signalcast/signalcast/test/prove/internal/frame"
	"github.com/signalcast/signalcast/test/prove/stack"
)

// dependencies are what a service needs and may lose.
var dependencies = []string{"redis", "postgres", "api", "clock", "venue", "identity keys"}

// weak is a second set of the three services on the same database, each of whose
// connections passes a proxy that can break.
type weak struct {
	hosts   map[string]string // public addresses by service
	proxies map[string]*stack.Proxy
	sides   []*stack.Side
}

// weaken starts a weak system.
func weaken(ctx context.Context, env *frame.Env) (*weak, error) {
	w := &weak{hosts: map[string]string{}, proxies: map[string]*stack.Proxy{}}
	if err := w.start(ctx, env); err != nil {
		w.stop()
		return nil, err
	}
	return w, nil
}

func (w *weak) start(ctx context.Context, env *frame.Env) error {
	upstreams := map[string]string{}
	for name, address := range map[string]string{
		"redis": env.Stack.RedisURL, "postgres": env.Stack.DatabaseURL, "venue": env.Stack.Venues, "identity keys": env.Stack.IDP,
	} {
		u, err := url.Parse(address)
		if err != nil || u.Host == "" {
			return fmt.Errorf("the address of %s has no host: %w", name, err)
		}
		upstreams[name] = u.Host
		if w.proxies[name], err = stack.NewProxy(u.Host); err != nil {
			return err
		}
	}
	inner := map[string]string{}
	for _, service := range []string{"api", "clock", "hub"} {
		settings, err := stack.Environment(env.Stack.PID(service))
		if err != nil {
			return err
		}
		inner[service] = settings["GRPC_ADDR"]
		side, err := env.Stack.Side(ctx, service, w.through(settings, upstreams, inner))
		if err != nil {
			return err
		}
		w.sides = append(w.sides, side)
		w.hosts[service] = side.URL
		if side.GRPC == "" {
			continue
		}
		// From here on the others reach this one instead of its like.
		if w.proxies[service], err = stack.NewProxy(side.GRPC); err != nil {
			return err
		}
	}
	return nil
}

// through are the settings that name a peer, changed to name its proxy.
func (w *weak) through(settings, upstreams, inner map[string]string) map[string]string {
	changed := map[string]string{}
	for name, value := range settings {
		was := value
		for peer, host := range upstreams {
			before := "" // the issuer is a name, and no address to connect to
			if peer == "identity keys" {
				before = `"jwksURL":"http://`
			}
			value = readdress(value, before+host, before+w.proxies[peer].Addr)
		}
		for peer, host := range inner {
			if p := w.proxies[peer]; p != nil && host != "" && value == host {
				value = p.Addr
			}
		}
		if value != was {
			changed[name] = value
		}
	}
	return changed
}

// readdress puts another address in the place of one: its port ends where the
// digits end.
func readdress(s, from, to string) string {
	var out strings.Builder
	for {
		before, after, found := strings.Cut(s, from)
		out.WriteString(before)
		switch {
		case !found:
			return out.String()
		case after != "" && after[0] >= '0' && after[0] <= '9':
			out.WriteString(from)
		default:
			out.WriteString(to)
		}
		s = after
	}
}

func (w *weak) stop() {
	for i := len(w.sides) - 1; i >= 0; i-- {
		w.sides[i].Stop()
	}
	for _, p := range w.proxies {
		p.Close()
	}
}

// lose breaks the connections to a dependency; mend ends it.
func (w *weak) lose(dependency string, how stack.Fault) (mend func(context.Context) error, err error) {
	p := w.proxies[dependency]
	if p == nil {
		return nil, errors.New("nothing of the weak system connects to " + dependency)
	}
	return p.Mend, p.Break(how)
}
