package rows

import (
	"net/http"
	"strings"

	"github.com/signalcast/signalcast/test/prove/client"
	"github.com/signalcast/signalcast/test/system/openapi"
)

// read is one request to a route of the description.
type read struct {
	op   *openapi.Operation
	path string // filled, with its query
	as   client.Credential
}

func (r read) key() string { return r.op.Host + r.path }

func (r read) query() string {
	if _, q, ok := strings.Cut(r.path, "?"); ok {
		return "?" + q
	}
	return ""
}

func (r read) request(hosts map[string]string) client.Request {
	return client.Request{Method: http.MethodGet, URL: hosts[r.op.Host] + r.path, As: r.as}
}
