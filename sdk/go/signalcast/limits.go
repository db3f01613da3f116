package signalcast

import (
	"cmp"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"sync"
	"time"
)

// Limit is the state of a rate limit after a response. Public reads without a credential count by IP address, other requests by
// credential.
type Limit struct {
	Service   string        // service that counts: Hub, API or Clock
	Name      string        // name of the limit in the headers, for example hub
	Limit     int           // requests allowed in any Window
	Window    time.Duration // for example one minute
	Remaining int           // requests that are still allowed now
	Reset     time.Duration // time after At until the oldest counted request no longer counts
	At        time.Time     // time of the response, by the clock of the service
}

// limits contains the last state of each limit of a Client.
type limits struct {
	mu   sync.Mutex
	last map[[2]string]Limit
}

// Limits returns the last known state of each rate limit, sorted by service and name. It is empty before the first response with
// the headers RateLimit and RateLimit-Policy.
func (c *Client) Limits() []Limit {
	c.limits.mu.Lock()
	defer c.limits.mu.Unlock()
	var all []Limit
	for _, l := range c.limits.last {
		all = append(all, l)
	}
	slices.SortFunc(all, func(a, b Limit) int { return cmp.Or(cmp.Compare(a.Service, b.Service), cmp.Compare(a.Name, b.Name)) })
	return all
}

// observeLimits stores the limits that the headers of a response describe, and reports them.
func (c *Client) observeLimits(service string, h http.Header) {
	for _, l := range limitsOf(service, h) {
		c.limits.mu.Lock()
		if c.limits.last == nil {
			c.limits.last = make(map[[2]string]Limit)
		}
		c.limits.last[[2]string{l.Service, l.Name}] = l
		c.limits.mu.Unlock()
		if c.options.OnLimit != nil {
			c.options.OnLimit(l)
		}
	}
}

var (
	limitItem      = regexp.MustCompile(`"([^"]{1,100})"((?:;[a-z]{1,8}=\d{1,9})*)`)
	limitParameter = regexp.MustCompile(`;([a-z]+)=(\d+)`)
)

// limitItems parses a header such as `"hub";r=42;t=9` to its parameters by name.
func limitItems(header string) map[string]map[string]int {
	items := make(map[string]map[string]int)
	for _, item := range limitItem.FindAllStringSubmatch(header, 8) {
		items[item[1]] = make(map[string]int)
		for _, p := range limitParameter.FindAllStringSubmatch(item[2], 8) {
			items[item[1]][p[1]], _ = strconv.Atoi(p[2]) // at most nine digits
		}
	}
	return items
}

// limitsOf returns the limits that the headers of a response describe. It ignores items that it cannot read.
func limitsOf(service string, h http.Header) []Limit {
	var all []Limit
	at, _ := http.ParseTime(h.Get("Date")) // zero without the header
	policies := limitItems(h.Get("RateLimit-Policy"))
	for name, state := range limitItems(h.Get("RateLimit")) {
		policy := policies[name]
		_, known := state["r"]
		if !known || policy["q"] == 0 || policy["w"] == 0 {
			continue
		}
		all = append(all, Limit{
			Service: service, Name: name, Limit: policy["q"], Window: time.Duration(policy["w"]) * time.Second,
			Remaining: state["r"], Reset: time.Duration(state["t"]) * time.Second, At: at,
		})
	}
	return all
}
