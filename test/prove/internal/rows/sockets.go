package rows

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/signalcast/signalcast/test/prove/internal/frame"
	"github.com/signalcast/signalcast/test/prove/stack"
	"github.com/signalcast/signalcast/test/system/wsclient"
)

// perAddress is how many sockets one address may have open.
const perAddress = 20

// feedHost is an api of a row's own behind the same feed, so that what it holds is the
// row's doing.
type feedHost struct {
	*stack.Side
	dial    wsclient.Dialer
	metrics string
	homes   homes
}

func startFeedHost(ctx context.Context, env *frame.Env, changed map[string]string) (*feedHost, error) {
	metrics, err := stack.FreeAddr()
	if err != nil {
		return nil, err
	}
	settings := map[string]string{"METRICS_ADDR": metrics}
	maps.Copy(settings, changed)
	side, err := env.Stack.Side(ctx, "api", settings)
	if err != nil {
		return nil, err
	}
	h := &feedHost{Side: side, metrics: metrics, homes: newHomes(), dial: wsclient.Dialer{Addr: strings.TrimPrefix(side.URL, "http://")}}
	there, err := frame.Until(ctx, recoverWithin, func() (bool, error) { // it follows the feed a moment after it is ready
		c, err := h.open(ctx, 0)
		if err != nil {
			return false, nil
		}
		c.Close()
		return true, nil
	})
	if err == nil && !there {
		err = errors.New("the feed of a new api does not begin")
	}
	if err != nil {
		side.Stop()
	}
	return h, err
}

// tidy makes a process collect its garbage often, so that what it holds is what it needs
// and a little more.
var tidy = map[string]string{"GOGC": "10"}

// open opens the i-th socket, each twentieth from another address.
func (h *feedHost) open(ctx context.Context, i int, lines ...string) (*wsclient.Conn, error) {
	return h.dial.Open(ctx, h.homes.of(i), lines...)
}

// gauges reads what the process says about itself to its operators.
func (h *feedHost) gauges(ctx context.Context) (gauges, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+h.metrics+"/metrics", nil)
	if err != nil {
		return nil, err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, err
	}
	defer func() { _ = resp.Body.Close() }()
	raw, err := io.ReadAll(resp.Body)
	if err != nil {
		return nil, err
	}
	g := gauges{}
	for line := range strings.Lines(string(raw)) {
		name, value, ok := strings.Cut(strings.TrimSpace(line), " ")
		if n, err := strconv.ParseFloat(value, 64); ok && err == nil {
			g[name] = n
		}
	}
	return g, nil
}

// gauges are values by name and labels, as the process writes them.
type gauges map[string]float64

func (g gauges) sockets() int    { return int(g["sc_sockets"]) }
func (g gauges) goroutines() int { return int(g["go_goroutines"]) }
func (g gauges) files() int      { return int(g["process_open_fds"]) }
func (g gauges) closedWith(c int) int {
	return int(g[fmt.Sprintf(`sc_socket_closed_total{code="%d"}`, c)])
}
func (g gauges) resident() int          { return int(g["process_resident_memory_bytes"]) }
func (h *feedHost) rss() (int64, error) { return stack.RSS(h.PID()) }

// season does what ordinary clients do, some times and until the process has tidied up
// its memory meanwhile: a young process grows by itself, and a collection that is due is
// no growth. So many sockets stay open between the times. It gives what the process says
// in the end, with the most memory that it held after any of the times.
func (h *feedHost) season(ctx context.Context, times, but int, do func() error) (gauges, error) {
	const collections, memory = "go_gc_duration_seconds_count", "process_resident_memory_bytes"
	before, err := h.gauges(ctx)
	if err != nil {
		return nil, err
	}
	most := 0.
	for i := 1; ; i++ {
		if err := do(); err != nil {
			return nil, err
		}
		if empty, err := h.emptied(ctx, but); err != nil || !empty {
			return nil, fmt.Errorf("ordinary clients are not forgotten: %w", err)
		}
		now, err := h.gauges(ctx)
		if err != nil {
			return nil, err
		}
		most = max(most, now[memory])
		// One that needs little memory may never tidy up; what it grows by counts in full.
		if i >= times && now[collections]-before[collections] >= 3 || i >= times+10 {
			if now, err = h.rested(ctx); err != nil {
				return nil, err
			}
			now[memory] = most
			return now, nil
		}
	}
}

// rested waits until the numbers of open files and goroutines no longer fall, at most 5 s, and returns
// the gauges. A connection that was cut before its websocket handshake is not counted in sc_sockets, but
// it holds a file and a goroutine until the server has closed it.
func (h *feedHost) rested(ctx context.Context) (now gauges, err error) {
	_, err = frame.Until(ctx, 5*time.Second, func() (bool, error) {
		if err := wait(ctx, time.Now().Add(200*time.Millisecond)); err != nil {
			return false, err
		}
		last := now
		now, err = h.gauges(ctx)
		return last != nil && now.files() >= last.files() && now.goroutines() >= last.goroutines(), err
	})
	return now, err
}

// over ends the process, at once where a planted fault may hold it.
func (h *feedHost) over(env *frame.Env) {
	if env.Size == frame.Small {
		h.Kill()
		return
	}
	h.Stop()
}

// emptied waits until no socket is open but so many.
func (h *feedHost) emptied(ctx context.Context, but int) (bool, error) {
	return frame.Until(ctx, 20*time.Second, func() (bool, error) {
		g, err := h.gauges(ctx)
		return err == nil && g.sockets() <= but, err
	})
}

// homes are addresses of this machine that nobody else is likely to use.
type homes struct{ second, third byte }

func newHomes() homes { return homes{byte(16 + rand.IntN(200)), byte(200 + rand.IntN(40))} }

// of is the address of the i-th socket.
func (h homes) of(i int) net.IP { return h.at(i / perAddress) }

// at is the i-th address, of some three thousand.
func (h homes) at(i int) net.IP {
	return net.IPv4(127, h.second, h.third+byte(i/250), byte(1+i%250))
}

// room is how many connections fit into the open files that each of two processes may
// have, beside those it needs for itself.
func room(pid int) (int, error) {
	const itself = 1000
	var ours syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &ours); err != nil {
		return 0, err
	}
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/limits", pid))
	if err != nil {
		return 0, err
	}
	for line := range bytes.Lines(raw) {
		if rest, ok := bytes.CutPrefix(line, []byte("Max open files")); ok {
			theirs, err := strconv.ParseUint(string(bytes.Fields(rest)[0]), 10, 64)
			return int(min(ours.Cur, theirs)) - itself, err // both have raised theirs to what they may have
		}
	}
	return 0, fmt.Errorf("process %d shows no limits", pid)
}

// opened opens n sockets from width hands at once. None is left open when it fails.
func (h *feedHost) opened(ctx context.Context, n, width int) ([]*wsclient.Conn, error) {
	conns, errs := make([]*wsclient.Conn, n), make([]error, n)
	frame.Each(n, width, func(i int) { conns[i], errs[i] = h.open(ctx, i) })
	if err := errors.Join(errs...); err != nil {
		leave(conns)
		first, _, _ := strings.Cut(err.Error(), "\n")
		return nil, errors.New("open sockets: " + first)
	}
	return conns, nil
}

// leave ends what is open.
func leave(conns []*wsclient.Conn) {
	for _, c := range conns {
		if c != nil {
			c.Close()
		}
	}
}
